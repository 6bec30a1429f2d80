/* The tree shown in the Lab: each node shows how often a step accepts it. The tree grows with the
   node budget, or is edited by hand. */
import { makePanel } from "../../shared/web/panel.js";
import { formatShare } from "./export_tree.js";
import { LabTreeCaption } from "./lab_tree_caption.js";
import { LabTreeControls } from "./lab_tree_controls.js";
import { bestNodes, findNodes, folds, planTree } from "./lab_tree_plan.js";
import { LabTreePointer } from "./lab_tree_pointer.js";
import * as planner from "./planner.js";
import { attr, el, text } from "../../shared/web/dom.js";
import { PanAndZoom } from "../../shared/web/pan_and_zoom.js";
import { TreeCanvas } from "../../shared/web/tree_canvas.js";
import * as treeFrame from "../../shared/web/tree_frame.js";
import * as treeLayout from "../../shared/web/tree_layout.js";

const BEYOND = 12; // extra rows labelled above and below the visible area

/** @typedef {import("./lab_tree_plan.js").Plan} Plan */

/** The panel with the tree. */
export class LabTree {
  left = 0; // where the box is scrolled to
  top = 0;
  pass = 0;
  opened = new Set(); // nodes that were expanded
  all = false; // every node is to be drawn
  foldable = false; // not every node would be drawn
  at = 0; // the node that the keyboard is on
  query = "";
  /** @type {number | null} */
  hover = null;
  /** @type {Plan | null} */
  drawn = null;
  /** @type {Map<number, import("./lab_tree_plan.js").Item>} */
  byNode = new Map();
  /** @type {import("./lab_tree_plan.js").Topology | null} */
  topo = null;

  #known = ""; // the state that was read last
  #shape = ""; // what the frame was made for
  #waiting = false; // for the frame in which the tree is drawn again after a scroll
  #refusedAt = -1;

  /**
   * @param {HTMLElement} host
   * @param {import("./lab_state.js").LabState} state
   */
  constructor(host, state) {
    this.state = state;
    const panel = makePanel(host, { part: "lab-tree", title: "Tree", cls: "sq-lab-tree" });
    this.controls = new LabTreeControls(panel, this);
    this.caption = new LabTreeCaption(panel.body);
    const box = el("div", { class: "sq-lab-box" }, panel.body);
    this.canvas = new TreeCanvas(box, "sq-lab-scroll", () => state.changed());
    this.fades = el("div", { class: "sq-lab-fades" }, box);
    this.pan = new PanAndZoom(this.canvas, () => state.changed());
    this.pointer = new LabTreePointer(this);
  }

  // -- what a person asks for ------------------------------------------------------------

  /**
   * Show why a request was refused, until the state changes or, if no field is given, the pointer
   * moves to another node.
   * @param {string} words
   * @param {HTMLInputElement} [field] where it was typed
   */
  refuse(words, field) {
    this.#refusedAt = this.state.version;
    this.caption.refusal.say(words + ".", field);
    this.state.changed();
  }

  choose(name) {
    const { hand, n, past } = this.state;
    const untouched = hand.length === 1 && n > 1 && !past.past.length;
    if (name === "hand" && untouched) this.at = 0;
    this.state.set({ shown: name });
  }

  copyBestTree() {
    const { hand, growth, n, past } = this.state;
    this.setHandTree(past.replace(hand, growth.parents.slice(0, n)));
  }

  clear() {
    this.setHandTree(this.state.past.replace(this.state.hand, [-1]));
  }

  undo() {
    this.setHandTree(this.state.past.undo(this.state.hand));
  }

  setHandTree(parents) {
    this.at = Math.min(this.at, parents.length - 1);
    this.state.set({ hand: parents });
  }

  toggleAll() {
    this.all = !this.all;
    this.state.changed();
  }

  // The node under the pointer, null for none.
  point(node) {
    if (this.hover === node) return;
    this.hover = node;
    if (!this.caption.refusal.field) this.caption.refusal.say("");
    if (this.drawn) this.caption.paint(this);
  }

