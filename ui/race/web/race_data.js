/* The contents of the saved page of a race. */
import { recordedLabel, recordedMeta } from "../../shared/web/recorded.js";

/**
 * @import { Result } from "../../shared/web/schema.js"
 * @import { RunStore } from "../../run/web/run_store.js"
 */

/**
 * The fields of one message with the whole race. `race`, `from` and `done` are added when the saved
 * page is opened. The further runs (`pool`) are included, but a saved page cannot make more.
 * @param {RunStore} store
 * @returns {any}
 */
export const raceData = ({ meta, lanes, results, verdict, pool, ...sent }) => ({
  meta: recordedMeta(meta),
  notes: sent.notes,
  lanes: lanes.map(({ about }) => ({ ...about, rates: recordedLabel(about.rates) })),
  trees: sent.trees.map(({ parents }) => parents),
  pieces: Object.fromEntries(sent.pieces),
  steps: sent.arrived,
  step_lanes: sent.stepLanes,
  stopped: sent.stopped,
  results: results.map(recordedResult),
  analysis: sent.analysis,
  ...(verdict ? { verdict } : {}),
  ...(pool ? { pool: { ...pool, more: 0, planned: null } } : {}),
});

/** @type {(result: Result | null) => Result | null} */
const recordedResult = (result) =>
  result?.lossless ? { ...result, lossless: { ...result.lossless, label: "recorded" } } : result;
