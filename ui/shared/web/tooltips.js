/* Terms with a tooltip. A term has a dotted underline. Hovering over it, focusing it or tapping it
   opens a card with its explanation. */
import { attr, el, text } from "./dom.js";
import TOOLTIPS from "../../../assets/tooltips.json" with { type: "json" };

const GAP = 6; // px between card and word
const EDGE = 8; // px between card and the edges of the window
// The column with the form. The cards of its words are placed beside it.
const FORM = ".pg-side";

/**
 * A new word with a tooltip, appended to `host`.
 * @param {Element} host
 * @param {string} word
 * @param {string} [key] its key in tooltips.json; by default the word itself
 * @param {string} [cls]
 * @returns {HTMLButtonElement}
 */
export function addTerm(host, word, key = word, cls = "") {
  const made = el("button", { type: "button", class: ("sq-term " + cls).trim(), text: word }, host);
  return markTerm(made, key);
}

/**
 * Give `node` the tooltip that tooltips.json has for `key`. If there is no such tooltip, remove the
 * one that `node` has.
 * @template {HTMLElement} T
 * @param {T} node
 * @param {string} [key]
 * @returns {T}
 */
export function markTerm(node, key) {
  const isTerm = Boolean(key) && Object.hasOwn(TOOLTIPS, key);
  attr(node, "data-term", isTerm ? key : null);
  attr(node, "aria-describedby", isTerm ? described(key) : null);
  return node;
}

/**
 * Give a table a row of headings.
 * @param {HTMLTableElement} table
 * @param {(string | string[])[]} names a name; or a name, its key in tooltips.json, and small words
 *   below it, if any
 * @returns {HTMLTableSectionElement} its body, which is empty
 */
export function headed(table, names) {
  const head = el("tr", {}, el("thead", {}, table));
  for (const name of names) {
    const [words, term, below] = [name].flat();
    const cell = el(words ? "th" : "td", words ? { scope: "col" } : {}, head);
    if (term) addTerm(cell, words, term);
    else text(cell, words);
    if (below) el("small", { text: below }, cell);
  }
  return el("tbody", {}, table);
}

// The id of a hidden element with the tooltip's text, for screen readers.
function described(key) {
  const id = "sq-term-" + key.replace(/\W+/g, "-");
  if (!document.getElementById(id))
    el("span", { id, hidden: "", text: TOOLTIPS[key] }, document.body);
  return id;
}

// -- the card ------------------------------------------------------------------------------------

/** @type {HTMLElement | null} */
let card = null;
/** @type {HTMLElement | null} the word that the open card explains */
let shown = null;
/** @type {DOMRect | null} position of that word when the card was placed */
let spot = null;

/**
 * Show the tooltip of a term.
 * @param {HTMLElement} node
 */
export function openTooltip(node) {
  const look = { class: "sq-explains", popover: "manual", "aria-hidden": "true" };
  card ||= el("div", look, document.body);
  shown = node;
  text(card, TOOLTIPS[node.dataset.term]);
  card.showPopover();
  place();
}

function place() {
  spot = shown.getBoundingClientRect();
  const box = card.getBoundingClientRect();
  const form = shown.closest(FORM);
  const [left, top] = form ? besideForm(box, form.getBoundingClientRect()) : belowWord(box);
  card.style.left = left + "px";
  card.style.top = top + "px";
}

// The position below the word, or above it if there is no room below.
function belowWord({ width, height }) {
  const left = Math.max(EDGE, Math.min(spot.left, innerWidth - width - EDGE));
  const below = spot.bottom + GAP;
  const above = Math.max(spot.top - GAP - height, EDGE);
  return [left, below + height < innerHeight - EDGE ? below : above];
}

// The position to the right of the form. If there is no room, the top or the bottom of the window,
// whichever is farther from the word.
function besideForm({ width, height }, { right }) {
  const lowest = innerHeight - height - EDGE;
  if (right + width + EDGE < innerWidth) return [right, Math.max(EDGE, Math.min(spot.top, lowest))];
  return [EDGE, spot.top > innerHeight / 2 ? EDGE : lowest];
}

function close() {
  if (shown) card.hidePopover();
  shown = null;
}

function openAt(event) {
  const node = event.target.closest?.("[data-term]");
  if (node !== shown) close();
  if (node && node !== shown) openTooltip(node);
}

// Moves the card if its word has the focus, because focusing may have scrolled the word into view.
// Otherwise a scroll that moves the word closes the card.
function followScroll() {
  if (!shown) return;
  const now = shown.getBoundingClientRect();
  if (now.top === spot.top && now.left === spot.left) return; // something else scrolled
  if (shown === document.activeElement) place();
  else close();
}

function closeByKey(event) {
  if (event.key !== "Escape" || !shown || !event.isTrusted) return;
  close();
  event.preventDefault(); // otherwise the same key would stop a run
}

for (const name of ["pointerover", "focusin"]) document.addEventListener(name, openAt);
document.addEventListener("focusout", close);
document.addEventListener("scroll", followScroll, { capture: true, passive: true });
document.documentElement.addEventListener("pointerleave", close);
document.addEventListener("keydown", closeByKey, { capture: true });
