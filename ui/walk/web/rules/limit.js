/* The limit for node-by-node verification: the best that a rule can reach if it is lossless at each
   node on its own. Two distributions are given: that of the drawn siblings, and that of the emitted
   token. A rule is a coupling of the two. So finding the best rule is a problem of optimal
   transport. SpecTr (arXiv 2310.15141) states this problem for several draws. Pure. */
import { likeliest } from "./chance.js";
import { scaled, sum } from "./residuals.js";
import { verifierNamed } from "./verifiers.js";
import { treeOf } from "../toy.js";

/**
 * @import { Topology } from "../../../shared/web/tree_layout.js"
 * @import { Toy } from "../toy.js"
 */

/**
 * The largest probability with which one of the children of a node can be accepted.
 *
 * By the max-flow min-cut theorem it is the minimum of p(S) + P(at least one sibling is outside S)
 * over all sets S of tokens.
 * @param {number[]} p
 * @param {number[]} q
 * @param {number} count number of children
 * @param {Drawn} drawn how they are drawn
 * @returns {number}
 */
export function nodeLimit(p, q, count, drawn) {
  if (!count) return 0;
  const outside = insideEach(q, count, drawn).map((inside) => 1 - inside);
  return Math.min(1, ...outside.map((share, set) => massOf(p, set) + share));
}

/**
 * The most tokens that a step can emit on average, if verification is lossless at each node on its
 * own. p and q are the same at every node.
 * @param {number[]} p
 * @param {number[]} q
 * @param {Topology} topo
 * @param {Drawn} drawn
 * @returns {number}
 */
export function tokensLimit(p, q, { children }, drawn) {
  const emitted = (node) => {
    const worth = children[node].map(emitted);
    if (worth.every((one) => one === worth[0]))
      return 1 + (worth[0] ?? 0) * nodeLimit(p, q, worth.length, drawn);
    return 1 + bestTransport(sequences(q, worth.length, drawn), p, worth);
  };
  return emitted(0);
}

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

const NOTHING = 1e-12; // smaller amounts are rounding errors

/**
 * room: how much more flow the arc can take. gain: per unit of flow.
 * @typedef {{from: number, to: number, room: number, gain: number}} Arc
 */

/**
 * The mean worth of the accepted sibling under the best coupling of the siblings with the token. If
 * no sibling is accepted, the worth is 0.
 * @param {{tokens: number[], weight: number}[]} drawn sequences of siblings, with their
 *   probabilities
 * @param {number[]} p the target's distribution
 * @param {number[]} worth of each sibling if it is accepted, in the order drawn
 * @returns {number}
 */
export function bestTransport(drawn, p, worth) {
  const { arcs, source, sink } = network(drawn, p, worth);
  let total = 0;
  for (;;) {
    const path = bestPath(arcs, source, sink);
    const gain = sum(path.map((at) => arcs[at].gain));
    if (!path.length || gain <= NOTHING) return total;
    const amount = Math.min(...path.map((at) => arcs[at].room));
    for (const at of path) {
      arcs[at].room -= amount;
      arcs[at ^ 1].room += amount;
    }
    total += amount * gain;
  }
}

// The arcs lead from the source to each sequence, on to its tokens, and from each token to the
// sink. Arc 2 i + 1 is the reverse of arc 2 i.
function network(drawn, p, worth) {
  /** @type {Arc[]} */
  const arcs = [];
  const add = (from, to, room, gain = 0) =>
    arcs.push({ from, to, room, gain }, { from: to, to: from, room: 0, gain: -gain });
  const source = drawn.length + p.length;
  const sink = source + 1;
  drawn.forEach(({ tokens, weight }, i) => {
    add(source, i, weight);
    tokens.forEach((token, rank) => add(i, drawn.length + token, 1, worth[rank]));
  });
  p.forEach((share, token) => add(drawn.length + token, sink, share));
  return { arcs, source, sink };
}

// Of the paths with room left, the one with the largest gain, as indices of its arcs
// (Bellman-Ford). Empty if no path has room left.
function bestPath(arcs, source, sink) {
  const best = new Array(sink + 1).fill(-Infinity);
  /** @type {number[]} */
  const last = new Array(sink + 1).fill(-1);
  best[source] = 0;
  for (let round = 0, isBetter = true; isBetter && round <= sink; round++) {
    isBetter = false;
    arcs.forEach(({ from, to, room, gain }, at) => {
      if (room <= NOTHING || best[from] + gain <= best[to] + NOTHING) return;
      best[to] = best[from] + gain;
      last[to] = at;
      isBetter = true;
    });
  }
  const path = [];
  for (let node = sink; last[node] >= 0; node = arcs[last[node]].from) path.unshift(last[node]);
  return path;
}

const ROUNDING = 1e-9;

/**
 * none: the least possible probability that no child of the root is accepted. tokens: the largest
 * possible mean number of tokens per step.
 * @typedef {{none: number, tokens: number}} Limits
 */

/**
 * The limits for verifiers that draw children in the same way as the toy's verifier.
 * @param {Toy} toy
 * @returns {Limits}
 */
export function limitsOf(toy) {
  const { drawn } = verifierNamed(toy.verifier);
  const topo = treeOf(toy);
  const [p, q] = [scaled(toy.p), scaled(toy.q)];
  return {
    none: 1 - nodeLimit(p, q, topo.children[0].length, drawn),
    tokens: tokensLimit(p, q, topo, drawn),
  };
}

/**
 * Whether a verifier exceeds the limit on tokens. Only a verifier that tests whole paths can do so.
 * @param {number} tokens its mean number of tokens per step
 * @param {Limits} limits
 * @returns {boolean}
 */
export const passes = (tokens, limits) => tokens > limits.tokens + ROUNDING;
