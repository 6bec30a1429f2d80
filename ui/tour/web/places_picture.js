/* The picture of a small tree of guesses, and the control in which a visitor builds such a tree. A
   first child is to the right of its parent. The other children are in rows below. A place in the
   tree is named by the ranks on the path to it, as in placing.js. In the control, dashed slots show
   where the next guess may go. */
import { filled } from "./filled.js";
import { chanceAt, freePlaces, without } from "./placing.js";
import { attr, el, svg, text } from "../../shared/web/dom.js";

/** @import { Answer } from "./tour_state.js" */

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
const spotOf = (place, all) => ({
  x: place.length * COLUMN,
  y: place === "" ? 0 : rowOf(place, all) * ROW,
});

function moveTo(node, place, all) {
  const { x, y } = spotOf(place, all);
  node.style.left = x + "px";
  node.style.top = y + "px";
}

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
  drawPlaces(svg("svg", { class: "sq-tour-lines sq-fill", "aria-hidden": "true" }, box), all, []);
  lightWays(box);
  for (const place of ["", ...all]) {
    const words = place ? String(Number(chanceAt(place, rates).toFixed(4))) : "text";
    const cls = place ? "sq-tour-spot" : "sq-tour-root";
    const made = el("span", { class: cls, "data-place": place, text: words }, box);
    moveTo(made, place, all);
  }
}

/** The answer is a list of places, named as in placing.js. */
export class PlaceControl {
  /** @type {string[]} */
  placed = [];
  isLocked = false;

  /**
   * @param {HTMLElement} host
   * @param {{nodes: number, ranks: number, words: Record<string, string>}} about
   *   `nodes`: guesses to place; `ranks`: the most children that a node may have
   */
  constructor(host, { nodes, ranks, words }) {
    this.nodes = nodes;
    this.ranks = ranks;
    this.words = words;
    const look = { class: "sq-tour-place", role: "group", "aria-label": words.label };
    this.box = el("div", look, host);
    this.lines = svg("svg", { class: "sq-tour-lines sq-fill", "aria-hidden": "true" }, this.box);
    lightWays(this.box);
    this.hint = el("p", { class: "sq-tour-rest", "aria-live": "polite" }, host);
    this.paint();
  }

  paint() {
    const { placed, nodes, ranks, isLocked } = this;
    const free = placed.length < nodes && !isLocked ? freePlaces(placed, ranks) : [];
    for (const old of this.box.querySelectorAll("button, .sq-tour-root")) old.remove();
    const all = [...placed, ...free].sort();
    this.box.style.height = placesHeight(all) + "px";
    drawPlaces(this.lines, all, free);
    const look = { class: "sq-tour-root", "data-place": "", text: "text" };
    const root = el("span", look, this.box);
    moveTo(root, "", all);
    for (const place of all) this.spot(place, all, free.includes(place));
    text(this.hint, filled(this.words.hint, { placed: placed.length, nodes }));
  }

  spot(place, all, isFree) {
    const rank = Number(place.at(-1)) + 1;
    const look = { type: "button", class: "sq-tour-spot", "data-place": place };
    const words = { 1: "1st", 2: "2nd" };
    const made = el("button", { ...look, text: isFree ? "+" : words[rank] }, this.box);
    made.classList.toggle("is-free", isFree);
    attr(made, "aria-label", `${isFree ? "Place" : "Remove"} guess ${named(place)}`);
    made.disabled = this.isLocked;
    moveTo(made, place, all);
    made.addEventListener("click", () => this.press(place, isFree));
  }

  press(place, isFree) {
    this.placed = isFree ? [...this.placed, place] : without(this.placed, place);
    this.paint();
    /** @type {HTMLElement | null} */
    const same = this.box.querySelector(`[data-place="${place}"]`);
    (same || this.box.querySelector("button"))?.focus();
  }

  read() {
    return this.placed.length === this.nodes ? this.placed : null;
  }

  /** @param {Answer} answer */
  put(answer) {
    this.placed = Array.isArray(answer) ? answer.map(String).filter(isPlace) : [];
    this.paint();
  }

  lock() {
    this.isLocked = true;
    this.paint();
    this.hint.remove();
  }

  remove() {
    this.box.remove();
  }

  problem() {
    return filled(this.words.few, { placed: this.placed.length, nodes: this.nodes });
  }
}

const isPlace = (value) => /^[01]{1,8}$/.test(value);

// The name of a place in labels, such as "1.2" for "01".
const named = (place) => [...place].map((rank) => Number(rank) + 1).join(".");
