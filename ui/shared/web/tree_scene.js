/* What a tree view draws, as plain data: the cells, where they stand, and how each looks. A step in
   slow motion is one scene after the other, in which fewer and fewer cells are hidden. */

/** @import { Topology } from "./tree_layout.js" */

/** @typedef {number | "bonus"} NodeId a node of the tree, or the token from the target */

/**
 * Where a node is drawn.
 * @typedef {object} Cell
 * @property {string} key "n12"; "bonus"; or what else a view draws, by a name of its own
 * @property {Cell | null} parent
 * @property {number} col
 * @property {number} row
 * @property {boolean} [end] whether nothing stands to its right
 */

/**
 * How a cell looks.
 * @typedef {object} Look
 * @property {string} state root, accepted, rejected, untested, never, bonus, correction, or any
 *   other name for which the style sheet has a look (data-s); "hidden" is not drawn
 * @property {string} [label]
 * @property {string} [count] of nodes folded below it; never cut
 * @property {(number | null)[]} [numbers] below the pill, where there is room
 * @property {number} [heat] one of five shades, 0 to 4
 * @property {number} [share] from 0 to 1, shown as the strength of its colour
 */

/**
 * What is written above a column.
 * @typedef {object} Column
 * @property {string[]} names the longest first; the first that fits is shown
 * @property {string} [state] whose colour it has
 */

/**
 * A tree to draw. Parents stand before their children.
 * @typedef {object} Scene
 * @property {Cell[]} cells
 * @property {Look[]} looks of the cells, in their order
 * @property {number} rows of the grid, which may have room for larger trees
 * @property {number} cols
 * @property {boolean} [focus] a part of a tree: its columns are as wide as their text
 * @property {boolean} [reserved] no other text may reach into the last column
 * @property {number} [word] the widest label at 1 px of type size; no label is then cut
 * @property {number} [tail] px kept free behind the last column
 * @property {Column[]} [columns]
 * @property {Record<string, string[]>} [marks] keys of cells by the class that marks them:
 *   is-selected, is-pinned, is-match and others of the style sheet
 * @property {string} [home] key of the cell that the Tab key reaches
 * @property {boolean} [isEased] whether colours change gradually, which costs frames
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
 * @returns {string}
 */
export const keyOf = (node) => (typeof node === "number" ? "n" + node : node);

/**
 * The node of a cell.
 * @param {string | null} key
 * @returns {NodeId | null} null where the cell is not one node
 */
export function nodeOf(key) {
  if (key === "bonus") return key;
  return key?.[0] === "n" ? Number(key.slice(1)) : null;
}
