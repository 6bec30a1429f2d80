/* The limit for node-by-node verification: the most that any rule can reach if it is lossless at
   every node by itself. Which child it goes to and which token the text gets are then two random
   values with given distributions, drawn together: a problem of optimal transport (the paper that
   states it for several draws: SpecTr, arXiv 2310.15141). Pure. */
import { insideEach, massOf, sequences } from "./draws.js";
import { bestTransport } from "./transport.js";

/**
 * @import { Topology } from "../../../shared/web/tree_layout.js"
 * @import { Drawn } from "./draws.js"
 */

/**
 * The largest probability with which one of the children of a node can be accepted.
 *
 * By the theorem of the largest flow and the smallest cut it is the least value, over all sets of
 * tokens, of the set's probability under p plus the probability that a sibling lies outside of it.
 * @param {number[]} p
 * @param {number[]} q
 * @param {number} count of children
 * @param {Drawn} drawn how they are drawn
 * @returns {number}
 */
export function nodeLimit(p, q, count, drawn) {
  if (!count) return 0;
  const outside = insideEach(q, count, drawn).map((inside) => 1 - inside);
  return Math.min(1, ...outside.map((share, set) => massOf(p, set) + share));
}

/**
 * The most tokens that a step can emit on average, with the same p and q at every node.
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
