/* Terms with a tooltip: they have a dotted underline, and hover, focus or a tap opens a sentence
   about them. Independent of the views. */
import { attr, el, text } from "./dom.js";
import TOOLTIPS from "../../../assets/tooltips.json" with { type: "json" };

const GAP = 6; // px to the word
const EDGE = 8; // px to the edges of the window
const FORM = ".pg-side"; // a column of fields, which a card must not cover

/**
 * Add a word with a tooltip.
 * @param {Element} host
 * @param {string} word
 * @param {string} [key] of tooltips.json, where it is not the word itself
 * @param {string} [cls]
 * @returns {HTMLButtonElement}
 */
export function addTerm(host, word, key = word, cls = "") {
  const made = el("button", { type: "button", class: ("sq-term " + cls).trim(), text: word }, host);
  return markTerm(made, key);
}

/**
 * Give `node` the tooltip of the term `key`, or none without a key.
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

// The id of the tooltip's text, which is added to the page once, for screen readers.
function described(key) {
  const id = "sq-term-" + key.replace(/\W+/g, "-");
  if (!document.getElementById(id))
    el("span", { id, hidden: "", text: TOOLTIPS[key] }, document.body);
  return id;
}

// -- the card ------------------------------------------------------------------------------------

/** @type {HTMLElement | null} */
let card = null;
/** @type {HTMLElement | null} the word it belongs to */
let shown = null;
/** @type {DOMRect | null} where that was */
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

// Below the word, or above it where there is no room.
function belowWord({ width, height }) {
  const left = Math.max(EDGE, Math.min(spot.left, innerWidth - width - EDGE));
  const below = spot.bottom + GAP;
  const above = Math.max(spot.top - GAP - height, EDGE);
  return [left, below + height < innerHeight - EDGE ? below : above];
}

// To the right of the form; where there is no room, at the far edge of the window.
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

// The focus may have scrolled its word into view: then the card follows.
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
