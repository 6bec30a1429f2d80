/* The labels of the forms, which the framework makes: each is explained from tooltips.json, to the pointer and to the Tab key. */
import { markTerm, openTooltip } from "./tooltips.js";

const FIELDS = [
  // names of elements, and the term of their label
  [/^(pg|rc)-temperature$/, "temperature"],
  [/^(pg|rc)-top-p$/, "top-p"],
  [/^(pg|rc)-tokens$/, "tokens"],
  [/^(pg|rc)-seed$/, "seed"],
  [/^pg-tree$/, "tree"],
  [/^(pg|rc)-verifier(-\d)?$/, "verifier"],
  [/^(pg-(first|second|branching)|rc-numbers-\d)$/, "tree size"],
  [/^rc-kind-\d$/, "lane"],
  [/^pg-compare$/, "compare"],
  [/^rc-check$/, "check"],
  [/^(pg|rc)-chat$/, "chat"],
];
let tabbed = false;

/** [element of a field, its term] around `target`, or undefined. */
function fieldOf(target) {
  for (let node = target.closest?.("[id]"); node; node = node.parentElement?.closest("[id]")) {
    const found = FIELDS.find(([name]) => name.test(node.id));
    if (found) return [node, found[1]];
  }
}

/** The label comes and goes with the framework, so it is marked when the pointer or the focus comes. */
function explain(event) {
  const [field, key] = fieldOf(event.target) || [];
  const label = field?.querySelector("[data-testid=block-info], label > span");
  if (!label) return;
  markTerm(label, key);
  if (event.type === "focusin" ? tabbed : label.contains(event.target)) openTooltip(label);
}

for (const name of ["pointerover", "focusin"]) document.addEventListener(name, explain);
document.addEventListener(
  "keydown",
  (event) => {
    tabbed = event.key === "Tab";
  },
  true,
);
document.addEventListener(
  "pointerdown",
  () => {
    tabbed = false;
  },
  true,
);
