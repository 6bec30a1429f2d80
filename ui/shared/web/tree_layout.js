/* A tree as it is drawn: its nodes in rows and columns, as cells, and the focus layout, which has
   only the part of a large tree that matters in one step. Also divides an axis into steps. Pure. */

/** @import { StepView } from "./step_view.js" */

/**
 * A tree, with what can be derived from the parents of its nodes. Each parent comes before its
 * children. The comb is the usual drawing of a tree: a node's column is its depth, and its row is
 * `row`.
 * @typedef {object} Topology
 * @property {number} n number of nodes
 * @property {number[]} parents of each node; -1 for the root
 * @property {number[][]} children of each node
 * @property {number[]} depth of each node; 0 for the root
 * @property {number[]} rank of each node among its siblings, from 0
 * @property {number[]} size of each node's subtree, including the node
 * @property {number} levels number of levels, including that of the root
 * @property {number[]} row of each node in the comb
 * @property {number} rows number of rows of the comb: one per leaf, at least 1
 */

/**
 * @param {number[]} parents of the nodes, each before its children; -1 for the root
 * @returns {Topology}
 */
export function topology(parents) {
  const n = parents.length;
  /** @type {number[][]} */
  const children = Array.from({ length: n }, () => []);
  const depth = new Array(n).fill(0);
  const rank = new Array(n).fill(0);
  const size = new Array(n).fill(1);
  for (let node = 1; node < n; node++) {
    const parent = parents[node];
    rank[node] = children[parent].length;
    children[parent].push(node);
    depth[node] = depth[parent] + 1;
  }
  for (let node = n - 1; node > 0; node--) size[parents[node]] += size[node];
  const levels = n ? Math.max(...depth) + 1 : 0;
  return { n, parents, children, depth, rank, size, levels, ...comb(children, n) };
}

// The first child is in the row of its parent, and every other child starts a new row. So no two
// nodes share a place, and no edges cross.
function comb(children, n) {
  const row = new Array(n).fill(0);
  let rows = 0;
  const stack = n ? [0] : [];
  while (stack.length) {
    const node = stack.pop();
    row[node] = rows;
    if (!children[node].length) rows++;
    stack.push(...children[node].toReversed());
  }
  return { row, rows: Math.max(rows, 1) };
}

/**
 * A node and its ancestors, from the root down: the nodes that it may attend to.
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
 * Divide an axis from 0 to at least `most` into steps of a round size.
 * @param {number} most
 * @param {number} wanted approximate number of steps
 * @returns {{distance: number, count: number}} size and number of the steps
 */
export function ticks(most, wanted) {
  const raw = Math.max(most, 1e-9) / Math.max(wanted, 1);
  const power = 10 ** Math.floor(Math.log10(raw));
  const distance = [1, 2, 2.5, 5, 10].map((m) => m * power).find((d) => d >= raw - 1e-12);
  return { distance, count: Math.ceil(most / distance - 1e-9) || 1 };
}

/** @typedef {number | "bonus"} NodeId a node of the tree, or the token from the target */

/**
 * A cell of the grid, usually for one node.
 * @typedef {object} Cell
 * @property {string} key such as "n12" for node 12, "bonus" for the token from the target, or a
 *   name that a view chose for something else
 * @property {Cell | null} parent
 * @property {number} col
 * @property {number} row
 * @property {boolean} [end] whether there is nothing to its right, except perhaps the token from
 *   the target
 */

/**
 * How a cell looks.
 * @typedef {object} Look
 * @property {string} state such as "accepted"; the style sheet gives each state a colour. A
 *   "hidden" cell is not drawn
 * @property {string} [label]
 * @property {string} [count] a second label after the first, such as "▸5"; it is never cut
 * @property {(number | null)[]} [numbers] below the pill, where there is room
 * @property {boolean} [isPrimed] whether the names of these numbers have a prime
 * @property {number} [heat] one of five shades, 0 to 4
 * @property {number} [share] from 0 to 1, shown as the strength of the colour
 */

/**
 * The heading of a column.
 * @typedef {object} Column
 * @property {string[]} names the longest first; the first that fits is shown
 * @property {string} [state] the state whose colour the heading has
 */

/**
 * A tree to draw.
 * @typedef {object} Scene
 * @property {Cell[]} cells each parent before its children
 * @property {Look[]} looks of the cells, in their order
 * @property {number} rows of the grid, which may be larger than the tree
 * @property {number} cols of the grid
 * @property {boolean} [focus] whether this is the focus layout, in which columns may be as wide
 *   as their text
 * @property {boolean} [reserved] whether the last column is kept free of text from other columns
 * @property {number} [word] width of the widest label at a type size of 1 px; with it, each column
 *   has room for that label
 * @property {number} [tail] px kept free after the last column
 * @property {Column[]} [columns]
 * @property {Record<string, string[]>} [marks] for each CSS class, such as is-pinned, the keys of
 *   the cells that get it
 * @property {string} [home] key of the cell that the Tab key reaches
 * @property {boolean} [isEased] whether colours change gradually, which lowers the frame rate
 */

/**
 * The cells of all nodes of a tree.
 * @param {Topology} topo
 * @returns {Cell[]}
 */
export function allCells(topo) {
  /** @type {Cell[]} */
  const cells = [];
  topo.parents.forEach((up, node) => {
    const place = { col: topo.depth[node], row: topo.row[node] };
    const end = !topo.children[node].length;
    cells.push({ key: keyOf(node), parent: cells[up] ?? null, ...place, end });
  });
  return cells;
}

/**
 * @param {NodeId} node
 * @returns {string} the key of its cell
 */
export const keyOf = (node) => (typeof node === "number" ? "n" + node : node);

/**
 * The node of a cell.
 * @param {string | null} key
 * @returns {NodeId | null} null if the cell is not a single node
 */
export function nodeOf(key) {
  if (key === "bonus") return key;
  return key?.[0] === "n" ? Number(key.slice(1)) : null;
}

/**
 * The focus layout is the default above this number of nodes. In Run, the nodes of the run's
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
