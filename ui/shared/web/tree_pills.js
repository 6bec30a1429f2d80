/* Draws a tree: a pill for each cell, and the edges between them. The SVG elements of a cell are
   made once and then only changed, until `clear` removes them. */
import { attr, pool, svg, text } from "./dom.js";
import { short } from "./format.js";
import * as treeFrame from "./tree_frame.js";
import { TreeWay } from "./tree_way.js";

/**
 * @import { Frame } from "./tree_frame.js"
 * @import { Cell, Look, Scene } from "./tree_layout.js"
 * @import { TreeView } from "./tree_view.js"
 */

const LONGEST = "=0.0088"; // the longest number below a pill
const BAR = 44; // px, length of a bar for 1
const BAR_APART = 5; // px between two bars
/** The states with coloured edges. These edges are drawn over the grey ones, in this order. */
const LIT = {
  rejected: { s: "rejected", way: treeFrame.branch },
  accepted: { s: "accepted", way: treeFrame.edge },
  bonus: { s: "own", way: treeFrame.branch },
  correction: { s: "own", way: treeFrame.lifted },
};

/**
 * The elements of one cell, and the values that were last written to them.
 * @typedef {object} Pill
 * @property {SVGGElement} g
 * @property {SVGRectElement} rect
 * @property {SVGTextElement} label
 * @property {SVGTextElement | null} sub the note below the pill
 * @property {SVGPathElement[]} bars of the numbers in the note, each after its track
 * @property {SVGPathElement | null} edge from its parent
 * @property {string} where its place, as last written
 * @property {number} seen number of the last call of `draw` that placed it
 * @property {string | null} word its label, count and room for text, as last written; null: write
 *   it again
 * @property {string | null} state
 * @property {number | undefined} share
 */

/** The nodes and edges of a tree in an SVG element. */
export class TreePills {
  /** @type {Map<string, Pill>} by key */
  made = new Map();
  pass = 0; // counts the calls of `draw`
  /** @type {Record<string, Set<string>>} keys of the cells marked with a class, by class */
  #marked = {};
  home = "n0"; // key of the cell that the Tab key reaches
  /** @type {Frame | null} the frame for which `#fitting` was computed */
  #fittingFor = null;
  #fitting = 0;

  /**
   * @param {SVGElement} root
   * @param {string} label of the tree, for a screen reader
   * @param {string[]} numbers names of the numbers below a pill, such as q and p
   */
  constructor(root, label, numbers) {
    const tree = { class: "sq-pills", role: "tree", "aria-label": label };
    this.numbers = numbers;
    this.base = svg("g", { class: "sq-edges" }, root);
    this.halo = svg("g", { class: "sq-halos" }, root);
    this.active = svg("g", { class: "sq-edges" }, root);
    this.way = new TreeWay(root);
    this.root = svg("g", tree, root);
    this.halos = pool(() => svg("path", { class: "sq-halo" }, this.halo));
    this.paths = pool(() => svg("path", { class: "sq-edge" }, this.active));
  }

  clear() {
    this.made = new Map();
    this.base.replaceChildren();
    this.root.replaceChildren();
    this.light([], null);
    this.way.draw(null, null, null);
  }

  /**
   * @param {Scene} scene
   * @param {TreeView} view
   */
  draw(scene, view) {
    const { cells, looks, home, isEased } = scene;
    const shown = cells
      .map((cell, i) => ({ cell, look: looks[i] }))
      .filter(({ look }) => look.state !== "hidden");
    this.root.classList.toggle("is-eased", Boolean(isEased));
    this.pass++;
    this.drawCells(shown, scene, view);
    this.sweep();
    this.light(shown, view.frame);
    this.point(scene, view);
    if (view.pan) this.setHome(home);
  }

  /** @type {(shown: {cell: Cell, look: Look}[], scene: Scene, view: TreeView) => void} */
  drawCells(shown, scene, view) {
    const { frame } = view;
    const [first, last] = view.writtenRows();
    for (const { cell, look } of shown) {
      const pill = this.get(cell.key);
      this.place(pill, frame, cell);
      if (cell.row < first || cell.row > last) continue;
      this.paint(pill, look);
      this.write(pill, look, roomOf(cell, scene, frame), view);
      this.note(pill, look, view);
    }
  }

