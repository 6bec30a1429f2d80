/* The run that was made last on this page, for views other than the one that made it. */

/**
 * @typedef {object} FinishedRun
 * @property {string} label "measured" or "simulated"
 * @property {string} device
 * @property {number} tokensPerStep
 * @property {number} stepSeconds mean of its steps
 * @property {number} plainSeconds of a pass of the large model alone; NaN where it was not timed
 */

const FINISHED = "sq-run-finished";
/** @type {{run: FinishedRun | null}} */
const last = { run: null };

/** @param {FinishedRun} run */
export function publishRun(run) {
  last.run = run;
  document.dispatchEvent(new Event(FINISHED));
}

/** @returns {FinishedRun | null} */
export const finishedRun = () => last.run;

/** @param {() => void} then called after each run */
export function onFinishedRun(then) {
  document.addEventListener(FINISHED, then);
}
