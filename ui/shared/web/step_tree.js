/* Draws the token tree of a step. In slow motion, a step is a series of pictures: then the tree is
   drawn as it is in the current picture. By default, a large tree is shown in the focus layout,
   which has only the part of the tree that matters in the step. */
import { attr, el, show, svg } from "./dom.js";
import { StatePaths } from "./tree_dots.js";
import { LEAST_PITCH } from "./tree_frame.js";
import { isResidual } from "./step_words.js";
import { LARGE, allCells, focusLayout, keyOf, nodeOf } from "./tree_layout.js";
import { heatShade } from "./tree_legend.js";
import { TreeView } from "./tree_view.js";

/**
 * @import { StepMotion } from "./step_motion.js"
 * @import { StepView } from "./step_view.js"
 * @import { Actions } from "./tree_keys.js"
 * @import { Cell, Column, Item, Look, NodeId, Topology } from "./tree_layout.js"
 */

/**
 * How the tree of a step is shown.
 * @typedef {object} StepLook
 * @property {boolean} [isFocused] whether to use the focus layout; otherwise all nodes are shown.
 *   Default: whether the tree has more than LARGE nodes
 * @property {Set<string>} [opened] keys of the cells that a person has unfolded
 * @property {{rows: number, levels: number}} [room] minimum size of the grid of all nodes, so that
 *   it keeps its size when a smaller tree follows
 * @property {number} [height] preferred height of the box in px
 * @property {NodeId | null} [selected] the node that is explained
 * @property {NodeId | null} [pin] the node that a person has pinned
 * @property {NodeId[]} [hits] nodes that match a search
 * @property {((node: number) => number) | null} [share] the share of steps in which a node of this
 *   tree was accepted, shown as its shade. Default: nodes have the colours of their states
 * @property {boolean} [isMoving] whether steps follow each other so fast that colours must change
 *   without a transition
 * @property {{node: NodeId, key: string}} [reveal] the node to scroll into view, once for each key
 *   and layout (see `layout`). Default: the end of the accepted path, once for each step and layout
 */

/**
 * What happens when a person acts on the tree of a step. `pick`: a node was pressed in the minimap.
 * @typedef {Actions & {pick: (node: number) => void}} StepActions
 */

/**
 * The cells to draw for a step, and the size of their grid.
 * @typedef {object} Plan
 * @property {Item[]} cells
 * @property {number} rows
 * @property {number} cols
 * @property {boolean} [reserved] see Scene
 */

// The key to the colours and numbers is shown only if the first column is wider than this (px) and
// the tree has at least this many rows.
const KEY_WIDE = 150;
const KEY_ROWS = 4;
const MINIMAP_NODES = 60; // only trees with more nodes have a minimap

/** The lines of the key, each with its mark (the state of a node, or which number a bar shows), how
 * that looks in the tree, and what it means. */
export const KEY = [
  ["accepted", "green", "accepted"],
  ["rejected", "red", "rejected"],
  ["untested", "grey outline", "not tried"],
  ["never", "faint", "out of reach"],
  ["q", "grey bar", "q, small model’s probability"],
  ["p", "blue bar", "p, large model’s probability"],
  ["", "q′, p′", "what a rejection left of them"],
];

/** The tree with its minimap. */
export class StepTree {
  followed = ""; // key of `reveal` and layout for which a node was last scrolled into view
  /** @type {{topo: Topology, cells: Cell[]} | null} the cells of all nodes */
  full = null;
  /** @type {StepView | null} */
  drawn = null;
  /** @type {Item | null} the cell to scroll into view */
  wanted = null;
  /** @type {number | null} the node given to `revealNext`, until the next picture */
  next = null;

  /**
   * @param {StepMotion} motion which determines the picture
   * @param {Element} host
   * @param {StepActions} actions
   */
  constructor(motion, host, actions) {
    this.motion = motion;
    this.root = el("div", { class: "sq-tree-split" }, host);
    const look = { cls: "sq-tree-scroll", hasColumns: true, numbers: ["q", "p"] };
    this.view = new TreeView(this.root, look, actions);
    this.mini = new Minimap(this.root, (node) => actions.pick(node));
    this.key = el("p", { class: "sq-tree-key sq-dim" }, this.root);
    for (const [mark, name, meaning] of KEY) {
      const line = el("span", { "data-s": mark }, this.key);
      if (mark) el("i", { class: "sq-key-mark" }, line);
      line.append(mark ? meaning : `${name}: ${meaning}`);
    }
  }

