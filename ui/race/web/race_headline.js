/* Who won a race, in at most seven words for each prompt. */
import { ratioWords } from "../../shared/web/verdict_words.js";
import { verdictColour } from "../../shared/web/run_words.js";
import { readable } from "../../shared/web/format.js";

/** @typedef {import("../../run/web/run_store.js").RunStore} RunStore */
/** @typedef {import("../../shared/web/schema.js").Headline} Headline */

const MOST_WORDS = 7;

/**
 * @param {RunStore} store
 * @returns {string[]} one for each prompt; in a race of two prompts each begins with its prompt
 */
export const headlinesInWords = (store) =>
  (store.verdict?.headlines ?? []).map((headline) =>
    [headline.prompt_name, headlineInWords(headline, store)].filter(Boolean).join(": "),
  );

/**
 * The colour of a headline: that of a success only if a draft wins.
 * @param {Headline} headline
 * @param {RunStore} store
 * @returns {string}
 */
export function codeOf({ code, winner }, { lanes, meta }) {
  if (code !== "wins") return "no_clear_difference";
  return verdictColour(meta, lanes[winner].about.plain ? "slower" : "win");
}

/**
 * The colour of all headlines together.
 * @param {RunStore} store with a verdict
 * @returns {string}
 */
export function codeOfAll(store) {
  const codes = new Set(store.verdict.headlines.map((headline) => codeOf(headline, store)));
  return codes.size === 1 ? [...codes][0] : "no_clear_difference";
}

/**
 * @param {Headline} headline
 * @param {RunStore} store
 * @returns {string} such as "Sequoia wins: 1.4× the best chain"
 */
export function headlineInWords({ code, winner, rival, best }, { lanes, verdict }) {
  if (code === "too_short") return "Too short to compare";
  if (code === "too_close") return "Too close to call";
  const pair = verdict.pairs.find(({ faster, slower }) => faster === winner && slower === rival);
  const wins = capital(shortName(winner, lanes)) + " wins";
  const whom = best ? `the best ${best}` : shortName(rival, lanes);
  const words = `${wins}: ${ratioWords(pair)} ${whom}`;
  return readable(words.split(" ").length > MOST_WORDS ? wins : words);
}

const capital = (words) => words[0].toUpperCase() + words.slice(1);

// A lane's name inside a sentence, without its verifier unless another lane has the same shape.
function shortName(lane, lanes) {
  const { name, plain } = lanes[lane].about;
  if (plain) return "plain decoding";
  const [shape, ...rest] = String(name).split(", ");
  const isShared = lanes.some(
    (one, i) => i !== lane && String(one.about.name).split(", ")[0] === shape,
  );
  const words = isShared && rest.length ? `${shape} (${rest.join(", ")})` : shape;
  return /chain$/i.test(shape) ? "the " + words.toLowerCase() : words;
}
