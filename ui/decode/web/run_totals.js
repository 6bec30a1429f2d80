/* Totals of a run up to each of its steps. Independent of the DOM. */
import { draftedOf, secondsOf } from "../../shared/web/step_view.js";

/**
 * @import { Meta } from "../../shared/web/run_facts.js"
 * @import { Step } from "../../shared/web/step_view.js"
 */

/**
 * Sums over the steps up to one.
 * @typedef {object} Sums
 * @property {number} steps
 * @property {number} tokens emitted
 * @property {number} seconds
 * @property {number} nodes accepted
 * @property {number} proposed nodes
 * @property {number} drafted tokens among those emitted
 * @property {number} most tokens of a step
 */

/**
 * Totals up to a step: the sums, and figures made of them, NaN where there are none.
 * @typedef {object} Ratios
 * @property {number} tokensPerStep
 * @property {number} tokensPerSecond
 * @property {number} draftShare
 * @property {number} acceptedPerStep
 * @property {number} proposedPerStep
 * @property {number} speedup
 * @property {number[]} speedups the ends of its confidence interval; of the whole run only
 * @property {boolean} whole whether these are the totals of the whole run
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
   * Sum anew from a step on.
   * @param {(Step | null)[]} steps all of the run; null where one is missing
   * @param {number} from index of the first that is new
   */
  add(steps, from) {
    let last = this.sums[from - 1] || NOTHING;
    for (let i = from; i < steps.length; i++) {
      if (steps[i]) last = plus(last, steps[i]);
      this.sums[i] = last;
    }
  }

  /**
   * The run's own clock at the end of step `i`; 0 before the first.
   * @param {number} i
   * @returns {number} seconds
   */
  seconds(i) {
    return this.sums[i]?.seconds || 0;
  }

  /**
   * @param {number} time on the run's own clock, in seconds
   * @returns {number} the step that ends then or next; -1 after the last
   */
  stepAt(time) {
    return this.sums.findIndex(({ seconds }) => seconds >= time);
  }

  /**
   * Totals up to and with step `i`.
   * @param {number} i
   * @param {Meta} meta of the run
   * @returns {Totals}
   */
  upTo(i, meta) {
    const sum = this.sums[i] || NOTHING;
    const { steps, tokens, seconds } = sum;
    const { plain_seconds: plain, plain_spread: spread = [] } = meta;
    const whole = i === this.sums.length - 1;
    const gain = (plainSeconds) => (plain && seconds ? (plainSeconds * tokens) / seconds : NaN);
    return {
      ...sum,
      tokensPerStep: ratio(tokens, steps),
      tokensPerSecond: ratio(tokens, seconds),
      draftShare: ratio(sum.drafted, tokens),
      acceptedPerStep: ratio(sum.nodes, steps),
      proposedPerStep: ratio(sum.proposed, steps),
      speedup: gain(plain),
      speedups: whole ? (spread || []).map(gain).filter(Number.isFinite) : [],
      whole,
    };
  }
}

const ratio = (a, b) => (b ? a / b : NaN);

/** @type {(sums: Sums, step: Step) => Sums} */
const plus = (sums, step) => ({
  steps: sums.steps + 1,
  tokens: sums.tokens + step.emitted.length,
  seconds: sums.seconds + secondsOf(step),
  nodes: sums.nodes + step.path.length - 1,
  proposed: sums.proposed + step.tokens.length - 1,
  drafted: sums.drafted + draftedOf(step),
  most: Math.max(sums.most, step.emitted.length),
});