  /**
   * The elements of a cell, made on first use.
   * @param {string} key
   * @returns {Pill}
   */
  get(key) {
    const before = this.made.get(key);
    if (before) return before;
    const look = { class: "sq-n", tabindex: "-1", role: "treeitem", "data-key": key };
    const g = svg("g", look, this.root);
    if (key[0] === "n") attr(g, "data-node", key.slice(1));
    const pill = {
      g,
      rect: svg("rect", {}, g),
      label: svg("text", { class: "sq-n-text" }, g),
      sub: null,
      bars: [],
      edge: key === "bonus" ? null : svg("path", { class: "sq-edge" }, this.base),
      where: "",
      seen: 0,
      word: null,
      state: null,
      share: undefined,
    };
    this.made.set(key, pill);
    return pill;
  }

  /** @type {(pill: Pill, frame: Frame, cell: Cell) => void} */
  place(pill, frame, cell) {
    pill.seen = this.pass;
    const { parent: from } = cell;
    const { pill: tall, size } = frame;
    const spot = frame.x(cell.col) + "," + frame.y(cell.row);
    const where = [spot, tall, size, cell.col, from?.col, from?.row].join("|");
    if (pill.where === where) return;
    pill.where = where;
    pill.word = null;
    attr(pill.g, "transform", "translate(" + spot + ")");
    attr(pill.g, "aria-level", cell.col + 1);
    attr(pill.rect, "height", tall);
    attr(pill.rect, "y", -tall / 2);
    attr(pill.rect, "rx", Math.min(5, tall / 3).toFixed(1));
    attr(pill.label, "y", (size * 0.345).toFixed(2));
    attr(pill.label, "font-size", size.toFixed(2));
    if (pill.edge && from) attr(pill.edge, "d", treeFrame.edge(frame, from, cell));
  }

  /** @type {(pill: Pill, look: Look) => void} */
  paint(pill, { state, heat = null, share }) {
    const { g } = pill;
    attr(g, "data-heat", heat);
    const strength = share === undefined ? "" : Math.sqrt(share).toFixed(3);
    if (pill.share !== share) g.style.setProperty("--h", strength);
    pill.share = share;
    if (pill.state === state) return;
    pill.state = state;
    g.dataset.s = state;
    pill.word = null;
  }

  /** @type {(pill: Pill, look: Look, most: number, view: TreeView) => void} */
  write(pill, { label = "", count = "" }, most, { frame, family }) {
    const full = [label, count, most].join("\n");
    if (pill.word === full) return;
    pill.word = full;
    const tail = count ? treeFrame.widthOf(" " + count, family) * frame.size : 0;
    const [cut, width, isSqueezed] = treeFrame.fit(label, most - tail, frame.size, family);
    const wide = Math.max(width + tail + 7, frame.pill * 0.9);
    text(pill.label, count ? cut + " " + count : cut);
    attr(pill.label, "textLength", isSqueezed ? (width + tail).toFixed(1) : null);
    attr(pill.label, "lengthAdjust", isSqueezed ? "spacingAndGlyphs" : null);
    attr(pill.label, "x", ((wide - width - tail) / 2).toFixed(1));
    attr(pill.rect, "width", wide.toFixed(1));
  }

  // Writes the note below a pill: as many numbers as fit in the narrowest column. The style sheet
  // shows it only for a pill that is pointed at, focused or selected; the others have bars.
  /** @type {(pill: Pill, look: Look, view: TreeView) => void} */
  note(pill, { numbers, isPrimed }, view) {
    const { frame } = view;
    const known = frame.roomy && numbers ? numbers : [];
    const parts = known.slice(0, this.fitting(view));
    const prime = isPrimed ? "′" : "";
    const named = (value, i) =>
      value === null ? null : `${this.numbers[i]}${prime}=${short(value)}`;
    const words = parts.map(named).filter(Boolean).join(" ");
    if (!words && !pill.sub) return;
    this.drawBars(pill, known, frame);
    pill.sub ||= svg("text", { class: "sq-n-sub", "font-size": treeFrame.NOTE_SIZE }, pill.g);
    attr(pill.sub, "x", 1);
    attr(pill.sub, "y", frame.pill / 2 + 12);
    text(pill.sub, words);
  }