  scrolled(left, top) {
    this.left = left;
    this.top = top;
    if (this.#waiting) return;
    this.#waiting = true;
    requestAnimationFrame(() => {
      this.#waiting = false;
      this.paint();
    });
  }

  // -- what is drawn ------------------------------------------------------------

  paint() {
    const { state, canvas } = this;
    if (this.#refusedAt !== state.version) this.caption.refusal.say("");
    if (!canvas.size.w) return this.controls.paint();
    this.read();
    const plan = planTree(this.topo, this.limits());
    this.drawn = plan;
    this.byNode = new Map(plan.items.map((item) => [item.node, item]));
    canvas.fit(this.frameFor(plan));
    this.controls.paint();
    this.fade();
    this.pills(plan);
    this.marks();
    this.caption.paint(this);
  }

  read() {
    const { state } = this;
    const key = state.version + "|" + state.shown;
    if (this.#known === key) return;
    this.#known = key;
    this.parents = state.parents;
    this.topo = treeLayout.topology(this.parents);
    this.f = planner.scores(this.parents, state.even);
    this.worth = this.f.slice();
    for (let node = this.parents.length - 1; node > 0; node--)
      this.worth[this.parents[node]] += this.worth[node];
    const labels = this.f.map((f, node) => this.label(node, f).length);
    this.letters = labels.reduce((most, length) => Math.max(most, length));
    this.best = bestNodes(this.f);
    this.hover = null;
    this.at = Math.min(this.at, this.parents.length - 1);
  }

  label(node, f = this.f[node]) {
    return node ? formatShare(f) : "root";
  }

  // What is drawn of a large or deep tree; a tree drawn by hand is drawn whole.
  limits() {
    const { topo, state, canvas } = this;
    this.digit = treeFrame.widthOf("0", canvas.family);
    const fits = treeFrame.columns(canvas.size.w, this.letters * this.digit, this.tail(topo.n));
    const deepest = state.shown === "hand" ? Infinity : Math.max(fits, 2);
    this.foldable = folds(topo, deepest);
    return { all: this.all, opened: this.opened, best: this.best, deepest };
  }

  // Px that the number of `hidden` nodes takes behind a label.
  tail(hidden) {
    return hidden ? Math.ceil((String(hidden).length + 2) * this.digit * 13.5) : 0;
  }

  frameFor({ items, rows, cols }) {
    const { size, family, frame } = this.canvas;
    const { w: width, h: height } = size;
    const word = this.letters * this.digit;
    const last = items.filter(({ col, end }) => end && col === cols - 1);
    const tail = Math.max(...last.map(({ hidden }) => this.tail(hidden)));
    const shape = [rows, cols, width, height, family, word, tail].join();
    if (this.#shape === shape) return frame;
    this.#shape = shape;
    return treeFrame.makeFrame({ rows, cols, width, height, focus: false, word, tail });
  }

  /** Fade each edge beyond which the picture continues. */
  fade() {
    const { left, top, canvas, fades } = this;
    const { frame, zoom, size } = canvas;
    const more = (far) => (far > 2 ? "26px" : "0px");
    const wanted = {
      left: more(left),
      right: more(frame.width * zoom - left - size.w),
      top: more(top),
      bottom: more(frame.height * zoom - top - size.h),
    };
    for (const [side, px] of Object.entries(wanted))
      if (fades.style.getPropertyValue("--" + side) !== px)
        fades.style.setProperty("--" + side, px);
  }

  pills(plan) {
    const pass = ++this.pass;
    const { nodes, frame } = this.canvas;
    const [first, last] = this.rows();
    for (const item of plan.items) {
      const made = nodes.get(item.key, item.col + 1);
      nodes.place(made, frame, item, item.parent, pass);
      if (item.row >= first && item.row <= last) this.write(made, item);
    }
    nodes.sweep(pass);
  }

  // The label of a node; those out of view are written when they are scrolled to.
  write(made, { node, hidden, end, col }) {
    const { nodes, frame, family } = this.canvas;
    const count = hidden && end ? "▸" + hidden : "";
    const room = end ? 240 : frame.text(col);
    nodes.write(made, frame, family, this.label(node), count, node ? "never" : "root", room);
    const newest = this.state.shown === "best" && node > 0 && node === this.topo.n - 1;
    made.g.style.setProperty("--h", Math.sqrt(this.f[node]).toFixed(3));
    made.g.classList.toggle("has-more", hidden > 0);
    made.g.classList.toggle("is-newest", newest);
  }

  // First and last row in view, and some beyond.
  rows() {
    const { frame, zoom, size } = this.canvas;
    const at = (y) => (y / zoom - frame.y(0)) / frame.pitch;
    return [at(this.top) - BEYOND, at(this.top + size.h) + BEYOND];
  }

  marks() {
    const { nodes } = this.canvas;
    const hits = new Set(this.hits());
    const home = this.byNode.has(this.at) ? this.at : 0;
    nodes.pills.classList.toggle("sq-searching", hits.size > 0);
    for (const [node, { key }] of this.byNode) {
      const { g } = nodes.made.get(key);
      g.classList.toggle("is-match", hits.has(node));
      g.classList.toggle("is-pinned", this.state.shown === "hand" && node === this.at);
      attr(g, "tabindex", node === home ? "0" : "-1");
    }
    text(this.controls.found, this.query ? hits.size + " of " + this.topo.n : "");
  }

  // -- find ------------------------------------------------------------

  // The ranks on the path to a node, from 1.
  path(node) {
    const ranks = [];
    for (let at = node; at > 0; at = this.parents[at]) ranks.unshift(this.topo.rank[at] + 1);
    return ranks;
  }

  find(query) {
    this.query = query;
    this.state.changed();
  }

  hits() {
    if (!this.query || !this.topo) return [];
    return findNodes(this.query, this.topo, this.state.shown === "best" ? 1 : 0);
  }

  // Expand the path to a node and bring it into view.
  goTo(node) {
    if (node === undefined) return;
    for (let at = this.parents[node]; at >= 0; at = this.parents[at]) this.opened.add(at);
    this.at = node;
    this.paint();
    const { frame, zoom, scroller } = this.canvas;
    const { col, row } = this.byNode.get(node);
    scroller.scrollTo({
      left: frame.x(col) * zoom - scroller.clientWidth / 2,
      top: frame.y(row) * zoom - scroller.clientHeight / 2,
    });
    this.focus(node, true);
  }

  // Give a drawn node the focus.
  focus(node, preventScroll = false) {
    const item = this.byNode.get(node);
    if (item) this.canvas.nodes.made.get(item.key).g.focus({ preventScroll });
  }
}
