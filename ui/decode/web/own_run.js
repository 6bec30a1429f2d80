/* Describes the run on screen for other views, if it is the visitor's own. */

/**
 * @import { FinishedRun } from "../../shared/web/finished_run.js"
 * @import { RunStore } from "./run_store.js"
 */

/**
 * The run on screen, if it was made here and has steps; else null. Call this only when the run has
 * ended or paused. The label and `end` show where a run was made: a run from a file is never
 * labelled measured, and a simulated one from a file has no `end`.
 * @param {RunStore} store
 * @returns {FinishedRun | null}
 */
export function ownRun(store) {
  const { label, device, plain_seconds: plain } = store.meta;
  const isOwn = label === "measured" || (label === "simulated" && store.end !== null);
  if (store.last < 0 || !isOwn) return null;
  const { tokensPerStep, seconds, steps } = store.totals(store.last);
  const plainSeconds = plain ?? NaN;
  return { label, device, tokensPerStep, stepSeconds: seconds / steps, plainSeconds };
}
