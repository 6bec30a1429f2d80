/* Describes the run on screen for other views, if it is the visitor's own. */
import { isHypothetical } from "../../shared/web/run_words.js";

/**
 * @import { FinishedRun } from "../../shared/web/between_tabs.js"
 * @import { RunStore } from "../../run/web/run_store.js"
 */

/**
 * The run on screen, if it was made here and has steps; else null. Call this only when the run has
 * ended or paused. The label and `end` show where a run was made: a run from a file is never
 * labelled measured, and a simulated one from a file has no reason.
 * @param {RunStore} store
 * @returns {FinishedRun | null}
 */
export function ownRun(store) {
  const { label, device, speedup = null } = store.meta;
  const isOwn = label === "measured" || (label === "simulated" && store.reason !== null);
  if (store.last < 0 || !isOwn) return null;
  const shown = isHypothetical(store.meta) ? "hypothetical" : label;
  const { tokensPerStep } = store.totals(store.last);
  return { label: shown, device, tokensPerStep, speedup, meta: store.meta };
}
