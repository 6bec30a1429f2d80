/* The names above a tree's columns. */
import { attr, el, pool, text } from "./dom.js";
import { widthOf } from "./tree_frame.js";

/**
 * @import { Column } from "./tree_scene.js"
 * @import { TreeView } from "./tree_view.js"
 */

/** px of the box's height that they take */
export const COLUMNS_HEIGHT = 22;
const SIZE = 12; // px of type
const APART = 6; // px between two names

/** A line that stays at the top of the box. */
export class TreeColumns {
  #known = ""; // what they were written for

  /** @param {HTMLElement} box */
  constructor(box) {
    this.root = el("div", { class: "sq-cols", "aria-hidden": "true" });
    box.prepend(this.root);
    this.spans = pool(() => el("span", { class: "sq-col" }, this.root));
  }

  /**
   * @param {Column[]} columns
   * @param {TreeView} view
   */
  paint(columns, view) {
    const { frame, zoom, size } = view;
    const names = columnNames(columns, view, zoom);
    const width = frame.width * zoom;
    const offset = view.scene.focus ? 0 : Math.max(0, (size.w - width) / 2);
    const known = [names, offset, width, frame.gutter].join();
    if (this.#known === known) return;
    this.#known = known;
    const spans = this.spans.take(columns.length);
    columns.forEach(({ state = null }, col) => {
      text(spans[col], names[col]);
      attr(spans[col], "data-s", state);
      spans[col].style.left = (offset + (frame.x(col) + 1) * zoom).toFixed(1) + "px";
    });
    this.root.style.width = Math.max(width, 1) + "px";
  }

  clear() {
    this.#known = "";
    this.spans.take(0);
  }
}

/**
 * The names as far as the columns hold them.
 * @param {Column[]} columns
 * @param {TreeView} view
 * @param {number} zoom
 * @returns {string[]}
 */
export function columnNames(columns, { frame, face }, zoom) {
  const room = (frame.least + frame.gutter) * zoom - APART;
  const fits = (name) => widthOf(name, face) * SIZE <= room;
  return columns.map(({ names }) => names.find(fits) ?? names.at(-1));
}
