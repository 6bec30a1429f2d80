/* The token tree: all nodes in a comb, or the step's own part of a large tree. What a person does
   to it is in tree_pointer.js. */
import { focusLayout } from "./focus_layout.js";
import { makePanel } from "../../shared/web/panel.js";
import { Minimap } from "./minimap.js";
import { TreePointer } from "./tree_pointer.js";
import { Legend, TreeNote, TreeTools, heatShade } from "./tree_tools.js";
import { attr, el, pool, show, text } from "../../shared/web/dom.js";
import * as format from "../../shared/web/format.js";
import * as treeFrame from "../../shared/web/tree_frame.js";
import { TreeCanvas } from "../../shared/web/tree_canvas.js";

/**
 * @import { Item } from "./focus_layout.js"
 * @import { RunStore } from "./run_store.js"
 * @import { NodeId, StepView } from "./step_view.js"
 * @import { Frame } from "../../shared/web/tree_frame.js"
 * @import { Topology } from "../../shared/web/tree_layout.js"
 */

/**
 * What is drawn of a tree. `bonus` is apart where it is not among the items.
 * @typedef {object} Plan
 * @property {Topology} topo
 * @property {Item[]} items
 * @property {Item[]} bonus
 * @property {number} rows
 * @property {number} cols
 * @property {(node: number) => Item | undefined} byNode
 */

const FLAT = 5; // rows; so flat a tree leaves room for the text below it
const HEADS = 22; // px of the names above the columns
const MINIMAP_NODES = 60; // a tree of fewer has no minimap
const EDGE = 40; // px kept between what is revealed and the box's edge
const MOST_WANTED = 110; // px of text for which the focus layout makes room in a column

// The name above a column, as far as `room` px hold it. The token from the target stands behind the
// levels of the tree.
function columnName(col, levels, room) {
  if (col >= levels) return "target";
  if (!col) return room > 28 ? "now" : "";
  if (room > 56) return "guess " + col;
  return room > 20 ? String(col) : "";
}

const keyOf = (node) => (typeof node === "number" ? "n" + node : node);

/** The panel "Token tree". */
export class TreeView {
  pass = 0;
  shape = ""; // what the frame was made for
  followed = ""; // the step whose path was revealed
  /** @type {{version: number, i: number} | null} the run, and its step that was drawn first */
  opened = null;
  headed = ""; // what the names of columns were written for
  /** @type {Topology | null} of the pills that are made */
  topo = null;
  /** @type {{topo: Topology, items: Item[], rows: number, cols: number} | null} all nodes */
  full = null;
  /** @type {{view: StepView, plan: Plan} | null} */
  drawn = null;
  /** @type {Frame | null} the frame that `oddsCount` is for */
  oddsFor = null;
  oddsCount = 0;
  /** @type {Record<string, Set<string | null>>} keys of the nodes with a class */
  marked = {};

  /**
   * @param {RunStore} store
   * @param {Element} host
   * @param {(isFlat: boolean) => void} onShape called with whether it is nearly a chain
   */
  constructor(store, host, onShape) {
    this.store = store;
    this.onShape = onShape;
    const panel = makePanel(host, { part: "tree", title: "Token tree", cls: "sq-tree" });
    this.panel = panel;
    this.tools = new TreeTools(store, panel.tools, this);
    this.legend = new Legend(panel.body);
    this.treeNote = new TreeNote(store, panel.body);
    this.split = el("div", { class: "sq-tree-split" }, panel.body);
    this.canvas = new TreeCanvas(this.split, "sq-tree-scroll", () => store.changed());
    this.nodes = this.canvas.nodes;
    this.heads = el("div", { class: "sq-cols", "aria-hidden": "true" });
    this.canvas.scroller.prepend(this.heads);
    this.headPool = pool(() => el("span", { class: "sq-col" }, this.heads));
    this.mini = new Minimap(this.split, (node) => this.pointer.pick(node));
    this.pointer = new TreePointer(this);
  }

  // -- layout and paint --------------------------------------------------------------------------

