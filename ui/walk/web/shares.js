/* Reads, validates and scales the probabilities that a visitor types or drags in a toy (toy.js).
   Pure. */
import { sum } from "./rules/residuals.js";

const ROUND = 1000; // scaled probabilities are multiples of 1 / ROUND
const SLACK = 1e-6; // the sum of a typed distribution may differ from 1 by this much
const LONGEST = 20; // characters of a typed value that a message quotes

/**
 * Why typed values are not a distribution. at: index of the first invalid value; null if only the
 * sum is wrong.
 * @typedef {{at: number | null, words: string}} Problem
 */

/**
 * Read a typed distribution.
 * @param {string} name "p" or "q"
 * @param {string[]} texts
 * @param {string[]} words the word of each probability
 * @returns {{values: number[], problem: Problem | null}} the value of a text that is not a number
 *   is NaN
 */
export function readShares(name, texts, words) {
  const values = texts.map(numberOf);
  const at = values.findIndex((value) => !(value >= 0 && value <= 1));
  if (at >= 0) {
    const about = `${name} of “${words[at]}”`;
    return { values, problem: { at, words: `${about} ${whyNot(texts[at], values[at])}` } };
  }
  const total = sum(values);
  if (Math.abs(total - 1) <= SLACK) return { values, problem: null };
  const shown = Number(total.toPrecision(8));
  const what = total > 0 ? `${name} sums to ${shown}` : `${name} is 0 for every word`;
  return { values, problem: { at: null, words: `${what}; a distribution sums to 1.` } };
}

const numberOf = (text) => {
  const plain = text.trim().replace(",", ".");
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(plain) ? Number(plain) : NaN;
};

function whyNot(text, value) {
  if (!text.trim()) return "is empty; enter a number from 0 to 1.";
  if (Number.isNaN(value))
    return `is “${text.trim().slice(0, LONGEST)}”; enter a number from 0 to 1.`;
  const bound = value < 0 ? "below 0" : "above 1";
  return `is ${text.trim().slice(0, LONGEST)}, which is ${bound}; enter a number from 0 to 1.`;
}

/**
 * A distribution with one new probability. The others are scaled so that the sum is 1. If all of
 * them are 0, they become equal.
 * @param {number[]} values
 * @param {number} at index of the probability
 * @param {number} share its new value
 * @returns {number[]}
 */
export function withShare(values, at, share) {
  const kept = Math.max(0, Math.min(1, share));
  const others = values.map((value, i) => (i === at ? 0 : safe(value)));
  const total = sum(others);
  const even = 1 / (values.length - 1);
  const scale = (value, i) => {
    if (i === at) return kept;
    return (1 - kept) * (total > 0 ? value / total : even);
  };
  return rounded(others.map(scale), at);
}

/**
 * The values limited to the range from 0 to 1, then scaled to sum to 1. NaN counts as 0. If all are
 * 0, they become equal.
 * @param {number[]} values
 * @returns {number[]}
 */
export function scaledShares(values) {
  const usable = values.map(safe);
  const total = sum(usable);
  return rounded(
    usable.map((value) => (total > 0 ? value / total : 1 / values.length)),
    -1,
  );
}

const safe = (value) => (value > 0 ? Math.min(value, 1) : 0);

// The values rounded to multiples of 1 / ROUND that sum to 1. The one at `fixed` (-1: none) is
// rounded to the nearest multiple, the others down. Then those that lost most by rounding down are
// raised by 1 / ROUND until the sum is 1.
function rounded(values, fixed) {
  const exact = values.map((value) => value * ROUND);
  const made = exact.map((value, i) => (i === fixed ? Math.round(value) : Math.floor(value)));
  const lost = (i) => exact[i] - made[i];
  const others = [...values.keys()].filter((i) => i !== fixed).sort((a, b) => lost(b) - lost(a));
  const missing = ROUND - sum(made);
  for (let k = 0; k < missing; k++) made[others[k % others.length]] += 1;
  return made.map((value) => value / ROUND);
}
