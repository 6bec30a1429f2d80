/* What the verdict of a run is compared with, the time of a step, and where the numbers come from,
   in words. */
import { isExpected } from "./lane_basis.js";
import { onlySpeedup } from "./headline.js";
import { otherModelsWords } from "../../shared/web/between_tabs.js";
import { ms, percent, readable } from "../../shared/web/format.js";
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
  stopped: "Stopped before its end.",
  broken: "Stopped by an error.",
  finished: "",
};

/**
 * What follows the large number.
 * @param {RunStore} store
 * @returns {string}
 */
export function claim(store) {
  const { verdict, lanes } = store;
  const speedup = onlySpeedup(store);
  if (!speedup) return verdict ? "" : waiting(store);
  const before = speedup.code === "no_clear_difference" ? "from" : "than";
  const runs = verdict.races > 1 ? ` over ${verdict.races} runs` : "";
  return `${before} the large model alone${runs}${sameText(store, lanes[speedup.over])}`;
}

/** @type {(store: RunStore) => string} */
function waiting({ lanes, state, end, reason }) {
  if (state === "running" && !end) return "Processing the prompt.";
  if (lanes.length > 1) return reason === "paused" ? "Paused." : STATES[state];
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
 * The tokens and the time of a step, and the time of a token of plain decoding.
 * @param {RunStore} store
 * @returns {string} "" before the end of the run
 */
export function price(store) {
  const { lanes, first, verdict, meta } = store;
  const lane = lanes[first];
  if (!store.done || !lane?.sum.steps || lane.about.plain) return "";
  const { tokens, steps, seconds } = lane.sum;
  const whose = lanes.filter(({ about }) => !about.plain).length > 1 ? ` of ${lane.title}` : "";
  const step = verdict?.races > 1 ? `In the first run, a step${whose}` : `A step${whose}`;
  const mean = `${step} averages ${(tokens / steps).toFixed(1)} tokens in ${ms(seconds / steps)}`;
  const counted = "These tokens are counted; the speed-up is for the expected number.";
  return [
    `${mean}: ${ms(seconds / tokens)} per token.`,
    plainPrice(store.plainOf(lane), meta),
    verdict?.races === 1 && isExpected(verdict, first) ? counted : "",
  ]
    .filter(Boolean)
    .join(" ");
}

// A token of plain decoding reads all weights, so the memory bounds its speed. Nothing is said of
// weights that stay in the processor's cache.
/** @type {(plain: LaneRun | null, meta: Meta) => string} */
function plainPrice(plain, { floor_seconds: floor }) {
  if (!plain?.sum.steps) return "";
  const each = plain.seconds / plain.sum.tokens;
  const words = `The large model alone: ${ms(each)} per token`;
  if (!floor || floor >= each) return `${words}.`;
  return `${words}, of which reading all its weights takes ${ms(floor)} (${percent(floor / each)}).`;
}

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

const capital = (words) => words[0].toUpperCase() + words.slice(1);