  paint() {
    const { store } = this;
    const view = store.view();
    const { focused } = store;
    this.tools.paint(view);
    this.legend.paint(store, view);
    this.treeNote.paint();
    this.panel.root.classList.toggle("is-focused", focused);
    this.panel.root.classList.toggle("sq-heat", store.heat && Boolean(view));
    if (!view) return this.blank();
    this.resize(store.largest.rows, focused);
    if (!this.canvas.size.w) return; // not on screen yet: the observer calls again
    const plan = focused ? this.focusPlan(view) : this.fullPlan(view);
    const hits = store.query ? this.found(view) : [];
    this.fitBox(plan, view);
    this.arrange(plan, view);
    this.edges(plan, view);
    this.marks(hits);
    this.columns(plan);
    this.overview(view, hits);
    this.follow(plan, view);
    this.drawn = { view, plan };
  }

  blank() {
    this.topo = null;
    this.drawn = null;
    this.headed = "";
    this.nodes.clear();
    this.nodes.draw([]);
    this.headPool.take(0);
    show(this.mini.root, false);
  }

  // How tall the panel would like to be: by rows for a small tree, by the window for a large one.
  resize(rows, focused) {
    const isFlat = rows <= FLAT && !focused;
    const least = Math.min(rows * treeFrame.LEAST_PITCH + 14, 690);
    const roof = Math.max(400, Math.min(window.innerHeight - 530, 780));
    const wish = focused ? roof : Math.max(Math.min(rows * 42 + 14, roof), least, 230);
    const basis = Math.round(isFlat ? Math.max(rows * 46 + 30, 104) : wish + 22) + "px";
    this.onShape(isFlat);
    if (this.split.style.flexBasis !== basis) this.split.style.flexBasis = basis;
  }

  /** @type {(view: StepView) => Plan} */
  fullPlan(view) {
    const { topo, path, kind } = view;
    if (this.full?.topo !== topo) this.full = allItems(topo);
    const { items } = this.full;
    const parent = items[path.at(-1)];
    const place = { col: topo.levels, row: parent.row, node: -1, folded: 0 };
    /** @type {Item[]} */
    const bonus = kind === "none" ? [] : [{ key: "bonus", kind: "bonus", parent, ...place }];
    return { ...this.full, bonus, byNode: (node) => items[node] };
  }

  /** @type {(view: StepView) => Plan} */
  focusPlan(view) {
    const { topo } = view;
    const plan = focusLayout(topo, view, this.store.opened, view.kind !== "none");
    const found = new Map(plan.items.map((item) => [item.node, item]));
    return { ...plan, topo, bonus: [], byNode: (node) => found.get(node) };
  }

  /** @type {(plan: Plan, view: StepView) => void} */
  fitBox(plan, view) {
    if (this.topo !== plan.topo) {
      this.topo = plan.topo;
      this.nodes.clear();
      this.canvas.zoom = 1;
    }
    const { focused: focus, largest, at } = this.store;
    const width = this.canvas.size.w;
    const height = this.canvas.size.h - HEADS;
    const isCrowded = focus && plan.cols * 86 > width - 28; // columns then depend on the text
    const rows = focus ? plan.rows : Math.max(plan.rows, largest.rows);
    const cols = focus ? plan.cols : Math.max(plan.cols, largest.levels + 1);
    const shape = [rows, cols, width, height, focus, this.canvas.family, isCrowded && at].join();
    const wants = (size) => this.wants(plan, view, size);
    const isSame = this.shape === shape;
    this.shape = shape;
    this.canvas.fit(
      isSame ? this.canvas.frame : treeFrame.makeFrame({ rows, cols, width, height, focus, wants }),
    );
  }

  /**
   * The cells now drawn, with their places in the picture.
   * @returns {{key: string, x: number, y: number}[]}
   */
  cells() {
    const seen = [...this.nodes.made].filter(([, item]) => item.seen === this.pass);
    return seen.map(([key, { where }]) => {
      const [x, y] = where.split("|")[0].split(",").map(Number);
      return { key, x, y };
    });
  }

  // Pixels each column's text would fill; cells that end their row need none.
  wants(plan, view, size) {
    const wants = new Array(plan.cols).fill(20);
    for (const item of plan.items) {
      if (item.kind === "more" || item.end) continue;
      const word = view.label(nodeOf(item)) + (item.folded ? " " + foldMark(item) : "");
      const wide = Math.min(treeFrame.widthOf(word, this.canvas.family) * size, MOST_WANTED);
      wants[item.col] = Math.max(wants[item.col], wide);
    }
    return wants;
  }

  // A row's last cell may use the free room to its right; the last column is the target's.
  room(item, plan) {
    const { frame } = this.canvas;
    const own = frame.text(item.col);
    if (!item.end) return own;
    const free = frame.x(plan.cols - 1) - frame.x(item.col) - frame.gutter - 20;
    return Math.max(own, this.store.focused ? 240 : Math.min(free, 240));
  }

