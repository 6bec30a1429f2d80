/* The DP microscope: the table of the best trees, one cell at a time, with the tree it stands for.

   const dp = Sequoia.mountDp(element, { getState, onSelect });
     getState() -> { rates, n, levels }   as in the lab; `levels` null: no cap. More keys do no harm.
     onSelect(parents, { n, levels, branches, tokens })   somebody pressed "Use this tree"; parents in breadth-first order.
   dp.update()    the state has changed (cheap to call on every drag event; the work is done once a frame).
   dp.destroy()   take it off the page.
   A state that cannot be used is refused in words on the panel, and what was shown stays.

   Needs, before it: glyphs.js, dom.js, layout.js, stage.js (S.panel), lab/planner.js, lab/dp_table.js, lab/dp_shade.js, lab/dp_grid.js,
   lab/dp_explain.js, lab/dp_tree.js, lab/dp_walk.js, lab/dp_panel.js; and stage.css, lab/dp.css. */
import { DpPanel } from "./dp_panel.js";
import * as dpShade from "./dp_shade.js";
import { DpTable, workThroughTable } from "./dp_table.js";
import * as planner from "../planner.js";
import { show, text } from "../../../shared/web/dom.js";
import * as treeLayout from "../../../shared/web/tree_layout.js";

const { SIZES } = DpPanel;
const AT_ONCE = 2 ** 24; // sums of a table so small that it is made before the next frame

class Dp extends DpPanel {
  constructor(element, { getState, onSelect } = {}) {
    super();
    this.getState = getState;
    this.onSelect = onSelect;
    this.kind = "regret";
    this.chosenSize = 128;
    this.cell = null; // {n, levels, b}
    this.step = 0;
    this.pinned = false;
    this.build(element);
    this.watchTheme();
    this.update();
  }

  /** Colours are drawn, so a change of theme has to be drawn too. */
  watchTheme() {
    this.themes = new MutationObserver(() => this.changed());
    for (const node of [document.documentElement, document.body])
      this.themes.observe(node, { attributes: true, attributeFilter: ["class"] });
  }

  destroy() {
    this.stop?.();
    this.themes.disconnect();
    this.root.remove();
  }

  // -- state ------------------------------------------------------------

  update() {
    this.stale = true;
    this.changed();
  }

  /** The state as it now is; the table is made anew only where it would be another. */
  read() {
    this.stale = false;
    const { rates, n, levels } = this.getState?.() || {};
    this.least = SIZES.find((size) => size >= n) || SIZES[0];
    const nodes = Math.max(this.chosenSize, this.least);
    const key = JSON.stringify([rates, nodes]);
    const moved = this.asked !== JSON.stringify([n, levels]);
    this.asked = JSON.stringify([n, levels]);
    if (this.key_ !== key) {
      let table;
      try {
        table = new DpTable(rates, nodes);
      } catch (error) {
        return this.refuse(error.message);
      }
      this.key_ = key;
      this.start(table, n, levels);
    } else if (moved && this.table) this.home(n, levels);
    this.refuse("");
  }

  refuse(words) {
    text(this.error, words && "The table keeps its last vector: " + words + ".");
    show(this.error, Boolean(words));
  }

  /** A small table at once; a large one in slices, shown when all its levels are there. */
  start(table, n, levels) {
    this.stop?.();
    this.stop = null;
    const small = (table.nodes ** 2 / 2) * table.branches * Math.min(table.nodes, 32) <= AT_ONCE;
    if (small) {
      for (const _ of table.grow()); // eslint-disable-line no-unused-vars
      return this.take(table, n, levels);
    }
    this.progress(table);
    this.stop = workThroughTable(table, {
      onProgress: (now) => this.progress(now),
      onDone: (now) => {
        this.take(now, n, levels);
        this.changed();
      },
    });
  }

  progress(table) {
    text(
      this.state,
      `computing ${table.nodes.toLocaleString("en-US")} nodes, level ${table.levels + 1} …`,
    );
  }

  take(table, n, levels) {
    const before = this.table;
    const whole = !before || this.widen || this.grid.window.count >= before.nodes;
    this.widen = false;
    this.stop = null;
    this.table = table;
    if (whole) this.grid.window = { from: 1, count: table.nodes };
    this.grid.fit(table);
    text(
      this.state,
      table.full
        ? `${table.levels} levels computed; more would not fit, so a tree of more levels may have more tokens`
        : "",
    );
    const keep = this.own && before && this.told === this.asked; // a cell that somebody chose
    this.told = this.asked;
    if (!keep) return this.home(n, levels);
    this.at({
      n: Math.min(this.cell.n, table.nodes),
      levels: Math.min(this.cell.levels, table.levels),
      b: Math.min(this.cell.b, table.branches),
    });
  }

  /** To the cell of the lab's own tree. */
  home(n, levels) {
    const { table } = this;
    const size = Math.max(1, Math.min(table.nodes, n || 64));
    const height = Math.max(1, Math.min(table.levels, levels ?? table.levels));
    this.told = this.asked;
    this.own = false;
    this.pinned = false;
    this.at({ n: size, levels: height, b: table.best(size, height).branches });
  }

  at(cell) {
    this.cell = cell;
    this.step = 0;
    const { topo, parents, steps } = this.reading(cell);
    Object.assign(this, { topo, parents, steps });
    this.grid.reveal(cell);
    this.changed();
  }

