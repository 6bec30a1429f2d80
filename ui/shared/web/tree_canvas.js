/* A tree in a box that scrolls: the box, the SVG with its pills, their size, and what a person does
   to them. Which nodes are drawn, and what a press means, is the view's. */
import { attr, el, sized, svg } from "./dom.js";
import { hidesLabels } from "./tree_frame.js";
import { Nodes } from "./tree_nodes.js";

/** The box, its SVG and the pills; also what PanAndZoom zooms. */
export class TreeCanvas {
  zoom = 1;
  /** @type {import("./tree_frame.js").Frame | null} */
  frame = null;
  #family = "";

  /**
   * @param {Element} host
   * @param {string} cls of the box
   * @param {() => void} changed called when the size of the box or the typeface is another
   */
  constructor(host, cls, changed) {
    this.scroller = el("div", { class: cls }, host);
    this.svg = svg("svg", { class: "sq-tree-svg" }, this.scroller);
    this.nodes = new Nodes(this.svg);
    this.size = sized(this.scroller, changed);
    document.fonts?.ready.then(() => {
      this.#family = "";
      changed();
    });
  }

  /** The typeface of the labels. */
  get family() {
    if (!this.#family) this.#family = getComputedStyle(this.svg).fontFamily;
    return this.#family;
  }

  /**
   * Show the grid of `frame`.
   * @param {import("./tree_frame.js").Frame} frame
   */
  fit(frame) {
    this.frame = frame;
    attr(this.svg, "viewBox", `0 0 ${frame.width} ${frame.height}`);
    this.scale();
    this.svg.classList.toggle("sq-dots", hidesLabels(frame, this.zoom));
  }

  /** Give the picture its size at the present zoom. */
  scale() {
    attr(this.svg, "width", Math.round(this.frame.width * this.zoom));
    attr(this.svg, "height", Math.round(this.frame.height * this.zoom));
  }

  /**
   * Call `on` with the pill (null beside one) that is pointed at, pressed, focused, or under a key.
   * @param {{hover: Function, press: Function, focus: Function, key: Function}} on
   * @param {{dragged: boolean}} pan a press that ends a drag is none
   */
  listen(on, pan) {
    const pill = (event) => event.target.closest?.(".sq-n") ?? null;
    const { svg: canvas, scroller } = this;
    canvas.addEventListener("pointerover", (event) => on.hover(pill(event)));
    canvas.addEventListener("pointerleave", () => on.hover(null));
    // On the SVG itself, a listener for the focus would make it a tab stop.
    scroller.addEventListener("focusin", (event) => on.focus(pill(event)));
    scroller.addEventListener("keydown", (event) => on.key(event, pill(event)));
    canvas.addEventListener("click", (event) => {
      if (pill(event) && !pan.dragged) on.press(pill(event), event);
    });
  }
}
