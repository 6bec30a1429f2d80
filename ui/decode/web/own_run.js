/* The run on screen as the visitor's own, for other views. */

/**
 * @import { FinishedRun } from "../../shared/web/finished_run.js"
 * @import { RunStore } from "./run_store.js"
 */

/**
 * The run on screen, if it was made here and has steps; else null. It must have ended or paused.
 * A run from a file is never labelled measured. If it is labelled simulated, it has no `end`.
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
