/* Which steps of a run are worth a look by themselves. */
import { chainEnd } from "../../shared/web/step_captions.js";

/** @import { RunStore } from "./run_store.js" */

const TURN = 1.5; // tokens that an accepted second child counts for
const FEW = 5; // steps before the one on which the page opens

/**
 * The last step with a full-sized tree, of the size that most steps have or larger.
 * @param {RunStore} store
 * @returns {number} -1 where there is none
 */
export function lastFullStep({ steps, trees }) {
  const sizes = steps.map((step) => (step && trees[step.tree]?.n) || 0);
  const counts = new Map();
  for (const n of sizes) if (n) counts.set(n, (counts.get(n) || 0) + 1);
  const most = Math.max(...counts.values());
  const usual = Math.max(...[...counts.keys()].filter((n) => counts.get(n) === most), 1);
  return sizes.findLastIndex((n) => n >= usual);
}

/**
 * A step that gave many tokens, if possible with an accepted second child.
 * @param {RunStore} store
 * @returns {number}
 */
export function bestStep(store) {
  const worth = store.steps.map((step, i) =>
    step ? step.emitted.length + (hasTurn(store, i) ? TURN : 0) : 0,
  );
  return worth.lastIndexOf(Math.max(...worth));
}

/**
 * A step in which a second child was accepted, after a few others; else the best.
 * @param {RunStore} store
 * @returns {number}
 */
export function openingStep(store) {
  const found = store.steps.findIndex((step, i) => step && i >= FEW && hasTurn(store, i));
  return found < 0 ? bestStep(store) : found;
}

// Whether a step went on where a chain of first guesses would have ended.
function hasTurn(store, i) {
  const view = store.view(i);
  const at = view ? chainEnd(view) : -1;
  return at >= 0 && view.trials.slice(at).some(({ accepted }) => accepted);
}
