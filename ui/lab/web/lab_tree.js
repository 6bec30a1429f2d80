/* The tree shown in the Lab: the best one, the one predicted to be fastest, a named shape, or one
   drawn by hand. Each node shows the probability that a step accepts it. */
import { makeFold, makePanel } from "../../shared/web/panel.js";
import { formatShare } from "./export_tree.js";
import { LabTreeCaption } from "./lab_tree_caption.js";
import { LabTreeControls } from "./lab_tree_controls.js";
import { bestNodes, folds, keepsNumbers, planTree } from "./lab_tree_plan.js";
import { LabTreePointer } from "./lab_tree_pointer.js";
import { TreeNumbers } from "./tree_numbers.js";
import * as planner from "../../shared/web/planner.js";
import { el } from "../../shared/web/dom.js";
import * as treeFrame from "../../shared/web/tree_frame.js";
import { keyOf, topology } from "../../shared/web/tree_layout.js";
import { TreeView } from "../../shared/web/tree_view.js";

/**
 * @import { Item, Plan } from "./lab_tree_plan.js"
 * @import { Topology } from "../../shared/web/tree_layout.js"
 * @import { Look } from "../../shared/web/tree_layout.js"
 */

/**
 * The server's answer to a pasted tree: its `parents`, or why it is `refused`.
 * @typedef {{parents?: number[], refused?: string}} ReadTree
 */

/** The panel with the tree. */
export class LabTree {
  opened = new Set(); // nodes expanded by a person
  all = false; // whether every node is drawn ("All nodes")
  foldable = false; // whether the tree is so large or deep that some nodes are hidden without `all`
  at = 0; // the node that the Tab key reaches, if it is drawn
  name = ""; // of the tree at the last `read`
  /** @type {number[]} */
  parents = [];
  /** @type {number | null} */
  hover = null;
  /** @type {Plan | null} */
  drawn = null;
  /** @type {Map<number, Item>} */
  byNode = new Map();
  /** @type {Topology | null} */
  topo = null;

  #readFor = ""; // version of the state and name of the tree at the last `read`
  #refusedAt = -1; // version of the state at the last refusal; -1: none yet

  /**
   * @param {HTMLElement} host
   * @param {import("./lab_state.js").LabState} state
   * @param {import("./tree_numbers.js").Keeps} keeps
   * @param {((text: string) => Promise<ReadTree>) | null} readTree reads a pasted tree; null if the
   *   page cannot
   */
  constructor(host, state, keeps, readTree) {
    this.state = state;
    this.readTree = readTree;
    const panel = makePanel(host, { part: "lab-tree", title: "Tree", cls: "sq-lab-tree" });
    this.controls = new LabTreeControls(panel, this);
    this.box = el("div", { class: "sq-lab-box" }, panel.body);
    this.caption = new LabTreeCaption(panel.body, this.box);
    const more = makeFold(panel.foot, "More");
    this.controls.makeView(more);
    this.numbers = new TreeNumbers(panel.body, more, state, keeps);
    const look = { cls: "sq-lab-scroll", isLazy: true, fades: true };
    this.view = new TreeView(this.box, look, new LabTreePointer(this));
  }

  // -- what a person asks for ------------------------------------------------------------

