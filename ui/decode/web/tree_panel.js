/* The token tree of a step: all nodes in a comb, or the step's own part of a large tree. */
import { focusLayout } from "./focus_layout.js";
import { makePanel } from "../../shared/web/panel.js";
import { Minimap } from "./minimap.js";
import { TreePointer } from "./tree_pointer.js";
import { Legend, TreeNote, TreeTools, heatShade } from "./tree_tools.js";
import { el, show } from "../../shared/web/dom.js";
import { LEAST_PITCH } from "../../shared/web/tree_frame.js";
import { allCells, keyOf, nodeOf } from "../../shared/web/tree_scene.js";
import { TreeView } from "../../shared/web/tree_view.js";

/**
 * @import { Item } from "./focus_layout.js"
 * @import { RunStore } from "./run_store.js"
 * @import { StepView } from "../../shared/web/step_view.js"
 * @import { Topology } from "../../shared/web/tree_layout.js"
 * @import { Cell, Column, Look, NodeId } from "../../shared/web/tree_scene.js"
 */

/**
 * The cells that are drawn of a step.
 * @typedef {object} Plan
 * @property {Item[]} cells
 * @property {number} rows
 * @property {number} cols
 * @property {boolean} [reserved] the last column is the target's
 */

const ABOVE = 480; // px of the page above the tree and below it
const LEAST_ROOF = 300; // px
const FLAT = 5; // rows; so flat a tree leaves room for the text below it
const MINIMAP_NODES = 60; // a tree of fewer has no minimap
const EASED = 0.4; // seconds from which on a step's colours change gradually

/** The panel "Token tree". */
export class TreePanel {
  followed = ""; // the step whose path was revealed
  /** @type {{version: number, i: number} | null} the run, and its step that was drawn first */
  opened = null;
  /** @type {{topo: Topology, cells: Cell[]} | null} all nodes */
  full = null;
  /** @type {StepView | null} */
  drawn = null;
  /** @type {Item | null} to be brought into view */
  wanted = null;

  /**
   * @param {RunStore} store
   * @param {Element} host
   */
  constructor(store, host) {
    this.store = store;
    const panel = makePanel(host, { part: "tree", title: "Token tree", cls: "sq-tree" });
    this.panel = panel;
    this.tools = new TreeTools(store, panel.tools, this);
    this.legend = new Legend(panel.body);
    this.treeNote = new TreeNote(store, panel.body);
    this.above = el("div", { class: "sq-tree-above" }, panel.body);
    this.split = el("div", { class: "sq-tree-split" }, panel.body);
    this.pointer = new TreePointer(this);
    const look = { cls: "sq-tree-scroll", hasColumns: true, numbers: ["q", "p"] };
    this.view = new TreeView(this.split, look, this.pointer);
    this.mini = new Minimap(this.split, (node) => this.pointer.pick(node));
  }

  // -- layout and paint --------------------------------------------------------------------------

  paint() {
    const { store } = this;
    const step = store.view();
    const { focused } = store;
    this.tools.paint(step);
    this.legend.paint(store, step);
    this.treeNote.paint();
    this.panel.root.classList.toggle("is-focused", focused);
    this.panel.root.classList.toggle("sq-heat", store.heat && Boolean(step));
    if (!step) return this.blank();
    this.resize(store.largest.rows, focused);
    if (!this.view.size.w) return; // not on screen yet: the observer calls again
    const plan = focused ? this.focusPlan(step) : this.fullPlan(step);
    const hits = store.query ? this.found(step) : [];
    this.draw(step, plan, hits);
    this.overview(step, hits);
    this.follow(step, plan);
    this.drawn = step;
  }

  blank() {
    this.drawn = null;
    this.view.clear();
    show(this.mini.root, false);
  }

  // How tall the panel would like to be: by rows for a small tree, by the window for a large one.
  resize(rows, focused) {
    const isFlat = rows <= FLAT && !focused;
    const least = Math.min(rows * LEAST_PITCH + 14, 690);
    const roof = Math.max(LEAST_ROOF, Math.min(window.innerHeight - ABOVE, 780));
    const wish = focused ? roof : Math.max(Math.min(rows * 42 + 14, roof), least, 230);
    const basis = Math.round(isFlat ? Math.max(rows * 46 + 30, 104) : wish + 22) + "px";
    if (this.split.style.flexBasis !== basis) this.split.style.flexBasis = basis;
  }

  // The grid has room for the largest tree of the run, so that it stays with a small one.
  /** @type {(step: StepView) => Plan} */
  fullPlan({ topo, path, kind }) {
    if (this.full?.topo !== topo) this.full = { topo, cells: allCells(topo) };
    const { cells } = this.full;
    const parent = cells[path.at(-1)];
    const bonus = { key: "bonus", parent, col: topo.levels, row: parent.row };
    const { rows, levels } = this.store.largest;
    return {
      cells: kind === "none" ? cells : [...cells, bonus],
      rows: Math.max(topo.rows, rows),
      cols: Math.max(topo.levels, levels) + 1,
      reserved: true,
    };
  }

