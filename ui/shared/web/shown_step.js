/* Shares the step on screen in Decode with other views. */

/** @import { StepView } from "./step_view.js" */

/**
 * @typedef {object} ShownStep
 * @property {StepView} step
 * @property {string} label the source of its times: "measured", "recorded" or "simulated"; "" if
 *   unknown
 */

/** @type {{read: () => ShownStep | null}} */
const source = { read: () => null };

/** @param {() => ShownStep | null} read returns the step on screen; null if there is none */
export function offerStep(read) {
  source.read = read;
}

/** @returns {ShownStep | null} the step on screen in Decode; null if there is none */
export const shownStep = () => source.read();
