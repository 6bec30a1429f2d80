/* The visitor's latest run that ended or paused on this page. All views can read it. */

/** @import { Speedup } from "./verdict_words.js" */

/**
 * @typedef {object} FinishedRun
 * @property {string} label "measured", "simulated" or "hypothetical"; for the tour's
 *   recorded run, "recorded"
 * @property {string} device
 * @property {number} tokensPerStep
 * @property {Speedup | null} speedup null if plain decoding was not timed
 */

const FINISHED = "sq-run-finished";
/** @type {{run: FinishedRun | null}} */
const last = { run: null };

/** @param {FinishedRun} run that has just ended or paused */
export function publishRun(run) {
  last.run = run;
  document.dispatchEvent(new Event(FINISHED));
}

/** @returns {FinishedRun | null} the latest run; null before the first one */
export const finishedRun = () => last.run;

/** @param {() => void} then is called each time a run ends or pauses */
export function onFinishedRun(then) {
  document.addEventListener(FINISHED, then);
}