  /** @param {StepLook} look */
  paint(look) {
    const { step } = this.motion;
    const isFocused = isFocusedIn(step, look);
    this.root.classList.toggle("is-focused", isFocused);
    this.root.classList.toggle("sq-heat", Boolean(look.share && step));
    if (step) this.paintStep(step, look, isFocused);
    else this.blank();
  }

  /** @type {(step: StepView, look: StepLook, isFocused: boolean) => void} */
  paintStep(step, look, isFocused) {
    this.resize(look.height ?? usualHeight(step));
    const { w, h } = this.view.size;
    if (!w || !h) return; // not on screen yet: the view's observer causes another call
    const plan = isFocused ? focusPlan(step, look) : this.fullPlan(step, look);
    this.draw(step, plan, look);
    this.overview(step, look, isFocused);
    show(this.key, !look.share && this.hasRoomForKey(step, isFocused));
    this.follow(step, plan, look, this.layout(isFocused));
    this.drawn = step;
  }

  // The key goes into the first column, which is empty below the root.
  hasRoomForKey({ topo }, isFocused) {
    const { view } = this;
    return topo.rows >= KEY_ROWS && !isFocused && !view.isOver() && view.frame.x(1) > KEY_WIDE;
  }

  blank() {
    this.drawn = null;
    show(this.key, false);
    this.view.clear();
    show(this.mini.root, false);
  }

  resize(height) {
    const px = height + "px";
    const { style } = this.root;
    if (style.getPropertyValue("--sq-height") !== px) style.setProperty("--sq-height", px);
  }

  /** @type {(step: StepView, look: StepLook) => Plan} */
  fullPlan({ topo, path, kind }, { room }) {
    if (this.full?.topo !== topo) this.full = { topo, cells: allCells(topo) };
    const { cells } = this.full;
    const parent = cells[path.at(-1)];
    const bonus = { key: "bonus", parent, col: topo.levels, row: parent.row };
    return {
      cells: kind === "none" ? cells : [...cells, bonus],
      rows: Math.max(topo.rows, room?.rows ?? 1),
      cols: Math.max(topo.levels, room?.levels ?? 1) + 1,
      reserved: true,
    };
  }

  /** @type {(step: StepView, plan: Plan, look: StepLook) => void} */
  draw(step, plan, look) {
    const { view, drawn } = this;
    const { selected = null, pin = null, hits = [] } = look;
    if (drawn?.topo !== step.topo) view.clear();
    const marked = (node) => (node === null ? [] : [keyOf(node)]);
    view.draw({
      ...plan,
      focus: isFocusedIn(step, look),
      looks: plan.cells.map((cell) => this.look(step, cell, look)),
      columns: columnsOf(plan, step.topo.levels),
      home: keyOf(selected ?? 0),
      isEased: !look.isMoving,
      marks: {
        "is-selected": this.motion.shown ? [] : marked(selected),
        "is-pinned": marked(pin),
        "is-match": hits.map(keyOf),
        "is-tried": marked(this.motion.tried),
      },
    });
  }

  /** @type {(step: StepView, cell: Item, options: StepLook) => Look} */
  look(step, cell, { share }) {
    const node = nodeOf(cell.key);
    if (node === null) {
      const label = `… ${cell.count} more (${cell.nodes} nodes)`;
      return { state: "more-" + cell.what, label };
    }
    const count = cell.folded ? "▸" + cell.folded : "";
    const look = { state: this.motion.stateOf(node), label: step.label(node), count };
    if (node === "bonus") return look;
    const heat = share ? heatShade(share(node)) : undefined;
    const isJudged = !this.motion.shown || ["accepted", "rejected"].includes(look.state);
    if (!node) return { ...look, heat };
    const compared = isJudged && !step.fromLeaves ? step.trial(node) : undefined;
    const { q, p } = compared ?? { q: step.q(node), p: isJudged ? step.p(node) : null };
    const isPrimed = Boolean(compared) && isResidual(step, compared);
    return { ...look, heat, numbers: [q, p], isPrimed };
  }

