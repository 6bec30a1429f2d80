/* What a tree view draws, as plain data: the cells, with the place and the look of each. */

/** @import { Topology } from "./tree_layout.js" */

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
