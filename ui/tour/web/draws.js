/* One token drawn as in speculative decoding: a guess, a test, and a correction if the test fails.
   p and q are the target's and the draft's distributions, both in the same unit, such as percent.
   Tokens are indices. */

/** @type {(values: number[]) => number} */
export const sum = (values) => values.reduce((total, value) => total + value, 0);

/**
 * @param {number[]} p of the target
 * @param {number[]} q of the draft
 * @returns {number[]} how much of each token's guesses may be kept: min(p, q)
 */
export const kept = (p, q) => p.map((one, i) => Math.min(one, q[i]));

/**
 * @param {number[]} p
 * @param {number[]} q
 * @returns {number[]} what is left of p: max(p - q, 0)
 */
export const left = (p, q) => p.map((one, i) => Math.max(one - q[i], 0));

/**
 * @param {number} p
 * @param {number} q above 0
 * @returns {number} the probability that a guess is kept
 */
export const keepChance = (p, q) => Math.min(1, p / q);

/**
 * @param {number[]} given the amount given to each token
 * @param {number[]} right the amount that each token should have; the sum is the same
 * @returns {number} how much was given to wrong tokens, in total
 */
export const misplaced = (given, right) => sum(left(given, right));

/**
 * The index of a token, drawn with probabilities in proportion to `weights`.
 * @param {number[]} weights
 * @param {() => number} random
 * @returns {number}
 */
function drawnFrom(weights, random) {
  let mark = random() * sum(weights);
  const found = weights.findIndex((weight) => (mark -= weight) < 0);
  return found < 0 ? weights.findLastIndex((weight) => weight > 0) : found;
}

/** @typedef {{guess: number, u: number, isKept: boolean, token: number}} Draw */

/**
 * Draw a guess from q. It is kept with probability min(1, p / q); otherwise a token is drawn from
 * what is left of p.
 * @param {number[]} p
 * @param {number[]} q
 * @param {() => number} random
 * @returns {Draw}
 */
export function draw(p, q, random) {
  const guess = drawnFrom(q, random);
  const u = random();
  const isKept = u < p[guess] / q[guess];
  return { guess, u, isKept, token: isKept ? guess : drawnFrom(left(p, q), random) };
}

/**
 * @param {number[]} p
 * @param {number[]} q
 * @param {number} count
 * @param {() => number} random
 * @returns {number[]} how often each token came out in `count` draws
 */
export function counts(p, q, count, random) {
  const found = p.map(() => 0);
  for (let i = 0; i < count; i++) found[draw(p, q, random).token] += 1;
  return found;
}

/**
 * @param {number[]} found counts
 * @param {number[]} p
 * @returns {number} the largest difference between a token's share of `found` and its share of
 *   `p`, in percentage points
 */
export function worstOff(found, p) {
  const shares = found.map((count) => (100 * count) / sum(found));
  return Math.max(...shares.map((share, i) => Math.abs(share - (100 * p[i]) / sum(p))));
}
