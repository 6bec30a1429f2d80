/* How many guesses of a chain are kept, that is, accepted by the target. */

/** @import { Step } from "../../shared/web/step_view.js" */

/**
 * The chances that exactly 0, 1, ... guesses of a chain are kept. Guesses are tried in order until
 * one is rejected. Each tried guess is kept with the same chance, independently of the others.
 * @param {number} a chance that a tried guess is kept
 * @param {number} guesses
 * @returns {number[]}
 */
export function keptChances(a, guesses) {
  const some = Array.from({ length: guesses }, (_, kept) => a ** kept * (1 - a));
  return [...some, a ** guesses];
}

/**
 * Guesses kept on average: a + a^2 + ... + a^guesses.
 * @param {number} a
 * @param {number} guesses
 * @returns {number}
 */
export const meanKept = (a, guesses) => (a === 1 ? guesses : (a - a ** (guesses + 1)) / (1 - a));

/**
 * Shares as whole percentages. They need not sum to 100.
 * @param {number[]} shares
 * @returns {number[]}
 */
export const ofHundred = (shares) => shares.map((share) => Math.round(100 * share));

/**
 * @typedef {object} ChainRun the results of a recorded run of a chain
 * @property {number} steps how many steps had the whole chain; only these are counted
 * @property {number[]} shares share of the steps in which 0, 1, ... guesses were kept
 * @property {number} keptShare share of the tried guesses that were kept
 * @property {number} tokens per step
 */

/**
 * Count the guesses kept in a recorded run. Steps with a shorter chain (often the last step) are
 * left out.
 * @param {Step[]} steps of the run
 * @param {number} guesses length of the whole chain
 * @returns {ChainRun}
 */
export function recordedChain(steps, guesses) {
  const whole = steps.filter(({ tokens }) => tokens.length === guesses + 1);
  const counts = new Array(guesses + 1).fill(0);
  const verdicts = whole.map((step) => step.verdict);
  for (const { path } of verdicts) counts[path.length - 1] += 1;
  const trials = verdicts.flatMap((verdict) => verdict.trials);
  const kept = verdicts.reduce((total, { path }) => total + path.length - 1, 0);
  return {
    steps: whole.length,
    shares: counts.map((count) => count / whole.length),
    keptShare: kept / trials.length,
    tokens: 1 + kept / whole.length,
  };
}
