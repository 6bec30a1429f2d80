/* Saves the run on screen as one HTML file. */
import { runFacts } from "./run_header.js";
import { readable } from "../../shared/web/format.js";
import { factLines } from "../../shared/web/run_facts.js";
import { pageName, recordedMeta, savePage } from "../../shared/web/save_page.js";

/** @import { RunStore } from "./run_store.js" */

const WIDE = 160; // characters of a line of facts

/**
 * Save the run that the Decode tab shows; a problem becomes a message of the view.
 * @returns {Promise<void>}
 */
export async function saveShown() {
  /** @type {any} */
  const stage = document.querySelector("#pg-view .sq-stage");
  await saveRun(stage.view.store);
}

/**
 * Save a run; a problem becomes its `error`.
 * @param {RunStore} store
 * @returns {Promise<void>}
 */
export async function saveRun(store) {
  const problem = whyNot(store);
  if (problem) return store.set({ error: `Not saved: ${problem}` });
  const data = runData(store);
  const { meta } = data;
  try {
    await savePage({
      view: "decode",
      name: pageName("run", meta.date),
      title: runTitle(meta),
      facts: factLines({}, runFacts(meta), WIDE),
      data,
    });
  } catch (failure) {
    store.set({ error: `Not saved: ${failure.message}` });
  }
}

/** @type {(store: RunStore) => string} */
function whyNot({ steps, done }) {
  if (!steps.length) return "there is no run on screen; run one or open a file first";
  if (steps.includes(null)) return "some of its steps did not arrive; run it again";
  return done ? "" : "the run is not over yet; save it when it has ended, or stop it first";
}

/**
 * The run as one message, as the server sends a recorded one.
 * @param {RunStore} store
 * @returns {any}
 */
export const runData = ({ meta, trees, pieces, steps, end, tail }) => ({
  v: 1,
  meta: recordedMeta(meta),
  trees: trees.map(({ parents }) => parents),
  pieces: Object.fromEntries(pieces),
  steps,
  end,
  tail,
});

/**
 * @param {Record<string, any>} meta
 * @returns {string}
 */
export function runTitle({ label, target, draft }) {
  const models = [target, draft].filter(Boolean).map(readable).join(" + ");
  return ["Sequoia: a " + label + " run", models].filter(Boolean).join(", ");
}
