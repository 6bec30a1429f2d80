/* Words with an explanation in place: a dotted line below, and a sentence for the pointer, the focus and a tap. Knows no view. */
import { attr, el, text } from "./dom.js";
import TOOLTIPS from "../../../assets/tooltips.json" with { type: "json" };

const GAP = 6;
const EDGE = 8; // px to the word, and to the edges of the window

/** A word of `tooltips` with its explanation; `key` where the word itself is another. */
export function addTerm(host, word, key = word, cls = "") {
  return markTerm(
    el("button", { type: "button", class: ("sq-term " + cls).trim(), text: word }, host),
    key,
  );
}

/** Explain `node` as the term `key`, or no longer, without one. */
export function markTerm(node, key) {
  const known = Boolean(key) && Object.hasOwn(TOOLTIPS, key);
  attr(node, "data-term", known ? key : null);
  attr(node, "aria-describedby", known ? described(key) : null);
  return node;
}

/** The id of the explanation, which stands in the page once for those who hear it. */
function described(key) {
  const id = "sq-term-" + key.replace(/\W+/g, "-");
  if (!document.getElementById(id))
    el("span", { id, hidden: "", text: TOOLTIPS[key] }, document.body);
  return id;
}

// -- the card -------------------------------------------------------------------------------------------------------------

let card = null;
let shown = null;
let spot = null; // the word it belongs to, and where that stood

export function openTooltip(node) {
  card ||= el(
    "div",
    { class: "sq-explains", popover: "manual", "aria-hidden": "true" },
    document.body,
  );
  shown = node;
  text(card, TOOLTIPS[node.dataset.term]);
  card.showPopover();
  place();
}

/** Below the word, or above it where there is no room. */
function place() {
  const word = (spot = shown.getBoundingClientRect());
  const box = card.getBoundingClientRect();
  const below = word.bottom + GAP + box.height < innerHeight - EDGE;
  card.style.left = Math.max(EDGE, Math.min(word.left, innerWidth - box.width - EDGE)) + "px";
  card.style.top = (below ? word.bottom + GAP : Math.max(word.top - GAP - box.height, EDGE)) + "px";
}

function close() {
  if (shown) card.hidePopover();
  shown = null;
}

const found = (event) => event.target.closest?.("[data-term]");

for (const name of ["pointerover", "focusin"]) {
  document.addEventListener(name, (event) => {
    const node = found(event);
    if (node !== shown) close();
    if (node && node !== shown) openTooltip(node);
  });
}

document.addEventListener("focusout", close);
document.addEventListener(
  "scroll",
  () => {
    if (!shown) return;
    const now = shown.getBoundingClientRect();
    if (now.top === spot.top && now.left === spot.left) return; // something else scrolled
    if (shown === document.activeElement)
      place(); // the focus may have brought its word into sight
    else close();
  },
  { capture: true, passive: true },
);
document.documentElement.addEventListener("pointerleave", close);
document.addEventListener(
  "keydown",
  (event) => {
    if (event.key !== "Escape" || !shown) return;
    close();
    event.preventDefault(); // or the same key would stop a run
  },
  { capture: true },
);
