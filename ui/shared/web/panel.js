/* What views are built of: panels, tiles, progress bars, and the line with an error or a notice. */
import { attr, el, show, text } from "./dom.js";
import { rove } from "./roving_focus.js";
import { addTerm } from "./tooltips.js";

/**
 * @typedef {object} Panel
 * @property {HTMLElement} root
 * @property {HTMLElement} titleBox
 * @property {HTMLElement} tools
 * @property {HTMLElement} body
 * @property {HTMLElement} foot
 */

/**
 * A new panel, appended to `host`.
 * @param {Element} host
 * @param {{part: string, title: string, cls: string, term?: string}} about `part`: the panel's
 *   name for tests and style sheets; `cls`: further classes; `term`: the key in tooltips.json for
 *   the title
 * @returns {Panel}
 */
export function makePanel(host, { part, title, cls, term }) {
  const about = { class: "sq-panel " + cls, "data-part": part, "aria-label": title };
  const root = el("section", about, host);
  const head = el("div", { class: "sq-panel-head" }, root);
  const titleBox = el("h2", { class: "sq-title" }, head);
  if (term) addTerm(titleBox, title, term);
  else el("span", { text: title }, titleBox);
  const tools = el("div", { class: "sq-tools" }, head);
  const body = el("div", { class: "sq-panel-body" }, root);
  return { root, titleBox, tools, body, foot: el("div", { class: "sq-panel-foot" }, root) };
}

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
  const name = addTerm(el("div", { class: "sq-dim" }, tile), label, term);
  const line = el("div", { class: "sq-tile-line" }, tile);
  const value = el("span", { class: "sq-tile-value" }, line);
  const unit = el("span", { class: "sq-tile-unit sq-dim" }, line);
  return { tile, name, value, unit, note: el("div", { class: "sq-tile-note" }, tile) };
}

/**
 * A tile for each entry of `about`, and arrow keys that move between them.
 * @param {HTMLElement} host
 * @param {string[][]} about key, label and term of each tile
 * @param {(key: string) => Record<string, string>} look attributes of a tile
 * @returns {Record<string, Tile>} by key
 */
export function makeTiles(host, about, look) {
  rove(host);
  return Object.fromEntries(
    about.map(([key, label, term]) => [key, makeTile(host, look(key), label, term)]),
  );
}

/** @type {(tile: Pick<Tile, "value" | "unit" | "note">, value: string, unit: string,
 *   note: string) => void} */
export function fillTile(tile, value, unit, note) {
  text(tile.value, value);
  text(tile.unit, unit);
  text(tile.note, note);
}

/**
 * A new banner, appended to `host`. It is hidden while it has no words.
 * @param {HTMLElement} host
 * @returns {(words: string, isError: boolean) => void} a function that shows words
 */
export function makeBanner(host) {
  const look = { class: "sq-banner", role: "status", "data-part": "banner", hidden: "" };
  const banner = el("p", look, host);
  return (words, isError) => {
    const isNew = banner.textContent !== words;
    text(banner, words);
    show(banner, Boolean(words));
    attr(banner, "role", isError ? "alert" : "status");
    banner.classList.toggle("sq-banner-error", isError);
    // the visitor may have scrolled to a part of the form from which the banner is not visible
    if (isError && isNew) banner.scrollIntoView({ block: "nearest" });
  };
}

/**
 * A new fold, appended to `host` and closed at first.
 * @param {Element} host
 * @param {string} title
 * @param {string} [part] its name for tests and style sheets
 * @returns {HTMLDetailsElement}
 */
export function makeFold(host, title, part = "more") {
  const fold = el("details", { class: "sq-fold", "data-part": part }, host);
  el("summary", { text: title }, fold);
  return fold;
}

/**
 * A new progress bar, appended to `host` and hidden at first.
 * @param {HTMLElement} host
 * @param {string} label for screen readers
 * @param {string} [cls]
 * @returns {(share?: number | null) => void} a function that fills the bar up to a share
 *   from 0 to 1, or hides it if there is no share
 */
export function progressBar(host, label, cls = "") {
  const range = { role: "progressbar", "aria-valuemin": "0", "aria-valuemax": "100" };
  const bar = el("div", { class: "hw-progress " + cls, "aria-label": label, ...range }, host);
  const fill = el("i", {}, bar);
  const set = (share) => {
    const percent = Math.floor((share ?? 0) * 100);
    show(bar, typeof share === "number");
    attr(bar, "aria-valuenow", percent);
    fill.style.width = percent + "%";
  };
  set(null);
  return set;
}