  /** The tree of a cell: how it was put together and what each node is worth. */
  reading({ n, levels, b }) {
    const traced = this.table.trace(n, levels, b);
    if (!traced) return { topo: null, parents: null, steps: [] };
    this.scores = planner.scores(traced.parents, [...this.table.rates]);
    return { ...traced, topo: treeLayout.topology(traced.parents) };
  }

  /** Another cell, or the same one at other levels. `quiet`: the pointer only passed by. */
  move(to, quiet = false) {
    if (!this.table) return;
    const { table } = this;
    const from = this.step ? this.shown().cell : this.cell;
    const within = (value, low, high) => Math.max(low, Math.min(high, value));
    const cell = { ...from, ...to };
    cell.levels = within(cell.levels, 1, table.levels);
    cell.n = within(cell.n, 1, table.nodes);
    cell.b = within(cell.b, 0, table.branches);
    if (
      !this.step &&
      cell.n === this.cell.n &&
      cell.b === this.cell.b &&
      cell.levels === this.cell.levels
    )
      return;
    this.aloud = !quiet;
    this.own = true;
    this.at(cell);
  }

  press(cell) {
    const same = this.pinned && !this.step && cell.n === this.cell.n && cell.b === this.cell.b;
    this.move(cell);
    this.set({ pinned: !same });
    this.aloud = true;
  }

  goTo(step) {
    this.step = step;
    this.aloud = true;
    this.pinned = true; // or the pointer on its way would undo the walk
    this.grid.reveal(this.shown().cell);
    this.changed();
  }

  resize(size) {
    this.chosenSize = size;
    this.widen = true; // once the table is there
    this.update();
  }

  set(changes) {
    Object.assign(this, changes);
    this.changed();
  }

  select() {
    if (!this.parents) return;
    const { n, levels, b } = this.cell;
    this.onSelect?.([...this.parents], {
      n,
      levels,
      branches: b,
      tokens: this.table.value(n, levels, b),
    });
  }

  /** The cell under discussion: the chosen one, or where the walk stands. */
  shown() {
    const step = this.steps[this.step] || null;
    return { step, cell: this.step && step ? step.cell : this.cell };
  }

  // -- paint ------------------------------------------------------------

  /** Painted once a frame. */
  changed() {
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      if (this.stale) this.read();
      this.paint();
    });
  }

  paint() {
    if (!this.table || !this.cell || !this.root.isConnected) return;
    const { table } = this;
    const { step, cell } = this.shown();
    const split = table.split(cell.n, cell.levels, cell.b);
    this.paintCells(cell.levels);
    this.grid.paintMarks(cell, split, this.step ? this.cell : null, this.pinned);
    this.explain.paint(table, cell, this.aloud);
    this.aloud = false;
    this.tree.paint(this.topo, this.scores, step, "No tree to draw: this cell has none.");
    this.walk.give(this.steps, this.step);
    this.paintTools(cell.levels);
  }

  /** Cells are drawn only where what they show has changed. */
  paintCells(levels) {
    const { table, kind, grid } = this;
    const style = getComputedStyle(this.root);
    const stops = [0, 1, 2, 3, 4].map((i) => style.getPropertyValue("--dp-" + i).trim());
    const { from, count } = grid.window;
    const look = [
      levels,
      kind,
      from,
      count,
      grid.firstRow,
      grid.size.w,
      grid.size.h,
      window.devicePixelRatio,
      style.color,
      ...stops,
    ].join();
    if (this.look === look && this.drawn === table) return;
    if (!grid.size.w) return;
    if (this.ranged !== table || this.rangeKey !== kind + levels) {
      this.range = dpShade.range(kind, table, levels);
      [this.ranged, this.rangeKey] = [table, kind + levels];
    }
    [this.look, this.drawn] = [look, table];
    grid.paintCells(levels, { kind, range: this.range, stops });
    text(this.legendTitle, dpShade.KINDS[kind].title);
    dpShade.marks(kind, this.range).forEach((mark, i) => text(this.marks[i], mark));
  }

  // -- keyboard ------------------------------------------------------------

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || !this.table) return;
    const { cell } = this.shown();
    const far = event.shiftKey ? 10 : 1;
    const top = () => this.table.best(cell.n, cell.levels).branches;
    const acts = {
      ArrowLeft: () => this.move({ n: cell.n - far }),
      ArrowRight: () => this.move({ n: cell.n + far }),
      ArrowUp: () => this.move({ b: cell.b - 1 }),
      ArrowDown: () => this.move({ b: cell.b + 1 }),
      PageUp: () => this.move({ levels: cell.levels + 1 }),
      PageDown: () => this.move({ levels: cell.levels - 1 }),
      Home: () => this.move({ n: 1 }),
      End: () => this.move({ n: this.table.nodes }),
      b: () => this.move({ b: top() }),
      Enter: () => this.set({ pinned: !this.pinned }),
      Escape: () => this.set({ pinned: false }),
      "+": () => this.grid.zoom(2, cell.n),
      "-": () => this.grid.zoom(0.5, cell.n),
    };
    const name = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (!Object.hasOwn(acts, name)) return;
    acts[name]();
    event.preventDefault();
    event.stopPropagation();
  }
}

export const mountDp = (element, options) => new Dp(element, options);
