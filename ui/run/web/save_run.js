/* Saves the run on screen as one HTML file. */
import { readable } from "../../shared/web/format.js";
import { recordedLabel, recordedMeta } from "../../shared/web/recorded.js";
import { isHypothetical } from "../../shared/web/run_words.js";
import { savePage } from "../../shared/web/save_page.js";

/**
 * @import { Result } from "../../shared/web/schema.js"
 * @import { RunStore } from "./run_store.js"
 */

/**
 * Save the run that the page shows. If that fails, the view shows why.
 * @returns {Promise<void>}
 */
export async function saveShown() {
  /** @type {any} */
  const stage = document.querySelector("#pg-view .sq-stage");
  const { store } = stage.view;
  try {
    const problem = whyNot(store);
    if (problem) throw new Error(problem);
    const data = runData(store);
    const { meta } = data;
    await savePage({ view: "run", name: pageName(meta.date), title: titleOf(meta), data });
  } catch (failure) {
    store.set({ error: `Not saved: ${failure.message}` });
  }
}

/** @type {(store: any) => string} why the run cannot be saved; "" if it can */
function whyNot({ arrived, done }) {
  if (!arrived.length) return "there is no run on screen; start one or open a file first";
  return done ? "" : "the run is not over yet; save it when it has ended, or stop it first";
}

/**
 * @param {Record<string, any>} meta
 * @returns {string}
 */
export function titleOf(meta) {
  const models = [meta.target, meta.draft].filter(Boolean).map(readable).join(" + ");
  const label = isHypothetical(meta) ? "hypothetical" : meta.label;
  return [`Sequoia: a ${label} run`, models].filter(Boolean).join(", ");
}

/**
 * The file name of a saved page, such as sequoia-run-2026-11-22-1250.html.
 * @param {any} date such as "2026-11-22 12:50"; left out if it has another form
 * @returns {string}
 */
export function pageName(date) {
  const found = /^(\d{4}-\d\d-\d\d) (\d\d):(\d\d)$/.exec(String(date ?? ""));
  const suffix = found ? `-${found[1]}-${found[2]}${found[3]}` : "";
  return `sequoia-run${suffix}.html`;
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
