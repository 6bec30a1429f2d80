/* A tile: a number in large type with its label and unit, and a note. */
import { el, text } from "./dom.js";
import { addTerm } from "./tooltips.js";

/** @typedef {ReturnType<typeof makeTile>} Tile */

/**
 * A new tile, appended to `host`.
 * @param {Element} host
 * @param {Record<string, string>} look attributes
 * @param {string} label
 * @param {string} term key of tooltips.json
 * @returns {{tile: HTMLElement, name: HTMLElement, value: HTMLElement, unit: HTMLElement,
 *   note: HTMLElement}}
 */
export function makeTile(host, look, label, term) {
  const tile = el("div", { class: "sq-tile", ...look }, host);
  const name = addTerm(el("div", { class: "sq-tile-label" }, tile), label, term);
  const line = el("div", { class: "sq-tile-line" }, tile);
  const value = el("span", { class: "sq-tile-value" }, line);
  const unit = el("span", { class: "sq-tile-unit" }, line);
  return { tile, name, value, unit, note: el("div", { class: "sq-tile-note" }, tile) };
}

/** @type {(tile: Pick<Tile, "value" | "unit" | "note">, value: string, unit: string,
 *   note: string) => void} */
export function fillTile(tile, value, unit, note) {
  text(tile.value, value);
  text(tile.unit, unit);
  text(tile.note, note);
}
