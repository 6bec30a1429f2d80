/* Who won a race, in at most seven words for each prompt. */
import { ratioWords } from "../../shared/web/verdict_words.js";
import { readable } from "../../shared/web/format.js";

/** @typedef {import("./race_store.js").RaceStore} RaceStore */
/** @typedef {import("./race_store.js").Headline} Headline */

const MOST_WORDS = 7;

/**
 * @param {RaceStore} store
 * @returns {string[]} one for each prompt; in a race of two prompts each begins with its prompt
 */
export const headlinesInWords = (store) =>
  (store.verdict?.headlines ?? []).map((headline) =>
    [headline.prompt_name, headlineInWords(headline, store)].filter(Boolean).join(": "),
  );

/**
 * @param {Headline} headline
 * @param {RaceStore} store
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
  const { name, plain } = lanes[lane];
  if (plain) return "plain decoding";
  const [shape, ...rest] = String(name).split(", ");
  const isShared = lanes.some((one, i) => i !== lane && String(one.name).split(", ")[0] === shape);
  const words = isShared && rest.length ? `${shape} (${rest.join(", ")})` : shape;
  return /chain$/i.test(shape) ? "the " + words.toLowerCase() : words;
}
