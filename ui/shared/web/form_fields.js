/* What the page adds to Gradio's forms: tooltips for the labels, one tab stop for each group of
   buttons, and the focus on a field whose value was refused. */
import { showForm } from "./form_side.js";
import { byTab } from "./menus.js";
import { rove } from "./roving_focus.js";
import { markTerm, openTooltip } from "./tooltips.js";

/** @type {[RegExp, string][]} a pattern for ids of fields, and the fields' key in tooltips.json */
const FIELDS = [
  [/^(pg|ls)-temperature$/, "temperature"],
  [/^(pg|ls)-top-p$/, "top-p"],
  [/^pg-tokens$/, "tokens"],
  [/^pg-seed$/, "seed"],
  [/^(pg|ls)-verifier(-\d)?$/, "verifier"],
  [/^pg-numbers-\d$/, "tree size"],
  [/^pg-kind-\d$/, "lane"],
  [/^pg-clock$/, "timed on"],
  [/^pg-check$/, "check"],
  [/^pg-chat$/, "chat"],
  [/^ls-bug$/, "lossless decoder"],
  [/^ls-where$/, "distributions"],
  [/^ls-[pq]$/, "typed distribution"],
  [/^ls-children$/, "children by level"],
  [/^ls-places$/, "counted"],
  [/^ls-samples$/, "lossless samples"],
  [/^hw-(profile|own-start)$/, "hardware profile"],
  [/^hw-against$/, "compared profile"],
  [/^hw-rates$/, "acceptance"],
  [/^hw-nodes$/, "max nodes"],
  [/^hw-(own-)?name$/, "profile name"],
  [/^hw-own-(device|target|draft)-name$/, "figures' name"],
  [/^hw-own-device-memory-gb-per-s$/, "memory bandwidth"],
  [/^hw-own-device-tflops$/, "peak compute"],
  [/^hw-own-device-efficiency$/, "efficiency"],
  [/^hw-own-device-link-gb-per-s$/, "link bandwidth"],
  [/^hw-own-(target|draft)-parameters$/, "parameters"],
  [/^hw-own-(target|draft)-bytes-per-weight$/, "bytes per weight"],
  [/^hw-own-(target|draft)-layers$/, "layers"],
  [/^hw-own-(target|draft)-launch-us-per-layer$/, "launch overhead"],
  [/^hw-own-(target|draft)-offloaded$/, "offloaded"],
];
const GROUPS = ".pg-chips, .pg-files"; // groups of buttons, each group one tab stop
const roved = new WeakSet();

/**
 * @param {any} target of an event
 * @returns {[Element?, string?]} the field that contains the target, and its key in tooltips.json;
 *   empty if there is none
 */
function fieldOf(target) {
  for (let node = target.closest?.("[id]"); node; node = node.parentElement?.closest("[id]")) {
    const found = FIELDS.find(([name]) => name.test(node.id));
    if (found) return [node, found[1]];
  }
  return [];
}

// Gives a label its tooltip whenever the pointer or the focus enters its field: Gradio sometimes
// rebuilds labels. Opens the tooltip if the pointer is on the label, or if the Tab key moved the
// focus.
function explain(event) {
  const [field, key] = fieldOf(event.target);
  /** @type {HTMLElement} */
  const label = field?.querySelector("[data-testid=block-info], label > span");
  if (!label) return;
  markTerm(label, key);
  if (event.type === "focusin" ? byTab() : label.contains(event.target)) openTooltip(label);
}

/** In the open tab, show and focus the first field whose value was refused, if there is one. */
export function focusWrong() {
  /** @type {NodeListOf<HTMLElement>} */
  const wrong = document.querySelectorAll(".pg-page .is-wrong :is(input, textarea)");
  const field = [...wrong].find((one) => isOpen(one.closest(".pg-page")));
  if (!field) return;
  showForm(field, true);
  /** @type {HTMLElement} */
  const fold = field.closest(".block:has(> .label-wrap:not(.open))");
  /** @type {HTMLElement} */ (fold?.querySelector(":scope > .label-wrap"))?.click();
  requestAnimationFrame(() => {
    field.focus();
    field.scrollIntoView({ block: "center" });
  });
}

/** @type {(page: HTMLElement) => boolean} */
const isOpen = (page) => Boolean(page.offsetParent);

function joinGroups() {
  for (const group of document.querySelectorAll(GROUPS)) {
    if (!roved.has(group)) rove(/** @type {HTMLElement} */ (group));
    roved.add(group);
  }
}

document.addEventListener("focusin", joinGroups);
for (const name of ["pointerover", "focusin"]) document.addEventListener(name, explain);
