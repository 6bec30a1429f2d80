/* The panel with the DP table: the table as a picture, and for the selected cell its explanation,
   its tree and its traceback. */
import { DpControls, DpLegend, SIZES } from "./dp_controls.js";
import { DpExplain } from "./dp_explain.js";
import { DpGrid } from "./dp_grid.js";
import * as dpShade from "./dp_shade.js";
import { DpTable, MAX_LEVELS, MAX_NODES } from "./dp_table.js";
import { DpTreePanel } from "./dp_tree.js";
import { DpWalk } from "./dp_walk.js";
import * as planner from "../../../shared/web/planner.js";
import { followTheme } from "../../../shared/web/chart.js";
import { el, oncePerFrame, show, tell } from "../../../shared/web/dom.js";
import { makePanel } from "../../../shared/web/panel.js";
import * as treeLayout from "../../../shared/web/tree_layout.js";

/** @typedef {import("./dp_table.js").Cell} Cell */
/** @typedef {import("./dp_table.js").Step} Step */

/**
 * The Lab's acceptance vector, its node budget, and its level cap (null: none). The table has at
 * least `n` nodes, if it can, and opens at the cell of the best tree for this budget and cap.
 * @typedef {{rates: number[], n: number, levels: number | null}} Wanted
 */

/**
 * @typedef {object} Options
 * @property {() => Wanted} getState
 * @property {(parents: number[]) => void} [onSelect] called when "Use this tree" is pressed, with
 *   the tree's parents in breadth-first order
 * @property {(parents: number[]) => boolean} [isShown] whether the Lab shows this tree
 */

/** The view. */
export class Dp {
  kind = "regret"; // what the colour shows
  chosenSize = SIZES[0];
  least = SIZES[0]; // the smallest size of a table that covers the Lab's node budget
  /** @type {DpTable | null} */
  table = null;
  /** The selected cell. @type {Cell | null} */
  cell = null;
  own = false; // whether the visitor selected the cell
  step = 0; // index in `steps`
  pinned = false; // whether the cell stays selected when the pointer moves
  aloud = false; // whether screen readers speak the next explanation
  /** The traceback of the cell. @type {Step[]} */
  steps = [];
  /** @type {number[] | null} */
  parents = null;
  /** @type {import("../../../shared/web/tree_layout.js").Topology | null} */
  topo = null;
  /** @type {number[]} */
  scores = [];

  #stale = true; // the Lab's state must be read again
  #made = ""; // the vector and size of the table
  /** The node budget and level cap that were last requested.
   * @type {Pick<Wanted, "n" | "levels">} */
  #budget = { n: 0, levels: null };
  #asked = ""; // #budget as text
  #shownFor = ""; // #asked when `home` or `take` last ran
  #look = ""; // what the painted cells depend on besides the table, as text
  /** @type {DpTable | null} */
  #painted = null;
  #ranged = ""; // the shade and level that #range was computed for
  /** @type {import("./dp_shade.js").Range} */
  #range = { low: 0, high: 0, cut: false };

  /**
   * @param {HTMLElement} element
   * @param {Options} options
   */
  constructor(element, { getState, onSelect = () => {}, isShown = () => false }) {
    this.getState = getState;
    this.isShown = isShown;
    this.onSelect = onSelect;
    this.build(element);
    followTheme([{ draw: () => this.changed() }]); // colours are drawn on a canvas
    this.update();
  }