  /** @type {(pill: Pill, numbers: (number | null)[], frame: Frame) => void} */
  drawBars(pill, numbers, frame) {
    const long = Math.min(BAR, frame.least);
    this.numbers.forEach((which, i) => {
      const track = (pill.bars[2 * i] ||= svg("path", { class: "sq-n-track" }, pill.g));
      const look = { class: "sq-n-bar", "data-which": which };
      const bar = (pill.bars[2 * i + 1] ||= svg("path", look, pill.g));
      const share = numbers[i] ?? null;
      const start = `M1 ${frame.pill / 2 + 4 + i * BAR_APART}h`;
      attr(track, "d", share === null ? null : start + long);
      attr(bar, "d", share === null ? null : start + (share * long).toFixed(1));
    });
  }

  // How many numbers fit below a pill of the narrowest column, if each is as long as LONGEST.
  fitting({ frame, face }) {
    if (this.#fittingFor === frame) return this.#fitting;
    const longest = this.numbers.map((name) => name + LONGEST);
    const wide = (_, i) => treeFrame.widthOf(longest.slice(0, i + 1).join(" "), face);
    const fits = (width) => width * treeFrame.NOTE_SIZE <= frame.least;
    this.#fittingFor = frame;
    this.#fitting = longest.map(wide).filter(fits).length;
    return this.#fitting;
  }

  // Shows the cells that this call of `draw` placed, and hides all others.
  sweep() {
    for (const { g, edge, seen } of this.made.values()) {
      const display = seen === this.pass ? "" : "none";
      if (g.style.display === display) continue;
      g.style.display = display;
      if (edge) edge.style.display = display;
    }
  }

  /** @type {(shown: {cell: Cell, look: Look}[], frame: Frame | null) => void} */
  light(shown, frame) {
    const lit = Object.entries(LIT).flatMap(([state, { s, way }]) =>
      shown
        .filter(({ cell, look }) => cell.parent && look.state === state)
        .map(({ cell }) => ({ s, d: way(frame, cell.parent, cell) })),
    );
    const halos = this.halos.take(lit.length);
    const paths = this.paths.take(lit.length);
    lit.forEach(({ d, s }, i) => {
      attr(halos[i], "d", d);
      attr(paths[i], "d", d);
      if (paths[i].dataset.s !== s) paths[i].dataset.s = s;
    });
  }

  /**
   * Mark the cells in `scene.marks`, and highlight the path from the root to the cell pointed at.
   * @param {Scene} scene
   * @param {TreeView} view
   */
  point(scene, { frame, pointed }) {
    this.mark({ ...scene.marks, "is-above": this.way.draw(scene, frame, pointed) });
  }

  mark(marks) {
    for (const name of Object.keys({ ...this.#marked, ...marks })) {
      const keys = new Set(marks[name]);
      for (const key of this.#marked[name] ?? [])
        if (!keys.has(key)) this.made.get(key)?.g.classList.remove(name);
      for (const key of keys) this.made.get(key)?.g.classList.add(name);
      this.#marked[name] = keys;
    }
    this.root.classList.toggle("sq-searching", Boolean(marks["is-match"]?.length));
  }

  setHome(wanted) {
    const home = this.made.get(wanted)?.seen === this.pass ? wanted : "n0";
    const before = this.made.get(this.home);
    if (before && this.home !== home) attr(before.g, "tabindex", "-1");
    this.home = home;
    const pill = this.made.get(home);
    if (pill) attr(pill.g, "tabindex", "0");
  }
}

/**
 * The px that a cell's text may use. The last cell of a row may use the free room to its right.
 * @type {(cell: Cell, scene: Scene, frame: Frame) => number}
 */
function roomOf({ col, end }, { cols, reserved }, frame) {
  const own = frame.text(col);
  if (!end) return own;
  const free = frame.x(cols - 1) - frame.x(col) - frame.gutter - 20;
  return Math.max(own, Math.min(reserved ? free : Infinity, treeFrame.MOST_TEXT));
}
