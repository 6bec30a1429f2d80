/* The step on screen in Decode, for views that show it in their own way. */

/** @import { StepView } from "./step_view.js" */

/**
 * @typedef {object} ShownStep
 * @property {StepView} step
 * @property {string} label where its times come from: "measured", "recorded", "simulated"
 */

/** @type {{read: () => ShownStep | null}} */
const source = { read: () => null };

/** @param {() => ShownStep | null} read */
export function offerStep(read) {
  source.read = read;
}

/** @returns {ShownStep | null} null while there is none */
export const shownStep = () => source.read();