  build(element) {
    const stage = element.closest(".sq-stage") ? null : "sq-stage";
    this.root = el("div", { class: stage }, element);
    const about = { part: "dp", title: "DP table", term: "DP table", cls: "dp-panel" };
    const panel = makePanel(this.root, about);
    el("span", { class: "sq-badge", text: "expected" }, panel.titleBox);
    this.controls = new DpControls(panel.tools, this);
    const error = { class: "sq-banner sq-banner-error", role: "alert", "data-part": "dp-error" };
    this.error = el("p", { ...error, hidden: "" }, panel.body);
    const split = el("div", { class: "dp-split" }, panel.body);
    const left = el("div", { class: "dp-left" }, split);
    const right = el("div", { class: "dp-right" }, split);
    this.grid = new DpGrid(left, {
      point: (cell) => !this.pinned && this.move(cell, true),
      press: (cell) => this.press(cell),
      redraw: () => {
        if (this.cell) this.grid.reveal(this.shown().cell);
        this.changed();
      },
    });
    this.grid.box.addEventListener("keydown", (event) => this.key(event));
    this.legend = new DpLegend(left);
    this.explain = new DpExplain(left);
    this.tree = new DpTreePanel(right, this);
    this.walk = new DpWalk(right, (i) => this.goTo(i));
  }

  // -- state ------------------------------------------------------------

  /** Call this when the Lab's state has changed. Cheap: the work is done at most once a frame. */
  update() {
    this.#stale = true;
    this.changed();
  }

  // Reads the Lab's state. The table is recomputed only if its vector or size has changed. If the
  // state is invalid, the panel shows why and keeps the previous table.
  read() {
    this.#stale = false;
    const { rates, n, levels } = this.getState();
    this.least = SIZES.find((size) => size >= n) ?? MAX_NODES;
    const nodes = Math.max(this.chosenSize, this.least);
    const asked = JSON.stringify([n, levels]);
    const moved = this.#asked !== asked;
    this.#asked = asked;
    this.#budget = { n, levels };
    const made = JSON.stringify([rates, nodes]);
    if (this.#made === made) {
      if (moved && this.table) this.home();
      return this.refuse("");
    }
    try {
      this.take(new DpTable(rates, nodes));
      this.#made = made;
      this.refuse("");
    } catch (error) {
      this.refuse(error.message);
    }
  }

  refuse(words) {
    const kept = this.table ? " The table is still for the previous vector." : "";
    tell(this.error, words && `Not updated: ${words}.${kept}`);
  }

  take(table) {
    const hadOne = Boolean(this.table);
    this.table = table;
    this.grid.fit(table);
    const keep = this.own && hadOne && this.#shownFor === this.#asked;
    this.#shownFor = this.#asked;
    if (keep) this.at(this.within(this.cell));
    else this.home();
  }

  // Go to the cell of the best tree for the Lab's budget.
  home() {
    const { table } = this;
    const { n, levels } = this.#budget;
    const size = clamp(n || 64, 1, table.nodes);
    const height = clamp(levels ?? table.levels, 1, table.levels);
    this.#shownFor = this.#asked;
    this.own = false;
    this.pinned = false;
    this.at({ n: size, levels: height, b: table.best(size, height).branches });
  }