  /** @type {(plan: Plan, view: StepView) => void} */
  arrange(plan, view) {
    const { nodes, frame, family } = this.canvas;
    const pass = ++this.pass;
    for (const item of [...plan.items, ...plan.bonus]) {
      const made = nodes.get(item.key, item.col + 1);
      nodes.place(made, frame, item, item.parent, pass);
      if (item.kind === "more") {
        const words = `… ${item.count} more (${item.nodes} nodes)`;
        nodes.write(made, frame, family, words, "", "more-" + item.what, 300);
        continue;
      }
      const node = nodeOf(item);
      const room = this.room(item, plan);
      nodes.write(made, frame, family, view.label(node), foldMark(item), view.stateOf(node), room);
      if (typeof node === "number") this.annotate(made, view, node);
    }
    nodes.sweep(pass);
  }

  // What is shown of a node beside its text: q and p, and heat.
  annotate(made, view, node) {
    const { store } = this;
    const { frame } = this.canvas;
    this.nodes.note(made, frame, frame.roomy && node ? this.odds(view, node) : "");
    if (store.heat) attr(made.g, "data-heat", heatShade(store.share(view.step.tree, node)));
  }

  // q and p where a column has room for both, q alone where it has room for one: the same for every
  // node of the run.
  odds(view, node) {
    const room = this.oddsRoom();
    const [q, p] = [view.q(node), view.p(node)];
    const parts = [q !== null && "q " + format.short(q), p !== null && "p " + format.short(p)];
    return parts.slice(0, room).filter(Boolean).join(" ");
  }

  // How many of the longest numbers fit below a pill of the narrowest column: 0, 1 or 2.
  oddsRoom() {
    const { frame } = this.canvas;
    if (this.oddsFor === frame) return this.oddsCount;
    const family = getComputedStyle(this.panel.root).fontFamily;
    const wide = (words) => treeFrame.widthOf(words, family) * treeFrame.NOTE_SIZE;
    const sizes = [wide("q 0.0088"), wide("q 0.0088 p 0.0088")];
    this.oddsFor = frame;
    this.oddsCount = sizes.filter((size) => size <= frame.least).length;
    return this.oddsCount;
  }

  // Rejected first, accepted over them, the one to the target's token last.
  edges(plan, view) {
    const { frame } = this.canvas;
    const { edge, branch, bonus } = treeFrame;
    const inState = (s) =>
      plan.items.filter(
        (item) => item.parent && item.kind === "node" && view.state[item.node] === s,
      );
    const last = [...plan.items, ...plan.bonus].find((item) => item.kind === "bonus");
    const drawn = [
      ...inState("rejected").map((item) => ({
        d: branch(frame, item.parent, item),
        s: "rejected",
      })),
      ...inState("accepted").map((item) => ({ d: edge(frame, item.parent, item), s: "accepted" })),
    ];
    if (last) {
      const way = last.parent.row === last.row ? bonus : branch;
      drawn.push({ d: way(frame, last.parent, last, view.kind === "bonus"), s: "own" });
    }
    this.nodes.draw(drawn);
  }

  // Selection and search as classes on the few nodes concerned.
  marks(hits) {
    const { selected, pin } = this.store;
    const home = this.nodes.made.has(keyOf(selected)) ? keyOf(selected) : "n0";
    this.swap("is-selected", [selected]);
    this.swap("is-pinned", [pin]);
    this.swap("is-match", hits);
    this.nodes.pills.classList.toggle("sq-searching", hits.length > 0);
    this.swap("is-home", [home], (g, isOn) => attr(g, "tabindex", isOn ? "0" : "-1"));
  }

  swap(name, nodes, also) {
    const keys = new Set(nodes.map(keyOf));
    const change = (key, isOn) => {
      const g = this.nodes.made.get(key)?.g;
      if (!g) return;
      g.classList.toggle(name, isOn);
      also?.(g, isOn);
    };
    for (const key of this.marked[name] || []) if (!keys.has(key)) change(key, false);
    for (const key of keys) change(key, true);
    this.marked[name] = keys;
  }

