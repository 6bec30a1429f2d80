/* Describes the run on screen for other views, if it is the visitor's own. */
import { isHypothetical } from "../../shared/web/run_words.js";

/**
 * @import { FinishedRun } from "../../shared/web/between_tabs.js"
 * @import { RunStore } from "./run_store.js"
 */

/**
 * The run on screen, if it was made here, and its verdict, if it has several lanes, is known. Call
 * this only when the run has ended or paused. The label and `reason` show where a run was made: a
 * run from a file is never labelled measured, and a simulated one from a file has no reason.
 * @param {RunStore} store
 * @returns {FinishedRun | null}
 */
export function finishedHere({ meta, lanes, verdict, first, reason }) {
  const { label, device } = meta;
  const isOwn = label === "measured" || (label === "simulated" && reason !== null);
  const lane = lanes[first];
  if (!isOwn || !lane?.sum.steps || (lanes.length > 1 && !verdict)) return null;
  const { tokens, steps } = lane.sum;
  const speedup = verdict?.speedups[first] ?? null;
  return {
    label: isHypothetical(meta) ? "hypothetical" : label,
    device,
    lane: lane.about.name,
    tokensPerStep: tokens / steps,
    speedup: speedup && lanes[speedup.over].about.plain ? speedup : null,
    request: lane.about.request,
    meta,
  };
}
