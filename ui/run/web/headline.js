/* The result of a run in a few words: its verdict, or what is known before there is one. */
import { capital, known, rate, readable } from "../../shared/web/format.js";
import { verdictColour } from "../../shared/web/run_words.js";
import { speedupInWords, speedupWords, times } from "../../shared/web/verdict_words.js";

/**
 * @import { Headline } from "../../shared/web/schema.js"
 * @import { LaneSpeedup } from "../../shared/web/schema.js"
 * @import { PresenterHead } from "./presenter.js"
 * @import { RunStore } from "./run_store.js"
 */

const MOST_WORDS = 7;

/**
 * The speed-up of the only lane with a draft over the only plain lane.
 * @param {RunStore} store
 * @returns {LaneSpeedup | null} null if there are other lanes, or no speed-up yet
 */
export function onlySpeedup({ lanes, verdict, first }) {
  const speedup = lanes.length === 2 ? verdict?.speedups[first] : null;
  return speedup && lanes[speedup.over].about.plain ? speedup : null;
}

/**
 * @typedef {{prompt: string, words: string, code: string | null}} Result `prompt`: its name in a
 *   run of two prompts, else ""; `code`: of the colour
 */

/**
 * @param {RunStore} store
 * @returns {Result[]} one for each prompt
 */
export function results(store) {
  const speedup = onlySpeedup(store);
  if (speedup) {
    const isUnclear = speedup.code === "no_clear_difference";
    const words = isUnclear ? speedupWords(speedup).word : speedupInWords(speedup);
    return [{ prompt: "", words, code: verdictColour(store.meta, speedup.code) }];
  }
  const { headlines } = store.verdict ?? {};
  if (!headlines) return [{ prompt: "", words: tokensPerStep(store), code: null }];
  return headlines.map((headline) => ({
    prompt: readable(headline.prompt_name),
    words: headlineInWords(headline, store),
    code: codeOf(headline, store),
  }));
}

/**
 * @param {RunStore} store
 * @returns {string[]} one for each prompt; in a run of two prompts each begins with its prompt
 */
export const resultsInWords = (store) =>
  results(store).map(({ prompt, words }) => [prompt, words].filter(Boolean).join(": "));

/**
 * The colour of all results together.
 * @param {RunStore} store
 * @returns {string | null}
 */
export function codeOfAll(store) {
  const codes = new Set(results(store).map(({ code }) => code));
  return codes.size === 1 ? [...codes][0] : "no_clear_difference";
}

/**
 * The line on top of presenter mode.
 * @param {RunStore} store
 * @returns {PresenterHead}
 */
export function presenterHead(store) {
  const { races = 1 } = store.verdict ?? {};
  const speedup = onlySpeedup(store);
  const basis = [speedup && speedupWords(speedup).interval, races > 1 && `over ${races} runs`];
  return {
    words: resultsInWords(store).join(". "),
    code: codeOfAll(store),
    basis: basis.filter(Boolean).join(", "),
  };
}

/** @type {(store: RunStore) => string} of the chosen lane, up to the step shown */
function tokensPerStep({ lane, written }) {
  const { tokens, steps } = lane.sums[written + 1];
  return known(tokens / steps) ? rate(tokens / steps) + " tokens per step" : "–";
}

/**
 * The colour of a headline: that of a success only if a draft wins.
 * @param {Headline} headline
 * @param {RunStore} store
 * @returns {string}
 */
function codeOf(headline, { lanes, verdict, meta }) {
  const { code, winner } = headline;
  if (overPlain(headline, { lanes, verdict })) return verdictColour(meta, "win");
  if (code !== "wins") return "no_clear_difference";
  return verdictColour(meta, lanes[winner].about.plain ? "slower" : "win");
}

/**
 * The lanes that share the first place on the prompt of a headline, fastest first.
 * @param {Headline} headline
 * @param {Pick<RunStore, "lanes" | "verdict">} store
 * @returns {number[]} their indexes; empty unless several do
 */
export function tied({ code, prompt_name: prompt }, { lanes, verdict }) {
  const isTied = (i) =>
    (lanes[i].about.prompt_name ?? "") === prompt && verdict.places[i]?.place === 1;
  return code === "too_close" ? verdict.order.filter(isTied) : [];
}

/**
 * The speed-up of the fastest of these lanes over plain decoding, if it is clear.
 * @type {(headline: Headline, store: Pick<RunStore, "lanes" | "verdict">) => LaneSpeedup | null}
 */
function overPlain(headline, { lanes, verdict }) {
  const speedup = verdict.speedups?.[tied(headline, { lanes, verdict })[0]];
  return speedup?.code === "win" && lanes[speedup.over].about.plain ? speedup : null;
}

/**
 * @param {Headline} headline
 * @param {Pick<RunStore, "lanes" | "verdict">} store
 * @returns {string} such as "Sequoia wins: 1.4× the best chain"
 */
export function headlineInWords(headline, { lanes, verdict }) {
  const { code, winner, rival, best } = headline;
  if (code === "too_short") return "Too short to compare";
  if (code === "too_close") {
    const speedup = overPlain(headline, { lanes, verdict });
    return speedup ? `${speedupInWords(speedup)} than plain decoding` : "Too close to call";
  }
  const pair = verdict.pairs.find(({ faster, slower }) => faster === winner && slower === rival);
  const wins = capital(shortName(winner, lanes)) + " wins";
  const whom = best ? `the best ${best}` : shortName(rival, lanes);
  const words = `${wins}: ${times(pair.ratio)} ${whom}`;
  return readable(words.split(" ").length > MOST_WORDS ? wins : words);
}

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
