/* Draws a token tree in a box, and reports what a person does to it. Independent of runs, plans and
   the page. */
import { attr, el, oncePerFrame, sized, svg } from "./dom.js";
import { PanAndZoom } from "./pan_and_zoom.js";
import { COLUMNS_HEIGHT, TreeColumns } from "./tree_columns.js";
import { TreeDots } from "./tree_dots.js";
import * as treeFrame from "./tree_frame.js";
import { listen } from "./tree_keys.js";
import { TreePills } from "./tree_pills.js";
import { nearestDot } from "./tree_way.js";

/**
 * @import { Frame } from "./tree_frame.js"
 * @import { Actions } from "./tree_keys.js"
 * @import { Cell, Scene } from "./tree_layout.js"
 */

const BEYOND = 12; // text is also written in this many rows above and below the visible ones
const EDGE = 40; // px; `reveal` does not scroll if the cell is at least this far inside the box
const MOST_WANTED = 110; // px; the most that `wants` returns for a column
const NEARLY = 4; // px by which a picture may exceed its box without counting as larger
const FADE = "26px"; // width of a fading edge

/**
 * How a tree view looks.
 * @typedef {object} Appearance
 * @property {string} cls class of the box
 * @property {string} [label] of the tree, for screen readers
 * @property {string[]} [dots] states to draw as dots, later states on top. The whole tree then
 *   always fits its box. Without `dots`, the nodes are pills (rounded boxes with a label), and the
 *   box scrolls
 * @property {boolean} [hasColumns] whether the columns have headings
 * @property {string[]} [numbers] names of the numbers below a pill
 * @property {boolean} [isLazy] whether text is written only in rows near the visible ones
 * @property {boolean} [fades] whether an edge of the box fades if the tree continues beyond it
 */

/** The box, its SVG, and everything drawn in it. */
export class TreeView {
  zoom = 1;
  fonts = 0; // how often fonts have been loaded
  /** @type {Frame | null} */
  frame = null;
  /** @type {Scene | null} */
  scene = null;
  left = 0; // scroll position of the box, px
  top = 0;
  /** @type {TreePills | null} */
  pills = null;
  /** @type {TreeDots | null} */
  dots = null;
  /** @type {TreeColumns | null} */
  columns = null;
  /** @type {PanAndZoom | null} */
  pan = null;
  shape = ""; // the values from which the frame was made, as JSON
  /** @type {string | null} key of the cell under the pointer, or with the focus */
  pointed = null;
  #family = "";
  #sans = "";

  /**
   * @param {Element} host
   * @param {Appearance} appearance
   * @param {Actions} [actions] without them, a person cannot act on the tree
   */
  constructor(host, appearance, actions) {
    this.appearance = appearance;
    this.scroller = el("div", { class: appearance.cls }, host);
    this.svg = svg("svg", { class: "sq-tree-svg" }, this.scroller);
    this.build(host, appearance);
    const changed = () => (actions ? actions.changed() : this.draw(this.scene));
    this.size = sized(this.scroller, changed);
    document.fonts?.ready.then(() => {
      this.fonts += 1;
      this.#family = "";
      this.#sans = "";
      changed();
    });
    if (actions) this.connect(actions);
  }

  /** @type {(host: Element, appearance: Appearance) => void} */
  build(host, { label = "Token tree", dots, numbers = [], hasColumns, fades }) {
    if (dots) this.dots = new TreeDots(this.svg, dots);
    else this.pills = new TreePills(this.svg, label, numbers);
    if (dots) this.describe(label);
    if (dots) this.pointAtDots();
    if (hasColumns) this.columns = new TreeColumns(this.scroller);
    if (fades) this.fades = el("div", { class: "sq-fades" }, host);
    this.head = hasColumns ? COLUMNS_HEIGHT : 0;
  }

  /** @param {Actions} actions */
  connect(actions) {
    this.pan = new PanAndZoom(this, () => actions.changed(), this.head);
    listen(this, actions);
    const report = oncePerFrame(() => actions.scrolled());
    const scrolled = () => {
      this.left = this.scroller.scrollLeft;
      this.top = this.scroller.scrollTop;
      report();
    };
    this.scroller.addEventListener("scroll", scrolled, { passive: true });
  }

  /** The typeface of the labels. */
  get family() {
    this.#family ||= getComputedStyle(this.svg).fontFamily;
    return this.#family;
  }

  /** The typeface of headings and notes. */
  get face() {
    this.#sans ||= getComputedStyle(this.scroller).fontFamily;
    return this.#sans;
  }

  /**
   * Name the picture for screen readers.
   * @param {string} label
   */
  describe(label) {
    attr(this.svg, "role", "img");
    attr(this.svg, "aria-label", label);
  }

  // -- drawing -----------------------------------------------------------------------------------