  // Whether the Lab's tree may be larger than the table.
  get #isCut() {
    const { n, levels } = this.#budget;
    const isDeep = !this.table.settled && Math.min(n, levels ?? n) > MAX_LEVELS;
    return n > MAX_NODES || isDeep;
  }

  // The nearest cell that can be selected: one with a row in the table, or the best of its column
  // even if it has no row. With two levels, all nodes but the root are children of the root, but
  // the table has no rows for more children than there are acceptance rates.
  within({ n, levels, b }) {
    const { table } = this;
    const size = clamp(n, 1, table.nodes);
    const height = clamp(levels, 1, table.levels);
    const best = table.best(size, height);
    const isBest = b === best.branches && best.value > -Infinity;
    return { n: size, levels: height, b: isBest ? b : clamp(b, 0, this.grid.rows - 1) };
  }

  at(cell) {
    const traced = this.table.trace(cell.n, cell.levels, cell.b);
    this.cell = cell;
    this.step = 0;
    this.steps = traced?.steps ?? [];
    this.parents = traced?.parents ?? null;
    this.topo = traced && treeLayout.topology(traced.parents);
    this.scores = traced ? planner.scores(traced.parents, [...this.table.rates]) : [];
    this.grid.reveal(cell);
    this.changed();
  }

  /**
   * Select another cell.
   * @param {Partial<Cell>} to the fields that change
   * @param {boolean} [quiet] whether the pointer only passed over it
   */
  move(to, quiet = false) {
    if (!this.table) return;
    const cell = this.within({ ...this.shown().cell, ...to });
    if (!this.step && same(cell, this.cell)) return;
    this.aloud = !quiet;
    this.own = true;
    this.at(cell);
  }

  press(cell) {
    const again = this.pinned && !this.step && same({ ...this.cell, ...cell }, this.cell);
    this.move(cell);
    this.set({ pinned: !again });
    this.aloud = true;
  }

  goTo(step) {
    this.step = step;
    this.aloud = true;
    this.pinned = true; // otherwise moving the pointer would leave the traceback
    this.grid.reveal(this.shown().cell);
    this.changed();
  }

  resize(size) {
    this.chosenSize = size;
    this.update();
  }

  set(changes) {
    Object.assign(this, changes);
    this.changed();
  }

  select() {
    if (!this.parents) return;
    this.onSelect([...this.parents]);
  }

  // The current step of the traceback (null if there is none), and the cell being explained. The
  // selected cell is explained at the first step, and the step's own cell at later steps.
  shown() {
    const step = this.steps[this.step] || null;
    return { step, cell: this.step && step ? step.cell : this.cell };
  }

  // -- paint ------------------------------------------------------------

  changed = oncePerFrame(() => {
    if (this.#stale) this.read();
    this.paint();
  });

  paint() {
    if (!this.table || !this.cell || !this.root.isConnected) return;
    const { cell } = this.shown();
    const split = this.table.split(cell.n, cell.levels, cell.b);
    this.paintCells(cell.levels);
    this.grid.paintMarks(cell, split, this.step ? this.cell : null, this.pinned);
    this.legend.showStart(this.step > 0);
    show(this.legend.limit, this.#isCut);
    this.explain.paint(this.table, cell, this.aloud);
    this.aloud = false;
    this.tree.paint();
    this.walk.show(this.steps, this.step);
    this.controls.paint();
  }

  // Cells are redrawn only if what they show has changed.
  paintCells(levels) {
    const { table, kind, grid } = this;
    const style = getComputedStyle(this.root);
    const stops = [0, 1, 2, 3, 4].map((i) => style.getPropertyValue("--dp-" + i).trim());
    const box = [grid.wide, grid.tall, window.devicePixelRatio];
    const look = [levels, kind, ...box, style.color, ...stops].join();
    if (!grid.wide || (this.#look === look && this.#painted === table)) return;
    const ranged = kind + levels;
    if (this.#painted !== table || this.#ranged !== ranged)
      this.#range = dpShade.range(kind, table, levels);
    this.#ranged = ranged;
    this.#look = look;
    this.#painted = table;
    grid.paintCells(levels, { kind, range: this.#range, stops });
    this.legend.paint(kind, this.#range);
  }

  // -- keyboard ------------------------------------------------------------

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || !this.table) return;
    const name = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const acts = this.keys(event.shiftKey ? 10 : 1);
    if (!Object.hasOwn(acts, name)) return;
    acts[name]();
    event.preventDefault();
    event.stopPropagation();
  }

  keys(far) {
    const { cell } = this.shown();
    const { table } = this;
    return {
      ArrowLeft: () => this.move({ n: cell.n - far }),
      ArrowRight: () => this.move({ n: cell.n + far }),
      ArrowUp: () => this.move({ b: cell.b - 1 }),
      ArrowDown: () => this.move({ b: cell.b + 1 }),
      PageUp: () => this.move({ levels: cell.levels + 1 }),
      PageDown: () => this.move({ levels: cell.levels - 1 }),
      Home: () => this.move({ n: 1 }),
      End: () => this.move({ n: table.nodes }),
      b: () => this.move({ b: table.best(cell.n, cell.levels).branches }),
      Enter: () => this.set({ pinned: !this.pinned }),
      Escape: () => this.set({ pinned: false }),
    };
  }
}

const clamp = (value, low, high) => Math.max(low, Math.min(high, value));
const same = (a, b) => a.n === b.n && a.levels === b.levels && a.b === b.b;
