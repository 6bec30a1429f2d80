/* The tree of one cell of the table in dp_table.js. At a step of the traceback, each part of the
   tree has its own look. */
import * as dpWords from "./dp_words.js";
import { attr, button, el, show, text } from "../../../shared/web/dom.js";
import { count, twoDecimals } from "../../../shared/web/format.js";
import { rove } from "../../../shared/web/roving_focus.js";
import { allCells, keyOf } from "../../../shared/web/tree_layout.js";
import { TreeView } from "../../../shared/web/tree_view.js";
import TOOLTIPS from "../../../../assets/tooltips.json" with { type: "json" };

/**
 * @import { Scene, Topology } from "../../../shared/web/tree_layout.js"
 * @import { Step } from "./dp_table.js"
 */

const PARTS = ["other", "rest", "below"];

/**
 * The part of the tree that each node belongs to at a step of the traceback. "below": the step's
 * node and the nodes below it. "rest": the other nodes in the tree of the step's cell. "other":
 * nodes outside the tree of the step's cell. Without a step, all nodes are "rest".
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
      if (node === step.parent && child > step.node) continue; // split off in an earlier step
      open.push([child, child === step.node ? "below" : name]);
    }
  }
  return part;
}

/** The picture of the tree. */
class DpTree {
  /** @param {HTMLElement} host */
  constructor(host) {
    this.box = el("div", { class: "dp-tree", "data-part": "dp-tree" }, host);
    this.view = new TreeView(this.box, { cls: "sq-tree-whole", dots: PARTS });
    const none = "No tree exists for this cell.";
    this.empty = el("p", { class: "dp-note dp-tree-empty sq-dim", text: none }, this.box);
  }

  /**
   * @param {Topology | null} topo null: no tree exists for the cell
   * @param {number[]} scores probability that a decoding step accepts each node
   * @param {Step | null} step of the traceback
   */
  paint(topo, scores, step) {
    show(this.empty, !topo);
    this.view.draw(topo && this.scene(topo, scores, step));
    if (topo) this.view.describe(labelOf(topo));
  }

  /** @type {(topo: Topology, scores: number[], step: Step | null) => Scene} */
  scene(topo, scores, step) {
    const parts = dpPartition(topo, step);
    return {
      cells: allCells(topo),
      looks: parts.map((state, node) => ({ state, label: twoDecimals(scores[node]) })),
      rows: topo.rows,
      cols: topo.levels,
      marks: { "is-selected": step ? [keyOf(step.node)] : [] },
    };
  }
}

/**
 * The picture's label for screen readers.
 * @param {Topology} topo
 * @returns {string}
 */
export const labelOf = ({ n, levels }) =>
  `The cell's tree: ${count(n, "node")} on ${count(levels, "level")}`;

const USE = "Use this tree";
const USED = "This tree is in use";

/** A heading with the two buttons, and the picture of the tree. */
export class DpTreePanel {
  /**
   * @param {HTMLElement} host
   * @param {import("./dp_view.js").Dp} dp
   */
  constructor(host, dp) {
    this.dp = dp;
    const head = el("div", { class: "dp-tree-head" }, host);
    this.title = el("p", { class: "dp-tree-title", "data-part": "dp-tree-title" }, head);
    const hint = TOOLTIPS["button hold a cell"];
    this.pin = button(head, {
      icon: "pin",
      label: "Pin this cell",
      hint,
      cls: "dp-pin",
      act: () => dp.set({ pinned: !dp.pinned }),
    });
    const use = { text: USE, cls: "dp-use sq-btn-main", part: "dp-use" };
    this.use = button(head, { ...use, act: () => dp.select() });
    rove(head);
    this.tree = new DpTree(host);
  }

  /** Show the current state. */
  paint() {
    const { topo, scores, parents, pinned } = this.dp;
    const { step } = this.dp.shown();
    this.tree.paint(topo, scores, step);
    attr(this.pin, "aria-pressed", String(pinned));
    // the panel with the Lab's tree may be out of view, so the button says whether it already shows
    // the cell's tree
    const isShown = Boolean(parents) && this.dp.isShown(parents);
    this.use.disabled = !parents || isShown;
    text(this.use.querySelector("span"), isShown ? USED : USE);
    text(this.title, this.words());
  }

  words() {
    const { topo, table, cell } = this.dp;
    if (!topo) return dpWords.name(cell);
    const size = `${count(topo.n, "node")} on ${count(topo.levels, "level")}`;
    const value = table.value(cell.n, cell.levels, cell.b);
    return `${size}, ${dpWords.tokens(value)} tokens per step`;
  }
}
