/* Calls a view's actions when a person points at a cell of its tree, presses it or moves the
   keyboard focus. A cell usually shows one node. The tree grows to the right. The right arrow moves
   the focus to the first child, or from a leaf to the next cell in its row. The left arrow moves it
   to the parent. Up and down move it to the nearest cell in that direction. */
import { attr } from "./dom.js";

/**
 * @import { Cell } from "./tree_layout.js"
 * @import { TreeView } from "./tree_view.js"
 */

const ASIDE = 3; // a distance of one column counts as much as this many rows

/**
 * What a view does when a person acts on its tree. `key`: the key of a cell; null: no cell.
 * @typedef {object} Actions
 * @property {() => void} changed draws again, because the size, the zoom or a font has changed
 * @property {(key: string | null) => void} hover called with the cell pointed at. When the pointer
 *   leaves the cells, called with the cell that has the keyboard focus, if any. When a cell loses
 *   the focus, called with null
 * @property {(key: string, shift: boolean) => void} press called with the cell that was pressed
 * @property {(key: string) => void} focus called with the cell that has received the focus
 * @property {(key: string) => string | null} name returns the name of a cell for screen readers;
 *   null: use the text of the cell
 * @property {() => void} scrolled called after the tree has scrolled
 * @property {(event: KeyboardEvent, key: string | null) => boolean} [type] called with each key
 *   press before the tree handles the arrow keys and Enter; returns whether it handled the press
 */

const keyAt = ({ target }) => target.closest?.(".sq-n")?.dataset.key ?? null;

/**
 * Call the actions of a view when a person acts on its tree.
 * @param {TreeView} view
 * @param {Actions} actions
 */
export function listen(view, actions) {
  const { svg, scroller, pan } = view;
  const hover = (key) => {
    view.point(key);
    actions.hover(key);
  };
  svg.addEventListener("pointerover", (event) => hover(keyAt(event) ?? focusedIn(svg)));
  svg.addEventListener("pointerleave", () => hover(focusedIn(svg)));
  svg.addEventListener("click", (event) => {
    const key = keyAt(event);
    if (key && !pan.dragged) actions.press(key, event.shiftKey);
  });
  // These listeners are not on the SVG itself, because that would make the SVG a tab stop.
  scroller.addEventListener("focusin", (event) => focused(view, actions, event));
  scroller.addEventListener("focusout", () => hover(null));
  scroller.addEventListener("keydown", (event) => {
    if (!typed(view, actions, event)) return;
    event.preventDefault();
    event.stopPropagation();
  });
}

const focusedIn = (svg) => svg.querySelector(".sq-n:focus-visible")?.dataset.key ?? null;

function focused(view, actions, event) {
  const key = keyAt(event);
  if (!key) return;
  view.point(key);
  attr(event.target, "aria-label", actions.name(key));
  actions.focus(key);
}

// Returns whether the key press was handled.
function typed(view, actions, event) {
  const key = keyAt(event);
  if (actions.type?.(event, key)) return true;
  if (!key || event.ctrlKey || event.metaKey || event.altKey) return false;
  if (event.key === "Enter") {
    actions.press(key, false);
    view.refocus();
    return true;
  }
  if (!event.key.startsWith("Arrow")) return false;
  const cells = view.cells();
  const here = cells.find((cell) => cell.key === key);
  const next = here && beside(cells, here, event.key);
  if (next) view.focus(next.key);
  return true;
}

/** @type {(cells: Cell[], here: Cell, arrow: string) => Cell | null | undefined} */
function beside(cells, here, arrow) {
  if (arrow === "ArrowRight")
    return cells.find(({ parent }) => parent === here) ?? nextInRow(cells, here);
  if (arrow === "ArrowLeft") return here.parent;
  const sign = arrow === "ArrowDown" ? 1 : -1;
  const far = ({ row, col }) => Math.abs(row - here.row) + ASIDE * Math.abs(col - here.col);
  const there = cells.filter(({ row }) => (row - here.row) * sign > 0);
  return there.sort((a, b) => far(a) - far(b))[0];
}

// The nearest cell to the right in the same row. In the last column, it may be the token from the
// target, whose parent is then a cell other than `here`.
/** @type {(cells: Cell[], here: Cell) => Cell | undefined} */
function nextInRow(cells, here) {
  const right = cells.filter(({ row, col }) => row === here.row && col > here.col);
  return right.sort((a, b) => a.col - b.col)[0];
}