  /**
   * @param {Scene | null} scene null: draw nothing
   */
  draw(scene) {
    this.scene = scene;
    this.svg.style.display = scene ? "" : "none"; // an SVG element ignores `hidden`
    if (!scene || !this.size.w || !this.size.h) return;
    this.frame = this.frameFor(scene);
    attr(this.svg, "viewBox", `0 0 ${this.frame.width} ${this.frame.height}`);
    this.dots?.draw(scene, this.frame);
    this.dots?.point(scene, this);
    if (this.dots) return;
    this.scale();
    this.svg.classList.toggle("sq-dots", treeFrame.hidesLabels(this.frame, this.zoom));
    this.pills.draw(scene, this);
    this.columns?.paint(scene.columns ?? [], this);
    if (this.fades) this.fade();
  }

  /**
   * Highlight the path from the root to a cell.
   * @param {string | null} key of the cell pointed at; null: none
   */
  point(key) {
    if (this.pointed === key) return;
    this.pointed = key;
    if (this.scene && this.frame) (this.dots ?? this.pills).point(this.scene, this);
  }

  pointAtDots() {
    this.svg.addEventListener("pointermove", ({ offsetX: x, offsetY: y }) =>
      this.point(this.scene && this.frame && nearestDot(this.scene.cells, this.frame, { x, y })),
    );
    this.svg.addEventListener("pointerleave", () => this.point(null));
  }

  /** Remove the pills and the column headings, and return to zoom 1. */
  clear() {
    this.pills.clear();
    this.columns?.clear();
    this.zoom = 1;
  }

  /** @type {(scene: Scene) => Frame} */
  frameFor(scene) {
    const { rows, cols, word, tail, focus = false } = scene;
    const height = this.size.h - this.head;
    const wants = focus ? this.wants(scene) : undefined;
    const grid = { rows, cols, width: this.size.w, height, focus, word, tail, wants };
    const shape = JSON.stringify([grid, this.family]);
    if (this.shape === shape) return this.frame;
    this.shape = shape;
    return this.dots ? treeFrame.wholeFrame(grid) : treeFrame.makeFrame(grid);
  }

  // The px that the text of each column needs in small type. Cells at the end of a row do not
  // count, because their text may extend to the right.
  wants({ cells, looks, cols }) {
    const wants = new Array(cols).fill(20);
    cells.forEach(({ col, end }, i) => {
      if (end) return;
      const { label = "", count } = looks[i];
      const wide = treeFrame.widthOf(count ? label + " " + count : label, this.family);
      wants[col] = Math.max(wants[col], Math.min(wide * treeFrame.LEAST_SIZE, MOST_WANTED));
    });
    return wants;
  }

  /** Resize the picture to the current zoom. */
  scale() {
    attr(this.svg, "width", Math.round(this.frame.width * this.zoom));
    attr(this.svg, "height", Math.round(this.frame.height * this.zoom));
  }

  /**
   * The first and the last row whose text is written.
   * @returns {[number, number]}
   */
  writtenRows() {
    if (!this.appearance.isLazy) return [-Infinity, Infinity];
    const { frame, zoom, top, size } = this;
    const at = (y) => (y / zoom - frame.y(0)) / frame.pitch;
    return [at(top) - BEYOND, at(top + size.h) + BEYOND];
  }

  /** @returns {boolean} whether the picture is larger than its box */
  isOver() {
    const { frame, zoom, size, head } = this;
    const room = size.h - head + NEARLY;
    return frame.height * zoom > room || frame.width * zoom > size.w + NEARLY;
  }

  fade() {
    const { left, top, frame, zoom, size } = this;
    const far = {
      left,
      right: frame.width * zoom - left - size.w,
      top,
      bottom: frame.height * zoom - top - size.h,
    };
    for (const [side, px] of Object.entries(far))
      this.fades.style.setProperty("--" + side, px > 2 ? FADE : "0px");
  }

  // -- cells -------------------------------------------------------------------------------------

  /** @returns {Cell[]} the cells that are drawn now */
  cells() {
    const { cells, looks } = this.scene;
    return cells.filter((_, i) => looks[i].state !== "hidden");
  }

  /**
   * Scroll a cell into view.
   * @param {Cell} cell
   */
  reveal({ col, row }) {
    if (!this.isOver()) return;
    const { scroller, frame, zoom } = this;
    const x = frame.x(col) * zoom;
    const y = frame.y(row) * zoom;
    const far = frame.x(col + 1) * zoom + EDGE;
    const { scrollLeft: left, scrollTop: top, clientWidth: wide } = scroller;
    const tall = scroller.clientHeight - this.head;
    if (x < left + EDGE || far > left + wide) scroller.scrollLeft = x - wide / 2;
    if (y < top + EDGE || y > top + tall - EDGE) scroller.scrollTop = y - tall / 2;
  }

  /**
   * Give a drawn cell the focus.
   * @param {string} key
   * @param {FocusOptions} [options]
   */
  focus(key, options) {
    this.pills.made.get(key)?.g.focus(options);
  }

  /** After the next draw, focus the cell that the Tab key reaches. */
  refocus() {
    const focus = () => this.focus(this.pills.home);
    requestAnimationFrame(() => requestAnimationFrame(focus));
  }
}
