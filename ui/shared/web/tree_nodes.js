/* The pills and edges of one topology as SVG elements: each is made once, afterwards only its
   class, text and place change. */
import { attr, pool, svg, text } from "./dom.js";
import * as treeFrame from "./tree_frame.js";

/** @import { Cell, Frame } from "./tree_frame.js" */

/**
 * The elements of one cell, and what was last written to them.
 * @typedef {object} NodeItem
 * @property {SVGGElement} g
 * @property {SVGRectElement} rect
 * @property {SVGTextElement} label
 * @property {SVGTextElement | null} sub the note below the pill
 * @property {SVGPathElement | null} edge from its parent
 * @property {string} where its place, as written
 * @property {number} seen the last pass that placed it
 * @property {string | null} word its text, as written
 * @property {string | null} state
 * @property {number} wide px
 */

/** The nodes and edges of a tree in an SVG element. */
export class Nodes {
  /** @type {Map<string, NodeItem>} by key: "n12", "bonus", "g3:untried" */
  made = new Map();

  /** @param {SVGElement} root */
  constructor(root) {
    const tree = { class: "sq-pills", role: "tree", "aria-label": "Token tree" };
    this.base = svg("g", { class: "sq-edges" }, root);
    this.halo = svg("g", { class: "sq-halos" }, root);
    this.active = svg("g", { class: "sq-edges" }, root);
    this.pills = svg("g", tree, root);
    this.halos = pool(() => svg("path", { class: "sq-halo" }, this.halo));
    this.paths = pool(() => svg("path", { class: "sq-edge" }, this.active));
  }

  clear() {
    this.made = new Map();
    this.base.replaceChildren();
    this.pills.replaceChildren();
  }

  /**
   * The elements of a cell, made on first use.
   * @param {string} key
   * @param {number} level
   * @returns {NodeItem}
   */
  get(key, level) {
    const before = this.made.get(key);
    if (before) return before;
    const look = { class: "sq-n", tabindex: "-1", role: "treeitem", "aria-level": level };
    const g = svg("g", { ...look, "data-key": key }, this.pills);
    if (key[0] === "n") attr(g, "data-node", key.slice(1));
    const item = {
      g,
      rect: svg("rect", {}, g),
      label: svg("text", { class: "sq-n-text" }, g),
      sub: null,
      edge: key === "bonus" ? null : svg("path", { class: "sq-edge" }, this.base),
      where: "",
      seen: 0,
      word: null,
      state: null,
      wide: 0,
    };
    this.made.set(key, item);
    return item;
  }

  /**
   * Put an item where the frame says and mark it as seen in this pass.
   * @param {NodeItem} item
   * @param {Frame} frame
   * @param {Cell} at
   * @param {Cell | null} from its parent's
   * @param {number} pass
   */
  place(item, frame, at, from, pass) {
    item.seen = pass;
    const { pill, size } = frame;
    const spot = frame.x(at.col) + "," + frame.y(at.row);
    const where = [spot, pill, size, from?.col, from?.row].join("|");
    if (item.where === where) return;
    item.where = where;
    item.word = null;
    attr(item.g, "transform", "translate(" + spot + ")");
    attr(item.rect, "height", pill);
    attr(item.rect, "y", -pill / 2);
    attr(item.rect, "rx", Math.min(5, pill / 3).toFixed(1));
    attr(item.label, "y", (size * 0.345).toFixed(2));
    attr(item.label, "font-size", size.toFixed(2));
    if (item.edge && from) attr(item.edge, "d", treeFrame.edge(frame, from, at));
  }

  /**
   * Write an item's text and state.
   * @param {NodeItem} item
   * @param {Frame} frame
   * @param {string} family of fonts
   * @param {string} word
   * @param {string} suffix a count of folded nodes, which is never cut
   * @param {string} state
   * @param {number} most px
   */
  write(item, frame, family, word, suffix, state, most) {
    if (item.state !== state) {
      item.state = state;
      item.g.dataset.s = state;
      item.word = null;
    }
    const full = [word, suffix, most].join("\n");
    if (item.word === full) return;
    item.word = full;
    const { rect, label } = item;
    const tail = suffix ? treeFrame.widthOf(" " + suffix, family) * frame.size : 0;
    const [cut, width, isSqueezed] = treeFrame.fit(word, most - tail, frame.size, family);
    item.wide = Math.max(width + tail + 7, frame.pill * 0.9);
    text(label, suffix ? cut + " " + suffix : cut);
    attr(label, "textLength", isSqueezed ? (width + tail).toFixed(1) : null);
    attr(label, "lengthAdjust", isSqueezed ? "spacingAndGlyphs" : null);
    attr(label, "x", ((item.wide - width - tail) / 2).toFixed(1));
    attr(rect, "width", item.wide.toFixed(1));
  }

  /**
   * The small line below a pill, where there is room.
   * @param {NodeItem} item
   * @param {Frame} frame
   * @param {string} words
   */
  note(item, frame, words) {
    if (!words && !item.sub) return;
    item.sub ||= svg("text", { class: "sq-n-sub", "font-size": treeFrame.NOTE_SIZE }, item.g);
    attr(item.sub, "x", 1);
    attr(item.sub, "y", frame.pill / 2 + 12);
    text(item.sub, words);
  }

  /**
   * Hide whatever a pass has not placed.
   * @param {number} pass
   */
  sweep(pass) {
    for (const { g, edge, seen } of this.made.values()) {
      const display = seen === pass ? "" : "none";
      if (g.style.display === display) continue;
      g.style.display = display;
      if (edge) edge.style.display = display;
    }
  }

  /**
   * Draw the edges that mean something in this step over the grey ones.
   * @param {{d: string, s: string}[]} edges their paths and states
   */
  draw(edges) {
    const halos = this.halos.take(edges.length);
    const paths = this.paths.take(edges.length);
    edges.forEach(({ d, s }, i) => {
      attr(halos[i], "d", d);
      attr(paths[i], "d", d);
      if (paths[i].dataset.s !== s) paths[i].dataset.s = s;
    });
  }
}
