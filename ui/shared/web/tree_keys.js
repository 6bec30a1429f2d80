/* What a person does to a tree with the pointer and the keyboard, by the key of the cell. Right
   goes to the first child, left to the parent, up and down to the nearest cell there. */
import { attr } from "./dom.js";

/**
 * @import { Cell } from "./tree_scene.js"
 * @import { TreeView } from "./tree_view.js"
 */

const ASIDE = 3; // rows that a column to the side counts

/**
 * What a view does when a person acts on its tree; `key` is null beside all cells.
 * @typedef {object} Actions
 * @property {() => void} changed the size or the zoom is another: draw again
 * @property {(key: string | null) => void} hover
 * @property {(key: string, shift: boolean) => void} press
 * @property {(key: string) => void} focus
 * @property {(key: string) => string | null} name of a cell for a screen reader; null: its text
 * @property {() => void} scrolled
 * @property {(event: KeyboardEvent, key: string | null) => boolean} [type] whether a key other than
 *   the arrows and Enter means something
 */

const keyAt = ({ target }) => target.closest?.(".sq-n")?.dataset.key ?? null;

/**
 * @param {TreeView} view
 * @param {Actions} actions
 */
export function listen(view, actions) {
  const { svg, scroller, pan } = view;
  svg.addEventListener("pointerover", (event) => {
    const key = keyAt(event);
    view.point(key ?? focusedIn(svg));
    actions.hover(key);
  });
  svg.addEventListener("pointerleave", () => {
    view.point(focusedIn(svg));
    actions.hover(null);
  });
  svg.addEventListener("click", (event) => {
    const key = keyAt(event);
    if (key && !pan.dragged) actions.press(key, event.shiftKey);
  });
  // On the SVG itself, a listener for the focus would make it a tab stop.
  scroller.addEventListener("focusin", (event) => focused(view, actions, event));
  scroller.addEventListener("focusout", () => view.point(null));
  scroller.addEventListener("keydown", (event) => {
    if (!typed(view, actions, event)) return;
    event.preventDefault();
    event.stopPropagation();
  });
}

// The cell that has the focus, if the keyboard gave it.
const focusedIn = (svg) => svg.querySelector(".sq-n:focus-visible")?.dataset.key ?? null;

function focused(view, actions, event) {
  const key = keyAt(event);
  if (!key) return;
  view.point(key);
  attr(event.target, "aria-label", actions.name(key));
  actions.focus(key);
}

// Whether the key means something here.
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
  if (arrow === "ArrowRight") return cells.find(({ parent }) => parent === here);
  if (arrow === "ArrowLeft") return here.parent;
  const sign = arrow === "ArrowDown" ? 1 : -1;
  const far = ({ row, col }) => Math.abs(row - here.row) + ASIDE * Math.abs(col - here.col);
  const there = cells.filter(({ row }) => (row - here.row) * sign > 0);
  return there.sort((a, b) => far(a) - far(b))[0];
}