  /** @type {(step: StepView) => Plan} */
  focusPlan(step) {
    const { items, ...size } = focusLayout(
      step.topo,
      step,
      this.store.opened,
      step.kind !== "none",
    );
    return { cells: items, ...size };
  }

  /** @type {(step: StepView, plan: Plan, hits: NodeId[]) => void} */
  draw(step, plan, hits) {
    const { store, view, drawn } = this;
    const { selected, pin, focused } = store;
    if (drawn?.topo !== step.topo) view.clear();
    const isMoving = store.playing || (store.follow && !store.done);
    const isEased = !isMoving || store.slow.picture !== null || store.duration(step.i) > EASED;
    view.draw({
      ...plan,
      focus: focused,
      looks: plan.cells.map((cell) => this.look(step, cell)),
      columns: columnsOf(plan.cols, step.topo.levels),
      home: keyOf(selected),
      isEased,
      marks: {
        "is-selected": store.slow.shown ? [] : [keyOf(selected)],
        "is-pinned": pin === null ? [] : [keyOf(pin)],
        "is-match": hits.map(keyOf),
        "is-tried": this.tried(step),
      },
    });
  }

  // The node whose trial the picture shows.
  tried(step) {
    const index = this.store.slow.shown?.trial ?? null;
    return index === null ? [] : [keyOf(step.trials[index].node)];
  }

  /** @type {(step: StepView, cell: Item) => Look} */
  look(step, cell) {
    const { store } = this;
    const node = nodeOf(cell.key);
    if (node === null) {
      const label = `… ${cell.count} more (${cell.nodes} nodes)`;
      return { state: "more-" + cell.what, label };
    }
    const count = cell.folded ? "▸" + cell.folded : "";
    const look = { state: this.stateOf(step, node), label: step.label(node), count };
    if (node === "bonus") return look;
    const heat = store.heat ? heatShade(store.share(step.step.tree, node)) : undefined;
    const isJudged = !store.slow.shown || ["accepted", "rejected"].includes(look.state);
    const numbers = node ? [step.q(node), isJudged ? step.p(node) : null] : undefined;
    return { ...look, heat, numbers };
  }

  /** @type {(step: StepView, node: NodeId) => string} as the picture in slow motion has it */
  stateOf(step, node) {
    const { shown } = this.store.slow;
    if (!shown) return step.stateOf(node);
    if (node === "bonus") return shown.hasBonus ? step.kind : "hidden";
    return shown.states[node];
  }

  /**
   * Nodes whose text holds the query, and the token from the target.
   * @param {StepView} step
   * @returns {NodeId[]}
   */
  found(step) {
    const query = this.store.query.toLowerCase();
    const holds = (node) =>
      [step.piece(node), step.label(node)].some((word) => word.toLowerCase().includes(query));
    /** @type {NodeId[]} */
    const nodes = [...step.topo.parents.keys()];
    if (step.kind !== "none") nodes.push("bonus");
    return nodes.filter(holds);
  }

  overview(step, hits) {
    const { mini, store, view } = this;
    const { n, rows } = step.topo;
    const isOver = view.isOver();
    const isTall = rows * LEAST_PITCH > 700;
    const isWanted = n > MINIMAP_NODES && (store.focused || isOver || isTall);
    show(mini.root, isWanted);
    if (!isWanted) return;
    mini.paint(step, store.selected, hits);
    mini.frame(store.focused || !isOver ? null : this.part());
  }

  part() {
    const { left, top, size, frame, zoom, head } = this.view; // reading the box would lay it out
    const wide = frame.width * zoom;
    const tall = frame.height * zoom;
    return {
      x: left / wide,
      y: top / tall,
      w: Math.min(1, size.w / wide),
      h: Math.min(1, (size.h - head) / tall),
    };
  }

  // When a step is new and the tree larger than its box, bring the end of the path into view; in
  // the step that a run opens with, the root.
  follow({ i, path }, { cells }) {
    const { version } = this.store;
    const place = [version, i, this.view.shape].join(":");
    if (this.followed === place) return;
    this.followed = place;
    if (this.opened?.version !== version) this.opened = { version, i };
    const wanted = keyOf(this.opened.i === i ? 0 : path.at(-1));
    this.wanted = cells.find(({ key }) => key === wanted) ?? null;
  }

  /** Scroll to what `follow` chose; after painting, because it asks for a layout. */
  settle() {
    const { wanted } = this;
    this.wanted = null;
    if (wanted && this.drawn) this.view.reveal(wanted);
  }
}

// The token from the target stands behind the levels of the tree.
/** @type {(cols: number, levels: number) => Column[]} */
const columnsOf = (cols, levels) =>
  Array.from({ length: cols }, (_, col) => {
    if (col >= levels) return { names: ["target"], state: "own" };
    return { names: col ? ["guess " + col, String(col), ""] : ["now", ""] };
  });
