/* What views are built of: panels, tiles, progress bars, and the line with an error or a notice. */
import { attr, button, el, segments, show, tell, text } from "./dom.js";
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

/**
 * A row of tiles, appended to `host`: one for each entry of `about`. Arrow keys move between them.
 * @param {HTMLElement} host
 * @param {string[][]} about key, label and term (a key of tooltips.json) of each tile
 * @returns {(key: string, value: string, unit: string) => void} a function that fills a tile
 */
export function makeTiles(host, about) {
  const row = el("div", { class: "sq-tiles" }, host);
  rove(row);
  const tiles = Object.fromEntries(about.map(([key, ...named]) => [key, tile(row, key, ...named)]));
  return (key, value, unit) => {
    text(tiles[key].value, value);
    text(tiles[key].unit, unit);
  };
}

function tile(host, key, label, term) {
  const made = el("div", { class: "sq-tile", "data-part": "tile-" + key }, host);
  addTerm(el("div", { class: "sq-dim" }, made), label, term);
  const line = el("div", { class: "sq-tile-line" }, made);
  const value = el("span", { class: "sq-tile-value" }, line);
  return { value, unit: el("span", { class: "sq-tile-unit sq-unbroken sq-dim" }, line) };
}

/**
 * A new banner, appended to `host`. It is hidden while it has no words.
 * @param {HTMLElement} host
 * @param {string} [part] its name for tests
 * @returns {(words: string, isError?: boolean) => void} a function that shows words
 */
export function makeBanner(host, part = "banner") {
  const look = { class: "sq-banner", role: "status", "data-part": part, hidden: "" };
  const banner = el("p", look, host);
  return (words, isError = false) => {
    const isNew = banner.textContent !== words;
    tell(banner, words);
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
 * @returns {(share?: number | null) => void} a function that fills the bar up to a share
 *   from 0 to 1, or hides it if there is no share
 */
export function progressBar(host, label) {
  const bar = el("progress", { "aria-label": label }, host);
  const set = (share) => {
    show(bar, typeof share === "number");
    bar.value = share ?? 0;
  };
  set(null);
  return set;
}

/**
 * A new group of joined buttons, of which one is pressed, appended to `host`.
 * @param {Element} host
 * @param {string} label for screen readers
 * @param {Parameters<typeof button>[1][]} looks of the buttons
 * @returns {{group: HTMLElement, buttons: HTMLButtonElement[], press: (pressed: number) => void}}
 *   `press`: a function that shows which of the buttons is pressed
 */
export function makeChoices(host, label, looks) {
  const group = segments(host, label);
  const buttons = looks.map((look) => button(group, look));
  const press = (pressed) =>
    buttons.forEach((one, i) => attr(one, "aria-pressed", String(i === pressed)));
  return { group, buttons, press };
}
