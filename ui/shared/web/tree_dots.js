/* Draws a tree as dots, with labels beside them if there is room. */
import { attr, pool, svg, text } from "./dom.js";
import * as treeFrame from "./tree_frame.js";
import { TreeWay } from "./tree_way.js";

/**
 * @import { Frame } from "./tree_frame.js"
 * @import { Cell, Look, Scene } from "./tree_layout.js"
 * @import { TreeView } from "./tree_view.js"
 */

// Largest and smallest size of a dot in px.
const MOST = 7.5;
const LEAST = 2.2;
// Labels are written if a row has at least this height and a column at least this width, in px.
const LABEL_PITCH = 18;
const LABEL_COLUMN = 42;

/**
 * Draws the dots or the edges of many nodes, with one path for each state, which is fast. States
 * later in `states` are drawn on top.
 */
export class StatePaths {
  /**
   * @param {SVGElement} root
   * @param {string} cls
   * @param {string[]} states
   */
  constructor(root, cls, states) {
    this.paths = states.map((state) => svg("path", { class: cls, "data-s": state }, root));
    this.states = states;
  }

  /** @param {[string, string][]} shapes for each node, its state and the path of its dot or edge */
  draw(shapes) {
    /** @type {Record<string, string[]>} */
    const parts = {};
    for (const [state, d] of shapes) (parts[state] ||= []).push(d);
    this.states.forEach((state, i) => attr(this.paths[i], "d", (parts[state] ?? []).join("")));
  }
}

/** The dots and edges of a tree in an SVG element. */
export class TreeDots {
  /**
   * @param {SVGElement} root
   * @param {string[]} states in the order in which they are drawn; nodes in any other state have no
   *   dot and no edge
   */
  constructor(root, states) {
    this.root = root;
    this.edges = new StatePaths(root, "sq-edge", states);
    this.way = new TreeWay(root);
    this.dots = new StatePaths(root, "sq-dot", states);
    this.above = svg("path", { class: "sq-dot-above" }, root);
    this.ring = svg("circle", { class: "sq-ring" }, root);
    this.labels = pool(() => svg("text", { class: "sq-dot-label" }, root));
  }

  /**
   * @param {Scene} scene
   * @param {Frame} frame
   */
  draw({ cells, looks, marks }, frame) {
    const state = (i) => looks[i].state;
    const line = (cell) => (cell.parent ? treeFrame.edge(frame, cell.parent, cell) : "");
    this.edges.draw(cells.map((cell, i) => [state(i), line(cell)]));
    this.dots.draw(cells.map((cell, i) => [state(i), dotAt(frame, cell)]));
    const size = Math.max(LEAST, Math.min(MOST, frame.pitch * 0.7, frame.column * 0.5));
    this.root.style.setProperty("--sq-dot", size + "px");
    const [selected] = marks?.["is-selected"] ?? [];
    this.mark(
      cells.find(({ key }) => key === selected),
      frame,
    );
    this.write(cells, looks, frame, selected);
  }

  /**
   * Highlight the path from the root to the dot pointed at.
   * @param {Scene} scene
   * @param {TreeView} view
   */
  point(scene, { frame, pointed }) {
    this.way.draw(scene, frame, pointed);
    attr(this.above, "d", this.way.cells.map((cell) => dotAt(frame, cell)).join(""));
  }

  /**
   * Draw a ring around the selected dot.
   * @param {Cell | undefined} cell undefined: hide the ring
   * @param {Frame} frame
   */
  mark(cell, frame) {
    this.ring.style.display = cell ? "" : "none";
    if (!cell) return;
    attr(this.ring, "cx", frame.x(cell.col));
    attr(this.ring, "cy", frame.y(cell.row));
    attr(this.ring, "r", Math.max(4, Math.min(8, frame.pitch * 0.5)));
  }

  /** @type {(cells: Cell[], looks: Look[], frame: Frame, selected: string) => void} */
  write(cells, looks, frame, selected) {
    const isRoomy = frame.pitch >= LABEL_PITCH && frame.column >= LABEL_COLUMN;
    const count = isRoomy ? cells.length : 0;
    const labels = this.labels.take(count).slice(0, count);
    labels.forEach((label, i) => {
      const { key, col, row, end } = cells[i];
      const beside = end ? 8 : 6;
      attr(label, "x", (frame.x(col) + (key === selected ? 12 : beside)).toFixed(1));
      attr(label, "y", (frame.y(row) + (end ? 4 : -3.5)).toFixed(1));
      text(label, looks[i].state === "hidden" ? "" : (looks[i].label ?? ""));
    });
  }
}

/** @type {(frame: Frame, cell: Cell) => string} */
const dotAt = (frame, { col, row }) => `M${frame.x(col).toFixed(1)} ${frame.y(row).toFixed(1)}h0`;
