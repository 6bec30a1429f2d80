/* Siblings are the children of one node. Their tokens are drawn from q, the draft's distribution.
   These pure functions return the probabilities of the siblings that can be drawn, as sequences or
   as sets of tokens. A set is a number whose bit i says whether it contains token i. */
import { likeliest } from "./chance.js";
import { sum } from "./residuals.js";

/**
 * How siblings are drawn: without replacement, independently, or as the most probable tokens.
 * @typedef {"distinct" | "independent" | "top"} Drawn
 */

/**
 * For every set of tokens, the probability that all siblings are in it.
 * @param {number[]} q
 * @param {number} count of siblings
 * @param {Drawn} drawn
 * @returns {number[]} indexed by the set
 */
export function insideEach(q, count, drawn) {
  const sets = [...new Array(2 ** q.length).keys()];
  if (drawn === "independent") return sets.map((set) => massOf(q, set) ** count);
  if (drawn === "distinct") return subsetSums(distinctSets(q, count), q.length);
  const top = setOf(likeliest(q, count));
  return sets.map((set) => Number((set & top) === top));
}

/**
 * All sequences of siblings that can be drawn.
 * @param {number[]} q
 * @param {number} count
 * @param {Drawn} drawn
 * @returns {{tokens: number[], weight: number}[]} weight: probability of
 *   the sequence
 */
export function sequences(q, count, drawn) {
  if (drawn === "top") return [{ tokens: likeliest(q, count), weight: 1 }];
  let found = [{ tokens: /** @type {number[]} */ ([]), weight: 1 }];
  for (let at = 0; at < count; at++)
    found = found.flatMap(({ tokens, weight }) =>
      chances(q, drawn === "distinct" ? setOf(tokens) : 0)
        .map((chance, token) => ({ tokens: [...tokens, token], weight: weight * chance }))
        .filter((one) => one.weight > 0),
    );
  return found;
}

/**
 * The sum of the values of the tokens in a set.
 * @param {number[]} values by token
 * @param {number} set
 * @returns {number}
 */
export const massOf = (values, set) => sum(values.filter((_, token) => set & (1 << token)));

const setOf = (tokens) => tokens.reduce((set, token) => set | (1 << token), 0);

// Distribution of the next draw: q without the tokens in the set `tried`. If nothing is left of q,
// all other tokens are equally probable.
function chances(q, tried) {
  const isFree = (token) => !(tried & (1 << token));
  const rest = q.map((one, token) => (isFree(token) ? one : 0));
  const left = sum(rest);
  const free = rest.filter((_, token) => isFree(token)).length;
  return rest.map((one, token) => (left > 0 ? one / left : isFree(token) ? 1 / free : 0));
}

// For every set, the probability that it is the set of siblings drawn without replacement.
function distinctSets(q, count) {
  const drawn = new Array(2 ** q.length).fill(0);
  // for every set, the probability that the first draws yield exactly its tokens, in any order
  const reached = [1, ...new Array(drawn.length - 1).fill(0)];
  for (let set = 0; set < reached.length; set++) {
    if (!reached[set]) continue;
    if (bits(set) === Math.min(count, q.length)) drawn[set] = reached[set];
    else
      chances(q, set).forEach((one, token) => {
        if (one) reached[set | (1 << token)] += reached[set] * one;
      });
  }
  return drawn;
}

function bits(set) {
  let count = 0;
  for (let rest = set; rest; rest &= rest - 1) count += 1;
  return count;
}

// For each set, the sum of the values of its subsets, itself included. values: by set.
function subsetSums(values, size) {
  const sums = [...values];
  for (let token = 0; token < size; token++)
    for (let set = 0; set < sums.length; set++)
      if (set & (1 << token)) sums[set] += sums[set ^ (1 << token)];
  return sums;
}
