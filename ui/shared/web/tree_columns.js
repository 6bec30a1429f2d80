/* The headings of a tree's columns. */
import { attr, el, pool, text } from "./dom.js";
import { widthOf } from "./tree_frame.js";

/**
 * @import { Column } from "./tree_layout.js"
 * @import { TreeView } from "./tree_view.js"
 */

/** Height of the headings in px. The tree gets the rest of the box. */
export const COLUMNS_HEIGHT = 22;
const SIZE = 12; // px, type size
const APART = 6; // least px between two headings

/** The line of headings, which stays at the top of the box when the tree scrolls. */
export class TreeColumns {
  #known = ""; // the values from which the headings were drawn last

  /** @param {HTMLElement} box */
  constructor(box) {
    this.root = el("div", { class: "sq-cols", "aria-hidden": "true" });
    box.prepend(this.root);
    this.spans = pool(() => el("span", { class: "sq-col sq-dim" }, this.root));
  }

  /**
   * @param {Column[]} columns
   * @param {TreeView} view
   */
  paint(columns, view) {
    const { frame, zoom } = view;
    const names = columnNames(columns, view, zoom);
    const width = frame.width * zoom;
    const lefts = columns.map((_, col) => ((frame.x(col) + 1) * zoom).toFixed(1) + "px");
    const known = [names, lefts, width].join();
    if (this.#known === known) return;
    this.#known = known;
    const spans = this.spans.take(columns.length);
    columns.forEach(({ state = null }, col) => {
      text(spans[col], names[col]);
      attr(spans[col], "data-s", state);
      spans[col].style.left = lefts[col];
    });
    this.root.style.width = Math.max(width, 1) + "px";
  }

  clear() {
    this.#known = "";
    this.spans.take(0);
  }
}

/**
 * The longest name that fits in each column. If none fits, the shortest.
 * @param {Column[]} columns
 * @param {TreeView} view
 * @param {number} zoom
 * @returns {string[]} a name for each column
 */
export function columnNames(columns, { frame, face }, zoom) {
  const room = (frame.least + frame.gutter) * zoom - APART;
  const fits = (name) => widthOf(name, face) * SIZE <= room;
  return columns.map(({ names }) => names.find(fits) ?? names.at(-1));
}
