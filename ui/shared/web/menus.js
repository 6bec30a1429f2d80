/* Finds out whether a different option of a menu was chosen; ui/shared/layout.py says why this is
   needed. Also closes a menu that is left with the Tab key: gradio 6.31 leaves it open. With the
   Escape key, a menu closes without the drawer around it. */

/** @type {Record<string, any>} the current option of each menu that has had the focus */
const before = {};

/**
 * Called when a menu gets the focus.
 * @param {string} menu its id
 * @param {any} option its current option
 * @returns {any[]} the outputs that Gradio expects: none
 */
export function opened(menu, option) {
  before[menu] = option;
  return [];
}

/**
 * Called when an option may have been chosen.
 * @param {string} menu its id
 * @param {any} option
 * @returns {any} `option` if it differs from the menu's previous option, else null
 */
export function chosen(menu, option) {
  if (before[menu] === option) return null;
  before[menu] = option;
  return option;
}

let tabbed = false;

/** @returns {boolean} whether the visitor's latest key or pointer press was the Tab key */
export const byTab = () => tabbed;

function closeMenu({ target }) {
  if (!tabbed || !target.matches?.("[role=combobox]")) return;
  const escape = new KeyboardEvent("keydown", { key: "Escape", bubbles: true });
  setTimeout(() => target.dispatchEvent(escape)); // not at once, or the menu would open again
}

// Chromium would move the focus to a list that scrolls. The list closes, and the focus is lost.
function skipLists() {
  for (const list of document.querySelectorAll("[role=listbox]"))
    list.setAttribute("tabindex", "-1");
}

function closeNothingElse(event) {
  const isOpen = event.target.getAttribute?.("aria-expanded") === "true";
  if (event.key === "Escape" && isOpen && event.target.matches("[role=combobox]"))
    event.preventDefault();
}

document.addEventListener("focusout", closeMenu);
document.addEventListener("keydown", closeNothingElse, true);
document.addEventListener("pointerdown", () => (tabbed = false), true);
document.addEventListener(
  "keydown",
  (event) => {
    tabbed = event.key === "Tab";
    if (tabbed) skipLists();
  },
  true,
);
