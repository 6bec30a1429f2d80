/* The focus layout: the part of a large tree that matters in one step. Pure. */
import { keyOf } from "./tree_scene.js";

/**
 * @import { Topology } from "./tree_layout.js"
 * @import { StepView } from "./step_view.js"
 * @import { Cell } from "./tree_scene.js"
 */

/**
 * The focus layout is the default above this number of nodes. In Decode, the nodes of the run's
 * largest tree count.
 */
export const LARGE = 160;
// How many of a node's rejected and untried children are drawn one by one. If two or more of the
// same kind remain, they are folded together.
const FIRST_REJECTED = 9;
const LAST_REJECTED = 3;
const FIRST_UNTRIED = 2;

/**
 * What a cell of the drawn tree hides. A cell for one node has only the field `folded`. A cell for
 * several siblings has the other fields instead, and its key is "g<parent>:<kind>".
 * @typedef {object} Fold
 * @property {number} [folded] number of nodes below the cell; 0 if the cell is unfolded
 * @property {number} [count] number of siblings folded together
 * @property {number} [nodes] number of nodes in the subtrees of these siblings
 * @property {"rejected" | "untried"} [what] kind of these siblings
 * @typedef {Cell & Fold} Item
 */

/**
 * Lay out the accepted path, some of the other children of its nodes, and what a person has
 * unfolded. The remaining nodes are not drawn. The token from the target has the last column to
 * itself.
 * @param {Topology} topo
 * @param {StepView} view
 * @param {Set<string>} opened keys of the cells that a person has unfolded: an unfolded node shows
 *   its children, and an unfolded group shows all its siblings
 * @param {boolean} hasBonus whether the step has a token from the target
 * @returns {{items: Item[], rows: number, cols: number}}
 */
export function focusLayout(topo, view, opened, hasBonus) {
  /** @type {Item[]} */
  const items = [];
  const onPath = new Set(view.path);
  const pathEnd = view.path.at(-1);
  /** @type {Item | undefined} */
  let bonus;
  let rows = 0;
  const place = (item) => {
    items.push({ row: rows, ...item });
    return items.at(-1);
  };

  function visit(node, parent, col) {
    const isOpen = onPath.has(node) || opened.has(keyOf(node));
    const entries = isOpen ? choose(topo, view, opened, node) : [];
    const endsPath = hasBonus && node === pathEnd;
    const folded = isOpen ? 0 : topo.size[node] - 1;
    const end = !entries.length && !endsPath;
    const item = place({ key: keyOf(node), parent, col, folded, end });
    entries.forEach((entry, i) => {
      if (i) rows++;
      if (typeof entry === "number") visit(entry, item, col + 1);
      else place({ ...entry, parent: item, col: col + 1, end: true });
    });
    if (!endsPath) return;
    if (entries.length) rows++;
    bonus = place({ key: "bonus", parent: item, col: 0 });
  }

  if (topo.n) visit(0, null, 0);
  const last = Math.max(...items.map((item) => item.col), 0);
  if (bonus) bonus.col = last + 1;
  return { items, rows: rows + 1, cols: last + (bonus ? 2 : 1) };
}

/**
 * The keys of all cells that may hide a node. If all of them are unfolded, the node is drawn.
 * @param {Topology} topo
 * @param {number} node
 * @returns {string[]}
 */
export function keysAbove({ parents }, node) {
  const keys = [];
  for (let up = parents[node]; up >= 0; up = parents[up])
    keys.push(keyOf(up), `g${up}:untried`, `g${up}:rejected`);
  return keys;
}

/**
 * @param {(Cell & Fold)[]} cells that are drawn
 * @returns {boolean} whether they hide nodes
 */
export const hidesNodes = (cells) => cells.some(({ folded, count }) => Boolean(folded || count));

// The children of a node that is not folded. A number is a child that is drawn by itself. A group
// is drawn as one cell, such as "… 13 more (83 nodes)".
function choose(topo, view, opened, node) {
  const children = topo.children[node];
  const rejected = children.filter((child) => view.state[child] === "rejected");
  const others = children.filter((child) => !["rejected", "accepted"].includes(view.state[child]));
  const groups = new Map();
  fold("rejected", rejected.slice(FIRST_REJECTED, -LAST_REJECTED));
  fold("untried", others.slice(FIRST_UNTRIED));
  return [...new Set(children.map((child) => groups.get(child) ?? child))];

  function fold(what, tail) {
    const key = "g" + node + ":" + what;
    if (tail.length < 2 || opened.has(key)) return;
    const nodes = tail.reduce((sum, child) => sum + topo.size[child], 0);
    const group = { key, count: tail.length, nodes, what };
    for (const child of tail) groups.set(child, group);
  }
}
