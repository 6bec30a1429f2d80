/* The picture of a small tree of guesses. A first child is to the right of its parent. The other
   children are in rows below. A place in the tree is named by the ranks on the path to it, as in
   placing.js. */
import { el, svg } from "../../shared/web/dom.js";
import { chanceAt } from "./placing.js";

const WIDE = 50;
const COLUMN = 66;
const TALL = 32;
const ROW = 44;

// There is one row per leaf, in depth-first order. Every other place is in the row of its first
// child.
function rowOf(place, all) {
  const ends = [...all].filter((one) => !all.includes(one + "0")).sort();
  const below = ends.findIndex((one) => one.startsWith(place));
  return below < 0 ? 0 : below;
}

/**
 * The position of a place.
 * @param {string} place
 * @param {string[]} all all places in the picture
 * @returns {{x: number, y: number}} its top left corner in px
 */
export const spotOf = (place, all) => ({
  x: place.length * COLUMN,
  y: place === "" ? 0 : rowOf(place, all) * ROW,
});

/**
 * The height of the picture.
 * @param {string[]} all
 * @returns {number} px
 */
export const placesHeight = (all) =>
  TALL + Math.max(0, ...all.map((place) => spotOf(place, all).y));

/**
 * Draw the lines between places.
 * @param {SVGSVGElement} host emptied first
 * @param {string[]} all
 * @param {string[]} free the places without a guess
 */
export function drawPlaces(host, all, free) {
  host.replaceChildren();
  for (const place of all) {
    const from = spotOf(place.slice(0, -1), all);
    const to = spotOf(place, all);
    const x = from.x + WIDE;
    const y = to.y + TALL / 2;
    const d = `M${x} ${from.y + TALL / 2}H${x + 8}V${y}H${to.x}`;
    const cls = "sq-tour-edge" + (free.includes(place) ? " is-free" : "");
    svg("path", { class: cls, d, "data-to": place }, host);
  }
}

/**
 * Highlight the path from the root to a place when the pointer or the focus reaches it, until
 * either moves away.
 * @param {HTMLElement} box
 */
export function lightWays(box) {
  /** @type {(place: string | null) => void} */
  const light = (place) => {
    for (const one of box.querySelectorAll("[data-place], [data-to]")) {
      const { place: at, to } = /** @type {HTMLElement} */ (one).dataset;
      one.classList.toggle("is-way", place?.startsWith(at ?? to) ?? false);
    }
  };
  const point = ({ target }) => light(target.closest("[data-place]")?.dataset.place ?? null);
  for (const name of ["pointerover", "focusin"]) box.addEventListener(name, point);
  for (const name of ["pointerleave", "focusout"]) box.addEventListener(name, () => light(null));
}

/**
 * Show a tree with the probability that each guess is tried and kept.
 * @param {HTMLElement} host
 * @param {string[]} places
 * @param {number[]} rates
 */
export function showPlaces(host, places, rates) {
  const all = [...places].sort();
  const box = el("div", { class: "sq-tour-place" }, host);
  box.style.height = placesHeight(all) + "px";
  drawPlaces(svg("svg", { class: "sq-tour-lines", "aria-hidden": "true" }, box), all, []);
  lightWays(box);
  for (const place of ["", ...all]) {
    const words = place ? String(Number(chanceAt(place, rates).toFixed(4))) : "text";
    const cls = place ? "sq-tour-spot" : "sq-tour-root";
    const made = el("span", { class: cls, "data-place": place, text: words }, box);
    const { x, y } = spotOf(place, all);
    made.style.left = x + "px";
    made.style.top = y + "px";
  }
}
