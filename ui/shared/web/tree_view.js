/* A token tree in a box. It draws a scene, and says what a person does to it: it is
   independent of runs, plans and the page. */
import { attr, el, sized, svg } from "./dom.js";
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
 * @import { Cell, Scene } from "./tree_scene.js"
 */

const BEYOND = 12; // rows above and below the visible ones that are written too
const EDGE = 40; // px kept between what is revealed and the box's edge
const MOST_WANTED = 110; // px of text for which the focus layout makes room in a column
const NEARLY = 4; // px by which a picture may be larger than its box
const FADE = "26px";

/**
 * How the trees of one place look.
 * @typedef {object} Appearance
 * @property {string} cls of the box
 * @property {string} [label] of the tree, for a screen reader
 * @property {string[]} [dots] draw dots in these states, later ones on top, and always the whole
 *   tree in its box; otherwise pills in a box that scrolls
 * @property {boolean} [hasColumns] names stand above the columns
 * @property {string[]} [numbers] names of the numbers below a pill
 * @property {boolean} [isLazy] only what is near the visible rows is written
 * @property {boolean} [fades] an edge of the box fades where the tree continues beyond it
 */

/** The box, its SVG, and what is drawn there. */
export class TreeView {
  zoom = 1;
  /** @type {Frame | null} */
  frame = null;
  /** @type {Scene | null} */
  scene = null;
  left = 0; // where the box is scrolled to
  top = 0;
  /** @type {TreePills | null} */
  pills = null;
  /** @type {TreeDots | null} */
  dots = null;
  /** @type {TreeColumns | null} */
  columns = null;
  /** @type {PanAndZoom | null} */
  pan = null;
  shape = ""; // what the frame was made for
  /** @type {string | null} key of the cell below the pointer, or with the focus */
  pointed = null;
  #family = "";
  #sans = "";
  #waiting = false; // for the frame after a scroll

  /**
   * @param {Element} host
   * @param {Appearance} appearance
   * @param {Actions} [actions] without them, nobody can act on the tree
   */
  constructor(host, appearance, actions) {
    this.appearance = appearance;
    this.scroller = el("div", { class: appearance.cls }, host);
    this.svg = svg("svg", { class: "sq-tree-svg" }, this.scroller);
    this.build(host, appearance);
    const changed = () => (actions ? actions.changed() : this.draw(this.scene));
    this.size = sized(this.scroller, changed);
    document.fonts?.ready.then(() => {
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
    const scrolled = () => this.scrolled(actions);
    this.scroller.addEventListener("scroll", scrolled, { passive: true });
  }

  // At most one call a frame.
  scrolled(actions) {
    this.left = this.scroller.scrollLeft;
    this.top = this.scroller.scrollTop;
    if (this.#waiting) return;
    this.#waiting = true;
    requestAnimationFrame(() => {
      this.#waiting = false;
      actions.scrolled();
    });
  }

  /** The typeface of the labels. */
  get family() {
    this.#family ||= getComputedStyle(this.svg).fontFamily;
    return this.#family;
  }

  /** The typeface of what stands beside them. */
  get face() {
    this.#sans ||= getComputedStyle(this.scroller).fontFamily;
    return this.#sans;
  }

  /**
   * Say what a picture without tab stops shows.
   * @param {string} label
   */
  describe(label) {
    attr(this.svg, "role", "img");
    attr(this.svg, "aria-label", label);
  }

  // -- drawing -----------------------------------------------------------------------------------

  /**
   * @param {Scene | null} scene null: nothing
   */
  draw(scene) {
    this.scene = scene;
    this.svg.style.display = scene ? "" : "none"; // `hidden` does nothing to an SVG element
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
   * Light the way from the root to a cell.
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

  /** Draw nothing, and forget the elements of the tree before. */
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

  // Px of each column's text in small type; cells that end their row need none.
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

  /** Give the picture its size at the present zoom. */
  scale() {
    attr(this.svg, "width", Math.round(this.frame.width * this.zoom));
    attr(this.svg, "height", Math.round(this.frame.height * this.zoom));
  }

  /**
   * First and last row that are written.
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
    const { frame, zoom, size } = this;
    return frame.height * zoom > size.h + NEARLY || frame.width * zoom > size.w + NEARLY;
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

  /** @returns {Cell[]} those now drawn */
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

  /** Give the cell that the Tab key reaches the focus once it is drawn again. */
  refocus() {
    const focus = () => this.focus(this.pills.home);
    requestAnimationFrame(() => requestAnimationFrame(focus));
  }
}
