/* The header's navigation: one row of tabs for the places, and for each place with several views
   one row for these. Gradio also has a tab for each view, which shows it; its row is hidden. */
import { attr, show } from "./dom.js";
import { rove } from "./roving_focus.js";

const OPENED = "sq-view-opened";
export const FIRST = "film"; // Gradio shows its first tab
let opened = FIRST;

/** @type {(view: string) => HTMLElement | null} */
const gradioTab = (view) => document.getElementById(`view-${view}-button`);
/** @type {(selector: string) => HTMLElement[]} */
const all = (selector) => /** @type {any} */ ([...document.querySelectorAll(selector)]);
/** @type {(place: Element) => HTMLElement} */
const rowOf = (place) => document.getElementById(place.getAttribute("aria-controls"));
const PLACE = ".pg-places"; // a place with one view has no row: its tab opens the view
/** @type {(row: Element) => HTMLElement} */
const selectedIn = (row) => row.querySelector("[aria-selected=true]");

/** @param {Element} header */
export function connectNavigation(header) {
  for (const row of header.querySelectorAll("[role=tablist]"))
    rove(/** @type {HTMLElement} */ (row), "[role=tab]");
  header.addEventListener("click", ({ target }) => {
    /** @type {HTMLElement} */
    const tab = /** @type {Element} */ (target).closest("[role=tab]");
    if (tab) openView(tab.dataset.view ?? selectedIn(rowOf(tab)).dataset.view);
  });
}

/** @returns {string} the view that is open, by its key in assets/places.json */
export const openedView = () => opened;

/**
 * @param {string} view
 * @returns {boolean} whether Gradio has built the view's tab
 */
export const isBuilt = (view) => Boolean(gradioTab(view));

/**
 * Open a view, and scroll to the top.
 * @param {string} view
 */
export function openView(view) {
  scrollTo(0, 0);
  if (view === opened) return;
  gradioTab(view)?.click();
  opened = view;
  const tab = document.querySelector(`.pg-top [data-view="${view}"]`);
  const row = tab.parentElement;
  for (const one of all(".pg-views")) show(one, one === row);
  select(tab);
  if (!row.matches(PLACE)) select(document.querySelector(`[aria-controls="${row.id}"]`));
  document.dispatchEvent(new Event(OPENED));
}

/** @type {(tab: Element) => void} */
function select(tab) {
  for (const one of tab.parentElement.children) {
    attr(one, "aria-selected", String(one === tab));
    attr(one, "tabindex", one === tab ? 0 : -1);
  }
}

/** @param {() => void} then is called each time a view is opened */
export function onOpened(then) {
  document.addEventListener(OPENED, then);
}
