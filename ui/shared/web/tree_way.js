/* Highlights the path from the root to the node that a person points at. */
import { attr, svg } from "./dom.js";
import * as treeFrame from "./tree_frame.js";

/**
 * @import { Frame } from "./tree_frame.js"
 * @import { Cell, Scene } from "./tree_layout.js"
 */

const NEAR = 14; // px; a pointer farther than this from every dot points at no node

/**
 * A cell and all its ancestors, the root last.
 * @param {Scene} scene
 * @param {string | null} key
 * @returns {Cell[]} empty if the cell is not drawn
 */
export function wayTo({ cells, looks }, key) {
  const at = cells.findIndex((cell) => cell.key === key);
  if (at < 0 || looks[at].state === "hidden") return [];
  const way = [];
  for (let cell = cells[at]; cell; cell = cell.parent) way.push(cell);
  return way;
}

/**
 * The cell whose dot is nearest to a point.
 * @param {Cell[]} cells
 * @param {Frame} frame
 * @param {{x: number, y: number}} point in the frame
 * @returns {string | null} its key; null if none is near
 */
export function nearestDot(cells, frame, { x, y }) {
  const far = ({ col, row }) => Math.hypot(frame.x(col) - x, frame.y(row) - y);
  let best = null;
  for (const cell of cells) if (!best || far(cell) < far(best)) best = cell;
  return best && far(best) <= NEAR ? best.key : null;
}

/** The highlighted edges in an SVG element. */
export class TreeWay {
  /** @type {Cell[]} from the cell pointed at to the root */
  cells = [];

  /** @param {SVGElement} root */
  constructor(root) {
    this.path = svg("path", { class: "sq-way" }, root);
  }

  /**
   * Highlight the edges to a cell.
   * @param {Scene | null} scene null: highlight nothing
   * @param {Frame | null} frame
   * @param {string | null} key of the cell pointed at
   * @returns {string[]} keys of the cell's ancestors
   */
  draw(scene, frame, key) {
    this.cells = scene && frame ? wayTo(scene, key) : [];
    const edges = this.cells.filter(({ parent }) => parent);
    const d = (cell) => edgeOf(scene, cell)(frame, cell.parent, cell);
    attr(this.path, "d", edges.map(d).join(""));
    return this.cells.slice(1).map((cell) => cell.key);
  }
}

// A correction is the target's token where none of the drafted children was accepted. The children
// may lie between the correction and its parent, so the correction's edge passes above them.
/** @type {(scene: Scene, cell: Cell) => typeof treeFrame.edge} */
function edgeOf({ cells, looks }, cell) {
  const { state } = looks[cells.indexOf(cell)];
  const isAbove = state === "correction" && cell.row === cell.parent.row;
  return isAbove ? treeFrame.lifted : treeFrame.edge;
}
