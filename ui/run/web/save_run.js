/* Saves the run on screen as one HTML file. */
import { recordedLabel, recordedMeta } from "../../shared/web/recorded.js";
import { saveRecording } from "../../shared/web/save_page.js";

/**
 * @import { Result } from "../../shared/web/schema.js"
 * @import { RunStore } from "./run_store.js"
 */

/**
 * Save the run that the page shows. If that fails, the view shows why.
 * @returns {Promise<void>}
 */
export function saveShown() {
  /** @type {any} */
  const stage = document.querySelector("#pg-view .sq-stage");
  return saveRecording(stage.view.store, runData);
}

/**
 * The fields of one message with the whole run. `run`, `from` and `done` are added when the saved
 * page is opened. The further runs (`pool`) are included, but a saved page cannot make more.
 * @param {RunStore} store
 * @returns {any}
 */
export const runData = ({ meta, lanes, results, verdict, pool, ...sent }) => ({
  meta: recordedMeta(meta),
  notes: sent.notes,
  lanes: lanes.map(({ about }) => ({ ...about, rates: recordedLabel(about.rates) })),
  trees: sent.trees.map(({ parents }) => parents),
  pieces: Object.fromEntries(sent.pieces),
  steps: sent.arrived,
  step_lanes: sent.stepLanes,
  end: sent.reason,
  stopped: sent.stopped,
  results: results.map(recordedResult),
  analysis: sent.analysis,
  ...(verdict ? { verdict } : {}),
  ...(pool ? { pool: { ...pool, more: 0, planned: null } } : {}),
});

/** @type {(result: Result | null) => Result | null} */
const recordedResult = (result) =>
  result?.lossless ? { ...result, lossless: { ...result.lossless, label: "recorded" } } : result;
