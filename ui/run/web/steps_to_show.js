/* Chooses steps of a run that are worth showing: the last full tree, and the best step. */
import { chainEnd } from "../../shared/web/step_words.js";

/** @import { RunStore } from "./run_store.js" */

const TURN = 1.5; // tokens that a turn (see `hasTurn`) is worth

/**
 * The last step with a full tree: one that is at least as large as the most frequent size.
 * @param {RunStore} store
 * @returns {number} its index; -1 if there is none
 */
export function lastFullStep({ steps, trees }) {
  const sizes = steps.map((step) => trees[step.tree].n);
  const counts = new Map();
  for (const n of sizes) if (n) counts.set(n, (counts.get(n) || 0) + 1);
  const most = Math.max(...counts.values());
  const usual = Math.max(...[...counts.keys()].filter((n) => counts.get(n) === most), 1);
  return sizes.findLastIndex((n) => n >= usual);
}

/**
 * The step that emitted the most tokens, where a turn (see `hasTurn`) counts as TURN more tokens.
 * Of equal steps, the last.
 * @param {RunStore} store
 * @returns {number} its index; -1 if there are no steps
 */
export function bestStep(store) {
  const worth = store.steps.map(
    ({ emitted }, i) => emitted.length + (hasTurn(store, i) ? TURN : 0),
  );
  return worth.lastIndexOf(Math.max(...worth));
}

// Whether a step went on where a chain of first children would have ended: the first child was
// rejected, but a sibling was accepted.
function hasTurn(store, i) {
  const view = store.view(i);
  const at = chainEnd(view);
  return at >= 0 && view.trials.slice(at).some(({ accepted }) => accepted);
}
