/* Decides which nodes of a tree are drawn, and where. At first, large trees show only their best
   nodes, and deep trees only the levels that fit. Pure. */
import { keyOf } from "../../shared/web/tree_layout.js";

const FOLD_ABOVE = 160; // nodes; in a larger tree, some nodes are hidden at first
const DRAWN = 110; // max nodes of such a tree that are drawn at first: those with the best scores

/**
 * @import { Topology } from "../../shared/web/tree_layout.js"
 * @import { Cell } from "../../shared/web/tree_layout.js"
 */

/**
 * `hidden`: how many children of `node` are not drawn, plus the number of all their descendants.
 * @typedef {Cell & {node: number, hidden: number}} Item
 */
/** @typedef {{items: Item[], rows: number, cols: number}} Plan */

/**
 * Whether the tree is so large or deep that some nodes are hidden until a person expands them.
 * @param {Topology} topo
 * @param {number} deepest levels that fit
 * @returns {boolean}
 */
export const folds = (topo, deepest) => topo.n > FOLD_ABOVE || topo.levels > deepest;

/**
 * Whether the nodes of a tree kept their numbers when it was changed: one of the two lists begins
 * with the other.
 * @param {number[]} before parents
 * @param {number[]} after parents
 * @returns {boolean}
 */
export function keepsNumbers(before, after) {
  const both = Math.min(before.length, after.length);
  return before.slice(0, both).every((parent, node) => parent === after[node]);
}

/**
 * The nodes with the highest scores, as many as a large tree shows.
 * @param {number[]} scores
 * @returns {Set<number>}
 */
export function bestNodes(scores) {
  const order = scores.map((_, node) => node).sort((a, b) => scores[b] - scores[a] || a - b);
  return new Set(order.slice(0, DRAWN));
}

/**
 * Lay out the nodes that are drawn.
 * @param {Topology} topo
 * @param {{all: boolean, opened: Set<number>, best: Set<number>, deepest: number}} wanted
 *   `all`: draw every node; `opened`: nodes that, if drawn, are drawn with all their children;
 *   `best`: the nodes to draw of a large tree; `deepest`: levels that fit
 * @returns {Plan}
 */
export function planTree(topo, { all, opened, best, deepest }) {
  const large = topo.n > FOLD_ABOVE;
  const visible = (node) =>
    all ||
    opened.has(topo.parents[node]) ||
    ((!large || best.has(node)) && topo.depth[node] < deepest);
  /** @type {Item[]} */
  const items = [];
  /** @type {[number, Item | null][]} */
  const stack = [[0, null]];
  let row = 0;
  while (stack.length) {
    const [node, parent] = stack.pop();
    const shown = topo.children[node].filter(visible);
    const folded = topo.children[node].filter((child) => !visible(child));
    const hidden = folded.reduce((sum, child) => sum + topo.size[child], 0);
    const end = !shown.length;
    const item = { key: keyOf(node), node, parent, col: topo.depth[node], row, hidden, end };
    items.push(item);
    if (end) row++;
    for (const child of shown.reverse()) stack.push([child, item]);
  }
  return { items, rows: Math.max(row, 1), cols: Math.max(...items.map(({ col }) => col)) + 1 };
}