  /** @type {(step: StepView, look: StepLook, isFocused: boolean) => void} */
  overview(step, { selected = null, hits = [] }, isFocused) {
    const { mini, view } = this;
    const { n, rows } = step.topo;
    const isOver = view.isOver();
    const isTall = rows * LEAST_PITCH > 700;
    const isWanted = n > MINIMAP_NODES && (isFocused || isOver || isTall);
    show(mini.root, isWanted);
    if (!isWanted) return;
    mini.paint(step, selected ?? 0, hits);
    mini.frame(isFocused || !isOver ? null : this.part());
  }

  part() {
    // what the view knows of its box: measuring the box would force a layout
    const { left, top, size, frame, zoom, head } = this.view;
    const wide = frame.width * zoom;
    const tall = frame.height * zoom;
    return {
      x: left / wide,
      y: top / tall,
      w: Math.min(1, size.w / wide),
      h: Math.min(1, (size.h - head) / tall),
    };
  }

  // A text that tells layouts apart; when it changes, `follow` chooses a node to scroll to. In the
  // focus layout it holds only the size of the box. So unfolding a cell does not change it, and the
  // cell is not scrolled out of view.
  layout(isFocused) {
    const { shape, size } = this.view;
    return isFocused ? `focus ${size.w} ${size.h}` : shape;
  }

  // Chooses the node to scroll into view. The node given to `revealNext` comes first. Otherwise it
  // is the node of `reveal`, if its key or the layout is new. Without `reveal`, it is the end of
  // the accepted path, if the step or the layout is new.
  /** @type {(step: StepView, plan: Plan, look: StepLook, layout: string) => void} */
  follow(step, { cells }, { reveal }, layout) {
    const place = (reveal?.key ?? "") + ":" + layout;
    const isKnown = reveal !== undefined || this.drawn === step;
    const { next } = this;
    if (next === null && this.followed === place && isKnown) return;
    this.followed = place;
    this.next = null;
    const wanted = keyOf(next ?? reveal?.node ?? step.path.at(-1));
    this.wanted = cells.find((one) => one.key === wanted) ?? null;
  }

  /** Scroll to the node that `follow` chose. This forces a layout, so call it after painting. */
  settle() {
    const { wanted } = this;
    this.wanted = null;
    if (wanted && this.drawn) this.view.reveal(wanted);
  }

  /**
   * Scroll a node into view once the next picture is painted, for a node that is not drawn yet.
   * @param {number} node
   */
  revealNext(node) {
    this.next = node;
  }

  /**
   * Scroll a node into view, if it is drawn.
   * @param {number} node
   */
  reveal(node) {
    const cell = this.view.scene?.cells.find(({ key }) => key === keyOf(node));
    if (cell) this.view.reveal(cell);
  }
}

/** @type {(step: StepView | null, look: StepLook) => boolean} */
const isFocusedIn = (step, { isFocused }) => isFocused ?? (step?.topo.n ?? 0) > LARGE;

/** @type {(step: StepView) => number} px */
const usualHeight = ({ topo }) => Math.max(120, Math.min(topo.rows * 42 + 44, 420));

/** @type {(step: StepView, look: StepLook) => Plan} */
function focusPlan(step, { opened = new Set() }) {
  const { items, ...size } = focusLayout(step.topo, step, opened, step.kind !== "none");
  return { cells: items, ...size };
}

/** @type {(plan: Plan, levels: number) => Column[]} */
function columnsOf({ cells, cols }, levels) {
  const own = cells.find(({ key }) => key === "bonus")?.col;
  return Array.from({ length: cols }, (_, col) => {
    if (col === own) return { names: ["large model", "large", ""], state: "own" };
    if (col >= levels) return { names: [""] };
    return {
      names: col
        ? [col > 1 ? String(col) : "guess 1", String(col), ""]
        : ["text so far", "text", ""],
    };
  });
}

/**
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
    this.root = el("div", { class: "sq-mini sq-stack", "data-part": "minimap", hidden: "" }, host);
    el("div", { class: "sq-mini-title sq-dim", text: "whole tree" }, this.root);
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