  /**
   * Nodes whose text holds the query, and the token from the target.
   * @param {StepView} view
   * @returns {NodeId[]}
   */
  found(view) {
    const query = this.store.query.toLowerCase();
    const holds = (node) =>
      [view.piece(node), view.label(node)].some((word) => word.toLowerCase().includes(query));
    /** @type {NodeId[]} */
    const nodes = [...view.topo.parents.keys()];
    if (view.kind !== "none") nodes.push("bonus");
    return nodes.filter(holds);
  }

  /**
   * The names above the columns at a zoom.
   * @param {Plan} plan
   * @param {number} zoom
   * @returns {string[]}
   */
  columnNames({ cols, topo }, zoom) {
    const room = (this.canvas.frame.least + this.canvas.frame.gutter) * zoom;
    return Array.from({ length: cols }, (_, col) => columnName(col, topo.levels, room));
  }

  columns(plan) {
    const { heads } = this;
    const { frame, zoom } = this.canvas;
    const { levels } = plan.topo;
    const key = [this.shape, zoom, plan.cols, levels].join();
    if (this.headed === key) return;
    this.headed = key;
    const free = (this.canvas.size.w - frame.width * zoom) / 2;
    const offset = this.store.focused ? 0 : Math.max(0, free);
    const spans = this.headPool.take(plan.cols);
    this.columnNames(plan, zoom).forEach((name, col) => {
      text(spans[col], name);
      spans[col].style.left = (offset + (frame.x(col) + 1) * zoom).toFixed(1) + "px";
      spans[col].classList.toggle("sq-col-own", col >= levels);
    });
    heads.style.width = Math.max(frame.width * zoom, 1) + "px";
  }

  overview(view, hits) {
    const { mini, store } = this;
    const { size, frame, zoom } = this.canvas;
    const { n, rows } = view.topo;
    const isOver = frame.height * zoom > size.h + 4 || frame.width * zoom > size.w + 4;
    const isTall = rows * treeFrame.LEAST_PITCH > 700;
    const isWanted = n > MINIMAP_NODES && (store.focused || isOver || isTall);
    show(mini.root, isWanted);
    if (!isWanted) return;
    mini.paint(view, store.selected, hits);
    mini.frame(store.focused || !isOver ? null : this.part());
  }

  part() {
    const { scroller, size, frame, zoom } = this.canvas;
    const wide = frame.width * zoom;
    const tall = frame.height * zoom;
    return {
      x: scroller.scrollLeft / wide,
      y: scroller.scrollTop / tall,
      w: Math.min(1, size.w / wide),
      h: Math.min(1, (size.h - HEADS) / tall),
    };
  }

  // When a step is new and the tree larger than its box, bring the end of the path into view; in
  // the step that a run opens with, the root.
  follow(plan, view) {
    const place = [this.store.version, view.i, this.shape].join(":");
    if (this.followed === place) return;
    this.followed = place;
    const { version } = this.store;
    if (this.opened?.version !== version) this.opened = { version, i: view.i };
    const isOpening = this.opened.i === view.i;
    const item = plan.byNode(isOpening ? 0 : view.path.at(-1));
    if (item) this.reveal(item);
  }

  /**
   * Scroll a cell into view.
   * @param {Item} item
   */
  reveal({ col, row }) {
    const { scroller, frame, zoom, size } = this.canvas;
    if (frame.height * zoom <= size.h && frame.width * zoom <= size.w) return;
    const x = frame.x(col) * zoom;
    const y = frame.y(row) * zoom;
    const far = frame.x(col + 1) * zoom + EDGE;
    const { scrollLeft: left, scrollTop: top, clientWidth: wide } = scroller;
    const tall = scroller.clientHeight - HEADS;
    if (x < left + EDGE || far > left + wide) scroller.scrollLeft = x - wide / 2;
    if (y < top + EDGE || y > top + tall - EDGE) scroller.scrollTop = y - tall / 2;
  }
}

const nodeOf = (item) => (item.kind === "bonus" ? "bonus" : item.node);
const foldMark = ({ folded }) => (folded ? "▸" + folded : "");

// All nodes of a tree in the comb.
function allItems(topo) {
  /** @type {Item[]} */
  const items = [];
  topo.parents.forEach((parent, node) => {
    const place = { col: topo.depth[node], row: topo.row[node] };
    const end = !topo.children[node].length;
    const above = node ? items[parent] : null;
    items.push({ key: "n" + node, kind: "node", node, parent: above, ...place, folded: 0, end });
  });
  return { topo, items, rows: topo.rows, cols: topo.levels + 1 };
}
