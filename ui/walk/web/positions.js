/* The positions of a tree's nodes. Pure functions. */
import { count } from "../../shared/web/format.js";

/** @import { Topology } from "../../shared/web/tree_layout.js" */

const MOST_NAMED = 4; // maximum number of nodes listed in a sentence

/**
 * Positions of the nodes relative to the root. Positions by depth are correct. Positions by index
 * in the tree are a bug that is shown on purpose.
 * @param {Topology} topo
 * @param {boolean} byIndex
 * @returns {number[]}
 */
export const positionsOf = ({ depth }, byIndex) => depth.map((one, node) => (byIndex ? node : one));

/**
 * Nodes whose position by index is wrong.
 * @param {Topology} topo
 * @returns {number[]}
 */
export const misplaced = ({ depth }) => [...depth.keys()].filter((node) => depth[node] !== node);

/**
 * The positions explained in a few sentences.
 * @param {Topology} topo
 * @param {boolean} byIndex
 * @param {(node: number) => string} label
 * @returns {string}
 */
export function positionWords(topo, byIndex, label) {
  if (!byIndex)
    return (
      "At the right: the node’s position, its depth. At most one sibling is kept, so they " +
      "share it."
    );
  const wrong = misplaced(topo);
  if (!wrong.length)
    return (
      "Positions by index are a bug. In a chain, as here, index and depth agree: it does not " +
      "show."
    );
  const named = wrong
    .slice(0, MOST_NAMED)
    .map((node) => `“${label(node)}” (node ${node}) at +${node} instead of +${topo.depth[node]}`);
  const rest = wrong.length - named.length;
  const list = [...named, ...(rest ? [`and ${rest} more`] : [])].join(", ");
  const verb = wrong.length === 1 ? "gets" : "get";
  const found = `A bug: ${count(wrong.length, "node")} of ${topo.n} ${verb} a wrong position: ${list}.`;
  return `${found} The large model then reads a different text, so its p is wrong.`;
}
