/* Totals of a run at the end of each of its steps. Independent of the DOM. */
import { draftedOf, secondsOf } from "../../shared/web/step_view.js";

/** @import { Step } from "../../shared/web/step_view.js" */

/**
 * Sums over the steps up to a certain one.
 * @typedef {object} Sums
 * @property {number} steps how many steps arrived
 * @property {number} tokens how many tokens were emitted
 * @property {number} seconds
 * @property {number} nodes how many nodes were accepted, roots not counted
 * @property {number} proposed how many nodes the trees had, roots not counted
 * @property {number} drafted how many emitted tokens are from the draft: fewer than `nodes` if the
 *   run ended inside an accepted path
 * @property {number} most the most tokens that one step emitted
 */

/**
 * Totals up to a step: the sums, and ratios of them, which are NaN where they are undefined.
 * @typedef {object} Ratios
 * @property {number} tokensPerStep
 * @property {number} tokensPerSecond
 * @property {number} draftShare
 * @property {number} acceptedPerStep
 * @property {number} proposedPerStep
 * @property {boolean} whole whether these are the totals of all steps received so far
 * @typedef {Sums & Ratios} Totals
 */

/** @type {Readonly<Sums>} */
const NOTHING = Object.freeze({
  steps: 0,
  tokens: 0,
  seconds: 0,
  nodes: 0,
  proposed: 0,
  drafted: 0,
  most: 0,
});

/** The sums up to each step. */
export class RunTotals {
  /** @type {Sums[]} */
  sums = [];

  /**
   * Compute the sums of step `from` and all later ones.
   * @param {(Step | null)[]} steps all of the run; null where one is missing
   * @param {number} from index of the first new one
   */
  add(steps, from) {
    let last = this.sums[from - 1] || NOTHING;
    for (let i = from; i < steps.length; i++) {
      if (steps[i]) last = plus(last, steps[i]);
      this.sums[i] = last;
    }
  }

  /**
   * Time on the run's own clock at the end of step `i`; 0 before the first step.
   * @param {number} i
   * @returns {number} seconds
   */
  seconds(i) {
    return this.sums[i]?.seconds || 0;
  }

  /**
   * @param {number} time on the run's own clock, in seconds
   * @returns {number} index of the step in progress at that time; -1 after the last
   */
  stepAt(time) {
    return this.sums.findIndex(({ seconds }) => seconds >= time);
  }

  /**
   * Totals at the end of step `i`.
   * @param {number} i
   * @returns {Totals}
   */
  upTo(i) {
    const sum = this.sums[i] || NOTHING;
    const { steps, tokens, seconds } = sum;
    return {
      ...sum,
      tokensPerStep: ratio(tokens, steps),
      tokensPerSecond: ratio(tokens, seconds),
      draftShare: ratio(sum.drafted, tokens),
      acceptedPerStep: ratio(sum.nodes, steps),
      proposedPerStep: ratio(sum.proposed, steps),
      whole: i === this.sums.length - 1,
    };
  }
}

const ratio = (a, b) => (b ? a / b : NaN);

/** @type {(sums: Sums, step: Step) => Sums} */
const plus = (sums, step) => ({
  steps: sums.steps + 1,
  tokens: sums.tokens + step.emitted.length,
  seconds: sums.seconds + secondsOf(step),
  nodes: sums.nodes + step.verdict.path.length - 1,
  proposed: sums.proposed + step.tokens.length - 1,
  drafted: sums.drafted + draftedOf(step),
  most: Math.max(sums.most, step.emitted.length),
});
