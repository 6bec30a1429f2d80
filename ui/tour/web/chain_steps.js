/* How many guesses of a chain are kept. */

/** @import { Step } from "../../shared/web/step_view.js" */

/**
 * With independent guesses: the chance that exactly 0, 1, ... all of them are kept.
 * @param {number} a chance that a guess is kept
 * @param {number} guesses
 * @returns {number[]}
 */
export function keptChances(a, guesses) {
  const some = Array.from({ length: guesses }, (_, kept) => a ** kept * (1 - a));
  return [...some, a ** guesses];
}

/**
 * Guesses kept on average: (a - a^(n + 1)) / (1 - a), and all of them where a is 1.
 * @param {number} a
 * @param {number} guesses
 * @returns {number}
 */
export const meanKept = (a, guesses) => (a === 1 ? guesses : (a - a ** (guesses + 1)) / (1 - a));

/**
 * Shares of 100 as whole numbers, which need not sum to 100.
 * @param {number[]} shares
 * @returns {number[]}
 */
export const ofHundred = (shares) => shares.map((share) => Math.round(100 * share));

/**
 * @typedef {object} ChainRun what a recorded run of a chain shows
 * @property {number} steps
 * @property {number[]} shares of the steps in which 0, 1, ... guesses were kept
 * @property {number} keptShare of the guesses that were tried
 * @property {number} tokens per step
 */

/**
 * Steps with a shorter chain, such as a last one, are left out.
 * @param {Step[]} steps of a recorded run
 * @param {number} guesses
 * @returns {ChainRun}
 */
export function recordedChain(steps, guesses) {
  const whole = steps.filter(({ tokens }) => tokens.length === guesses + 1);
  const counts = new Array(guesses + 1).fill(0);
  for (const { path } of whole) counts[path.length - 1] += 1;
  const trials = whole.flatMap((step) => step.trials);
  const kept = whole.reduce((total, { path }) => total + path.length - 1, 0);
  return {
    steps: whole.length,
    shares: counts.map((count) => count / whole.length),
    keptShare: kept / trials.length,
    tokens: 1 + kept / whole.length,
  };
}
