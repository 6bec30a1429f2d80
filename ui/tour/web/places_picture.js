/* Where the guesses of a small tree stand: a first child to the right of its parent, the others in
   rows below. */
import { el, svg } from "../../shared/web/dom.js";
import { chanceAt } from "./placing.js";

const WIDE = 50;
const COLUMN = 66;
const TALL = 32;
const ROW = 44;

// Rows from top to bottom: a place, then everything below its first child, then its second child.
function rowOf(place, all) {
  const ends = [...all].filter((one) => !all.includes(one + "0")).sort();
  const below = ends.findIndex((one) => one.startsWith(place));
  return below < 0 ? 0 : below;
}

/**
 * @param {string} place
 * @param {string[]} all
 * @returns {{x: number, y: number}} its top left corner in px
 */
export const spotOf = (place, all) => ({
  x: place.length * COLUMN,
  y: place === "" ? 0 : rowOf(place, all) * ROW,
});

/**
 * @param {string[]} all
 * @returns {number} px
 */
export const placesHeight = (all) =>
  TALL + Math.max(0, ...all.map((place) => spotOf(place, all).y));

/**
 * @param {SVGSVGElement} host emptied first
 * @param {string[]} all
 * @param {string[]} free those without a guess
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
 * Light the way from the root to the place that is pointed at or has the focus.
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
 * A tree with the chance of each guess to be kept.
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
    const words = place ? String(Number(chanceAt(place, rates).toFixed(4))) : "now";
    const cls = place ? "sq-tour-spot" : "sq-tour-root";
    const made = el("span", { class: cls, "data-place": place, text: words }, box);
    const { x, y } = spotOf(place, all);
    made.style.left = x + "px";
    made.style.top = y + "px";
  }
}
