/* What the verdict of a run is compared with, the time of a step, and where the numbers come from,
   in words. */
import { isExpected } from "./lane_basis.js";
import { codeOfAll, onlySpeedup, tied } from "./headline.js";
import { otherModelsWords } from "../../shared/web/between_tabs.js";
import { capital, ms, readable } from "../../shared/web/format.js";
import * as runWords from "../../shared/web/run_words.js";

/**
 * @import { LaneRun } from "./lane_run.js"
 * @import { Meta } from "../../shared/web/run_facts.js"
 * @import { RunStore } from "./run_store.js"
 */

/** @type {Record<string, string>} by the state of the store, while there is no verdict */
const STATES = {
  none: "",
  running: "The verdict follows when all lanes have ended.",
  stopped: "Not finished.",
  broken: "Stopped by an error.",
  finished: "",
};

const UNCLEAR =
  "For a clear answer, make more runs or a longer text. The film shows another machine.";

/**
 * What follows the large number.
 * @param {RunStore} store
 * @returns {string}
 */
export function claim(store) {
  const { verdict, lanes } = store;
  const speedup = onlySpeedup(store);
  if (!speedup) return verdict ? ties(store) : waiting(store);
  const before = speedup.code === "no_clear_difference" ? "from" : "than";
  const runs = verdict.races > 1 ? ` over ${verdict.races} runs` : "";
  return `${before} the large model alone${runs}${sameText(store, lanes[speedup.over])}`;
}

// Which lanes share the first place, on each prompt.
/** @type {(store: RunStore) => string} */
const ties = (store) =>
  store.verdict.headlines
    .map((headline) => tied(headline, store).map((i) => store.lanes[i].title))
    .filter((names) => names.length)
    .map((names) => `${names.join(" and ")}: too close to call.`)
    .join(" ");

/** @type {(store: RunStore) => string} */
function waiting({ lanes, state, end }) {
  if (state === "running" && !end) return "Processing the prompt.";
  if (lanes.length > 1) return STATES[state];
  return lanes[0]?.about.plain
    ? "The large model alone: one token per pass."
    : "Without a plain lane beside it, there is no speed-up.";
}

// At temperature 0, the texts of the two lanes are compared. Above it, they differ by chance.
/** @type {(store: RunStore, plain: LaneRun) => string} */
function sameText({ lanes, first, meta, results }, plain) {
  const isBug = results?.[first]?.lossless?.kind === "bug";
  if (meta.params?.temperature !== 0) return isBug ? "" : ", and the same output distribution";
  const [own, alone] = [lanes[first], plain].map(({ steps }) =>
    steps.flatMap((one) => one.emitted),
  );
  const both = Math.min(own.length, alone.length);
  const at = own.slice(0, both).findIndex((id, i) => id !== alone[i]);
  if (at >= 0) return `; the texts differ from token ${at + 1} on`;
  return own.length === alone.length ? ", and the same text" : ", and the same text so far";
}

/**
 * The tokens of a step, the time of a token, also of plain decoding, and the price: of the tokens
 * that the large model computes, how many are thrown away.
 * @param {RunStore} store
 * @returns {string} "" before the end of the run
 */
export function price(store) {
  const { lanes, first, verdict, meta } = store;
  const lane = lanes[first];
  if (!store.done || !lane?.sum.steps || lane.about.plain) return "";
  const { tokens, steps, seconds, nodes } = lane.sum;
  // on a simulated clock the verdict is about expected tokens, not these
  const alone = runWords.isSimulated(meta) ? 0 : perToken(store.plainOf(lane));
  const whose = [
    verdict?.races > 1 ? "First run" : "",
    lanes.filter(({ about }) => !about.plain).length > 1 ? lane.title : "",
  ].filter(Boolean);
  return [
    whose.length ? whose.join(", ") + ": " : "",
    `${(tokens / steps).toFixed(1)} tokens per step; ${ms(seconds / tokens)} per token`,
    alone ? `, ${ms(alone)} alone.` : ".",
    ` Price: ${nodes - tokens} of ${nodes} computed tokens are thrown away.`,
    alone && verdict?.races === 1 && isExpected(verdict, first)
      ? " These are counted; the ratio is for expected tokens."
      : "",
  ].join("");
}

/** @type {(lane: LaneRun | null) => number} seconds; 0 if the lane has made no step */
const perToken = (lane) => (lane?.sum.steps ? lane.seconds / lane.sum.tokens : 0);

/**
 * What helps if a run made here shows no clear difference.
 * @param {RunStore} store
 * @returns {string} may be empty
 */
export const advice = (store) =>
  store.verdict && store.meta.label === "measured" && codeOfAll(store) === "no_clear_difference"
    ? UNCLEAR
    : "";

/**
 * Where the numbers come from.
 * @param {Meta} meta
 * @returns {string}
 */
export function basis(meta) {
  const { label, device, about } = meta;
  const place = readable([device, dayOf(meta)].filter(Boolean).join(", "));
  const words = [otherModelsWords(meta), runWords.mixtureWords(meta)];
  if (runWords.isSimulated(meta)) words.push(place && `The models ran on ${place}.`);
  else
    words.push(
      readable(about),
      label && `${capital([label, place].filter(Boolean).join(" on "))}.`,
    );
  return words.filter(Boolean).join(" ");
}

// The day of a run, with non-breaking hyphens.
/** @type {(meta: Meta) => string} */
const dayOf = ({ date }) =>
  String(date || "")
    .slice(0, 10)
    .replaceAll("-", "\u2011");
