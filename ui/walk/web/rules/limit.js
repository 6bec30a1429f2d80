/* The limit for node-by-node verification: the best that a rule can reach if it is lossless at each
   node on its own. Two distributions are given: that of the drawn siblings, and that of the emitted
   token. A rule is a coupling of the two. So finding the best rule is a problem of optimal
   transport. SpecTr (arXiv 2310.15141) states this problem for several draws. Pure. */
import { insideEach, massOf, sequences } from "./draws.js";
import { bestTransport } from "./transport.js";

/**
 * @import { Topology } from "../../../shared/web/tree_layout.js"
 * @import { Drawn } from "./draws.js"
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
