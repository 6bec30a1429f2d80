/* The control in which a visitor builds a tree by placing guesses (draft tokens). Dashed slots show
   where the next guess may go. */
import { attr, el, svg, text } from "../../shared/web/dom.js";
import { filled } from "./filled.js";
import { freePlaces, without } from "./placing.js";
import { drawPlaces, lightWays, placesHeight, spotOf } from "./places_picture.js";

/** @import { Answer } from "./tour_state.js" */

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
    this.lines = svg("svg", { class: "sq-tour-lines", "aria-hidden": "true" }, this.box);
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
    this.moveTo(root, "", all);
    for (const place of all) this.spot(place, all, free.includes(place));
    text(this.hint, filled(this.words.hint, { placed: placed.length, nodes }));
  }

  moveTo(node, place, all) {
    const { x, y } = spotOf(place, all);
    node.style.left = x + "px";
    node.style.top = y + "px";
  }

  spot(place, all, isFree) {
    const rank = Number(place.at(-1)) + 1;
    const look = { type: "button", class: "sq-tour-spot", "data-place": place };
    const words = { 1: "1st", 2: "2nd" };
    const made = el("button", { ...look, text: isFree ? "+" : words[rank] }, this.box);
    made.classList.toggle("is-free", isFree);
    attr(made, "aria-label", `${isFree ? "Place" : "Remove"} guess ${named(place)}`);
    made.disabled = this.isLocked;
    this.moveTo(made, place, all);
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