  /**
   * Show why a request was refused, until the tree or its settings change. Without a field, the
   * message also disappears when the pointer enters or leaves a node.
   * @param {string} words
   * @param {HTMLInputElement | HTMLTextAreaElement} [field] the field of the refused input
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

  // Show the best tree, and follow it when the acceptance or the machine changes.
  choosePlanned() {
    this.state.set({ n: null, shown: "best" });
  }

  copyBestTree() {
    const { hand, growth, n, past } = this.state;
    this.setHandTree(past.replace(hand, growth.parents.slice(0, n)));
  }

  /** @param {number[]} parents of a tree that was pasted */
  use(parents) {
    const { hand, past, n, levels } = this.state;
    const isDeeper = levels !== null && Math.max(...planner.depthsOf(parents)) >= levels;
    if (parents.length > n || isDeeper)
      this.state.set({ n: Math.max(n, parents.length), levels: isDeeper ? null : levels });
    this.setHandTree(past.replace(hand, parents));
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

  // Called with the node that the pointer is on; null: none.
  point(node) {
    if (this.hover === node) return;
    this.hover = node;
    if (!this.caption.refusal.field) this.caption.refusal.say("");
    if (this.drawn) this.caption.paint(this);
  }

  // -- what is drawn ------------------------------------------------------------

  paint() {
    const { state, view } = this;
    if (this.#refusedAt !== state.version) this.caption.refusal.say("");
    this.numbers.paint();
    if (!view.size.w) return this.controls.paint();
    this.read();
    const plan = planTree(this.topo, this.limits());
    this.drawn = plan;
    this.byNode = new Map(plan.items.map((item) => [item.node, item]));
    this.draw(plan);
    this.controls.paint();
    this.caption.paint(this);
  }

  read() {
    const { state } = this;
    const key = state.version + "|" + state.shown;
    if (this.#readFor === key) return;
    this.#readFor = key;
    this.takeTree(state.shown, state.parents);
    this.topo = topology(this.parents);
    this.f = planner.scores(this.parents, state.even);
    this.worth = this.f.slice();
    for (let node = this.parents.length - 1; node > 0; node--)
      this.worth[this.parents[node]] += this.worth[node];
    this.labels = this.f.map((f, node) => (node ? formatShare(f) : "root"));
    this.letters = Math.max(...this.labels.map(({ length }) => length));
    this.best = bestNodes(this.f);
    this.hover = null;
    this.at = Math.min(this.at, this.parents.length - 1);
  }

  // Nodes stay expanded only if the tree has the same name as before and its nodes have kept their
  // numbers.
  takeTree(name, parents) {
    if (this.name !== name || !keepsNumbers(this.parents, parents)) this.opened.clear();
    this.name = name;
    this.parents = parents;
  }

  // What planTree needs to decide which nodes are drawn. Levels that do not fit are left out,
  // except in a tree drawn by hand.
  limits() {
    const { topo, state, view } = this;
    this.digit = treeFrame.widthOf("0", view.family);
    const fits = treeFrame.columns(view.size.w, this.letters * this.digit, this.tail(topo.n));
    const deepest = state.shown === "hand" ? Infinity : Math.max(fits, 2);
    this.foldable = folds(topo, deepest);
    return { all: this.all, opened: this.opened, best: this.best, deepest };
  }

  // Width in px of the text after a node's label, such as "▸12" for 12 hidden descendants.
  tail(hidden) {
    return hidden ? Math.ceil((String(hidden).length + 2) * this.digit * 13.5) : 0;
  }

  /** @type {(plan: Plan) => void} */
  draw({ items, rows, cols }) {
    const { state, at, topo } = this;
    const { shown } = state;
    const last = items.filter(({ col, end }) => end && col === cols - 1);
    this.box.style.setProperty("--rows", String(rows));
    const isGrown = shown === "best" && topo.n > 1;
    this.view.draw({
      cells: items,
      looks: items.map((item) => this.look(item)),
      rows,
      cols,
      word: this.letters * this.digit,
      tail: Math.max(...last.map(({ hidden }) => this.tail(hidden))),
      home: keyOf(at),
      marks: {
        "is-pinned": shown === "hand" ? [keyOf(at)] : [],
        "is-newest": isGrown ? [keyOf(topo.n - 1)] : [],
        "has-more": items.filter(({ hidden }) => hidden).map(({ key }) => key),
      },
    });
  }

  /** @type {(item: Item) => Look} */
  look({ node, hidden, end }) {
    const count = hidden && end ? "▸" + hidden : "";
    const state = node ? "never" : "root";
    return { state, label: this.labels[node], count, share: this.f[node] };
  }

  // The ranks of the nodes on the path to a node, counted from 1. The root has none.
  path(node) {
    const ranks = [];
    for (let at = node; at > 0; at = this.parents[at]) ranks.unshift(this.topo.rank[at] + 1);
    return ranks;
  }

  // The number that a person sees for a node. In the best tree, nodes are counted from 1 in order
  // of growth; in other trees, the root is 0.
  numberOf(node) {
    return node + (this.state.shown === "best" ? 1 : 0);
  }
}
