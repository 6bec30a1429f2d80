/* The tree attention mask and the positions of a tree's nodes. Pure. */
import { count } from "../../shared/web/format.js";

/** @import { Topology } from "../../shared/web/tree_layout.js" */

const MOST_NAMED = 4;

/**
 * A node and those above it, from the root down: what it may see of the tree.
 * @param {Topology} topo
 * @param {number} node
 * @returns {number[]}
 */
export function seenBy({ parents }, node) {
  const found = [];
  for (let up = node; up >= 0; up = parents[up]) found.unshift(up);
  return found;
}

/**
 * Positions after the root's: right by depth; by index, each node would have its own.
 * @param {Topology} topo
 * @param {boolean} byIndex
 * @returns {number[]}
 */
export const positionsOf = ({ depth }, byIndex) => depth.map((one, node) => (byIndex ? node : one));

/**
 * Nodes to which their index gives another position than their depth.
 * @param {Topology} topo
 * @returns {number[]}
 */
export const misplaced = ({ depth }) => [...depth.keys()].filter((node) => depth[node] !== node);

/**
 * @param {Topology} topo
 * @param {boolean} byIndex
 * @param {(node: number) => string} label
 * @returns {string}
 */
export function positionWords(topo, byIndex, label) {
  if (!byIndex)
    return "A node’s position is that of the root plus its depth. Siblings share a position: each of them may become the same word of the text.";
  const wrong = misplaced(topo);
  if (!wrong.length)
    return "This tree is a chain, so that index and depth agree: here the bug does not show.";
  const named = wrong
    .slice(0, MOST_NAMED)
    .map((node) => `“${label(node)}” (node ${node}) at +${node} instead of +${topo.depth[node]}`);
  const rest = wrong.length - named.length;
  const list = [...named, ...(rest ? [`and ${rest} more`] : [])].join(", ");
  const verb = wrong.length === 1 ? "gets" : "get";
  return `A bug: ${count(wrong.length, "node")} of ${topo.n} ${verb} a wrong position: ${list}. The target then reads a word as if others stood before it, and its p is that of another text. A chain does not show this.`;
}
