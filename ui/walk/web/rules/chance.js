/* The random operations of a step, and how siblings are drawn. */
import { scaled, sum } from "./residuals.js";

/**
 * The random operations of a step. d and r: the tested token's q and p after the rejections so far;
 * in Traversal, 1 and the probability that the path is accepted.
 * @typedef {object} Chance
 * @property {(d: number, r: number) => {accepted: boolean, u: number | null}} accept accepts if
 *   u * d < r, for u uniform on [0, 1); `u` is null if no number was drawn (see ../exact.js)
 * @property {(weights: number[]) => number} pick draws a token with probabilities in proportion to
 *   the weights
 */

/**
 * A Chance with random numbers.
 * @implements {Chance}
 */
export class Dice {
  /** @param {() => number} random returns numbers from 0 to less than 1 */
  constructor(random) {
    this.random = random;
  }

  accept(d, r) {
    const u = this.random();
    return { accepted: u * d < r, u };
  }

  pick(weights) {
    const mark = this.random() * sum(weights);
    let passed = 0;
    const found = weights.findIndex((weight) => (passed += weight) > mark);
    return found < 0 ? weights.findLastIndex((weight) => weight > 0) : found;
  }
}

/**
 * Distinct tokens. Each is drawn from q without the tokens drawn before it. Once nothing is left of
 * q, each token that has not been drawn is equally probable.
 * @param {Chance} chance
 * @param {number[]} q
 * @param {number} count
 * @returns {number[]}
 */
export function withoutReplacement(chance, q, count) {
  /** @type {number[]} */
  const order = [];
  while (order.length < count) {
    const isFree = (token) => !order.includes(token);
    const rest = q.map((one, token) => (isFree(token) ? one : 0));
    const hasMass = rest.some((one) => one > 0);
    order.push(chance.pick(hasMass ? rest : q.map((_, token) => (isFree(token) ? 1 : 0))));
  }
  return order;
}

/**
 * Tokens drawn independently from q: the same token can be drawn twice.
 * @param {Chance} chance
 * @param {number[]} q
 * @param {number} count
 * @returns {number[]}
 */
export const independent = (chance, q, count) =>
  Array.from({ length: count }, () => chance.pick(scaled(q)));

/**
 * The most probable tokens. Among equally probable tokens, the lowest index is first.
 * @param {number[]} q
 * @param {number} count
 * @returns {number[]}
 */
export const likeliest = (q, count) =>
  [...q.keys()].sort((a, b) => q[b] - q[a] || a - b).slice(0, count);
