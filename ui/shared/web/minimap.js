/* A small picture of the whole tree. A frame can mark the part of the tree that the larger picture
   shows. All nodes in the same state are drawn as one path, so that a large tree is drawn
   quickly. */
import { attr, el, svg } from "./dom.js";
import { StatePaths } from "./tree_dots.js";

/**
 * @import { StepView } from "./step_view.js"
 * @import { NodeId } from "./tree_layout.js"
 * @typedef {{x: number, y: number, w: number, h: number}} Part left, top, width and height, each
 *   as a share of the picture's width or height
 */

const ORDER = ["never", "untested", "rejected", "accepted"];
const LEFT = 0.3; // free room before the first column, in columns
const DASH = 0.7; // length of a node's dash, in columns
const RIGHT = 0.2; // free room after the dashes of the last column, in columns

/** @type {(levels: number) => number} the picture's width, in columns */
const columns = (levels) => LEFT + levels - 1 + DASH + RIGHT;

/** The picture. */
export class Minimap {
  /** @type {import("./tree_layout.js").Topology | null} */
  topo = null;

  /**
   * @param {Element} host
   * @param {(node: number) => void} onPick called with the node nearest to a press
   */
  constructor(host, onPick) {
    this.root = el("div", { class: "sq-mini", "data-part": "minimap", hidden: "" }, host);
    el("div", { class: "sq-mini-title", text: "whole tree" }, this.root);
    const look = { class: "sq-mini-map", preserveAspectRatio: "none", role: "img" };
    this.box = svg("svg", { ...look, "aria-label": "Overview of the whole tree" }, this.root);
    this.paths = new StatePaths(this.box, "sq-mini-path", ORDER);
    this.window = svg("rect", { class: "sq-mini-window" }, this.box);
    this.hits = svg("path", { class: "sq-mini-hits" }, this.box);
    this.dot = svg("path", { class: "sq-mini-dot" }, this.box);
    this.box.addEventListener("click", (event) => this.topo && onPick(this.nearest(event)));
  }

  /**
   * @param {StepView} view
   * @param {NodeId} selected the node to mark as selected
   * @param {NodeId[]} hits the nodes that match a search
   */
  paint(view, selected, hits) {
    const { topo } = view;
    if (this.topo !== topo)
      attr(this.box, "viewBox", `${-LEFT} -0.5 ${columns(topo.levels)} ${topo.rows}`);
    this.topo = topo;
    const line = (node) => `M${topo.depth[node]} ${topo.row[node]}h${DASH}`;
    const lines = (nodes) =>
      nodes
        .filter((node) => node !== "bonus")
        .map(line)
        .join("");
    const state = (name) => (name === "root" ? "accepted" : name);
    this.paths.draw(view.state.map((name, node) => [state(name), line(node)]));
    attr(this.hits, "d", lines(hits));
    attr(this.dot, "d", lines([selected]));
  }

  /**
   * Draw the frame around the visible part.
   * @param {Part | null} part null: hide the frame
   */
  frame(part) {
    this.window.style.display = part ? "" : "none";
    if (!part || !this.topo) return;
    const { levels, rows } = this.topo;
    attr(this.window, "x", (-LEFT + part.x * columns(levels)).toFixed(3));
    attr(this.window, "y", (-0.5 + part.y * rows).toFixed(3));
    attr(this.window, "width", (part.w * columns(levels)).toFixed(3));
    attr(this.window, "height", (part.h * rows).toFixed(3));
  }

  nearest(event) {
    const { levels, rows, depth, row } = this.topo;
    const box = this.box.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * columns(levels) - LEFT - DASH / 2;
    const y = ((event.clientY - box.top) / box.height) * rows - 0.5;
    const away = depth.map((col, node) => Math.hypot((col - x) / levels, (row[node] - y) / rows));
    return away.indexOf(Math.min(...away));
  }
}
