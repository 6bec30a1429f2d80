/* The tree of a cell, always drawn whole; its parts at a step of the traceback differ in ink and
   dash. */
import * as dom from "../../../shared/web/dom.js";
import { attr, el, show, svg, text } from "../../../shared/web/dom.js";

const MOST_PITCH = 26;
const MOST_COLUMN = 84;
const PAD = 12;
const TEXT_PITCH = 18; // px of a row and of a column from which on scores are written
const TEXT_COLUMN = 42;
const PARTS = ["other", "rest", "below"];

/** @typedef {ReturnType<typeof import("../../../shared/web/tree_layout.js").topology>} Topology */
/** @typedef {import("./dp_table.js").Step} Step */

/**
 * The part of the picture that each node belongs to at a step: its last child's subtree ("below"),
 * what the cell keeps ("rest"), or another cell's ("other").
 * @param {Topology} topo
 * @param {Step | null} step
 * @returns {string[]}
 */
export function dpPartition(topo, step) {
  const part = new Array(topo.n).fill(step ? "other" : "rest");
  /** @type {[number, string][]} */
  const open = step ? [[step.parent, "rest"]] : [];
  while (open.length) {
    const [node, name] = open.pop();
    part[node] = name;
    for (const child of topo.children[node]) {
      if (node === step.parent && child > step.node) continue; // given away in an earlier step
      open.push([child, child === step.node ? "below" : name]);
    }
  }
  return part;
}

/** The picture. */
export class DpTree {
  /**
   * @param {HTMLElement} host
   * @param {() => void} onRedraw called when the box has another size
   */
  constructor(host, onRedraw) {
    this.box = el("div", { class: "dp-tree", "data-part": "dp-tree" }, host);
    this.svg = svg("svg", { class: "dp-tree-svg", role: "img" }, this.box);
    const path = (cls, part) => svg("path", { class: cls, "data-p": part }, this.svg);
    this.edges = PARTS.map((part) => path("dp-edge", part));
    this.dots = PARTS.map((part) => path("dp-dot", part));
    this.ring = svg("circle", { class: "dp-ring" }, this.svg);
    this.labels = dom.pool(() => svg("text", { class: "dp-score" }, this.svg));
    const none = "No tree to draw: this cell has none.";
    this.empty = el("p", { class: "dp-note dp-tree-empty", text: none }, this.box);
    this.size = dom.sized(this.box, onRedraw);
  }

  /**
   * @param {Topology | null} topo null: nothing to draw
   * @param {number[]} scores f(v) of each node, written where there is room
   * @param {Step | null} step of the traceback
   */
  paint(topo, scores, step) {
    show(this.empty, !topo);
    this.svg.style.display = topo ? "" : "none"; // `hidden` does nothing to an SVG element
    const { w, h } = this.size;
    if (!topo || !w || !h) return;
    const frame = this.frame(topo);
    attr(this.svg, "viewBox", `0 0 ${w} ${h}`);
    attr(this.svg, "aria-label", `The cell's tree: ${topo.n} nodes on ${topo.levels} levels`);
    this.draw(topo, dpPartition(topo, step), frame);
    this.mark(topo, step, frame);
    this.write(topo, scores, step, frame);
  }

  // The grid of the whole tree.
  frame({ rows, levels }) {
    const { w, h } = this.size;
    const pitch = Math.min(MOST_PITCH, (h - 2 * PAD) / rows);
    const column = Math.min(MOST_COLUMN, (w - 2 * PAD - 26) / Math.max(levels - 1, 1));
    return {
      pitch,
      column,
      x: (col) => PAD + col * column,
      y: (row) => PAD + (row + 0.5) * pitch,
    };
  }

  draw({ n, parents, depth, row }, part, frame) {
    const edges = PARTS.map(() => []);
    const dots = PARTS.map(() => []);
    const at = (node) => ({ x: frame.x(depth[node]), y: frame.y(row[node]) });
    for (let node = 0; node < n; node++) {
      const kind = PARTS.indexOf(part[node]);
      const { x, y } = at(node);
      dots[kind].push(`M${x.toFixed(1)} ${y.toFixed(1)}h0`);
      if (node) edges[kind].push(edge(at(parents[node]), at(node), frame));
    }
    const dot = Math.max(2.2, Math.min(7.5, frame.pitch * 0.7, frame.column * 0.5));
    PARTS.forEach((name, kind) => {
      attr(this.edges[kind], "d", edges[kind].join(""));
      attr(this.dots[kind], "d", dots[kind].join(""));
      const wide = name === "below" ? Math.min(9, dot * 1.2) : dot;
      attr(this.dots[kind], "stroke-width", wide);
    });
  }

  mark({ depth, row }, step, { pitch, x, y }) {
    this.ring.style.display = step ? "" : "none";
    if (!step) return;
    attr(this.ring, "cx", x(depth[step.node]));
    attr(this.ring, "cy", y(row[step.node]));
    attr(this.ring, "r", Math.max(4, Math.min(8, pitch * 0.5)));
  }

  write({ n, children, depth, row }, scores, step, { pitch, column, x, y }) {
    const count = pitch >= TEXT_PITCH && column >= TEXT_COLUMN ? n : 0;
    const labels = this.labels.take(count).slice(0, count);
    labels.forEach((label, node) => {
      const leaf = !children[node].length;
      const beside = leaf ? 8 : 6;
      const left = x(depth[node]) + (node === step?.node ? 12 : beside);
      attr(label, "x", left.toFixed(1));
      attr(label, "y", (y(row[node]) + (leaf ? 4 : -3.5)).toFixed(1));
      text(label, shortScore(scores[node]));
    });
  }
}

// As treeFrame.edge, but in a picture of any scale: along the parent's row, down before the child's
// column, round the corner.
function edge(from, to, { pitch, column }) {
  if (from.y === to.y) return `M${from.x} ${from.y}H${to.x}`;
  const corner = Math.min(4, pitch / 2, column / 3);
  const trunk = to.x - Math.min(9, column / 2);
  const out = `M${from.x} ${from.y}H${trunk - corner}q${corner} 0 ${corner} ${corner}`;
  return `${out}V${to.y - corner}q0 ${corner} ${corner} ${corner}H${to.x}`;
}

function shortScore(score) {
  if (score >= 0.0095) return score.toFixed(2).replace(/^0/, "");
  return score ? "<.01" : "0";
}
