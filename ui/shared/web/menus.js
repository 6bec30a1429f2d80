/* Which option of a menu was chosen (see ui/shared/menus.py, which calls these), and closing a menu
   that is left with the Tab key, which gradio 6.31 leaves open. */

/** @type {Record<string, any>} the option each menu had when it got the focus, or chosen since */
const before = {};

/**
 * A menu got the focus.
 * @param {string} menu its id
 * @param {any} option the one chosen until now
 * @returns {any[]} no outputs
 */
export function opened(menu, option) {
  before[menu] = option;
  return [];
}

/**
 * `option` where it is another one than the menu had, else null.
 * @param {string} menu its id
 * @param {any} option
 * @returns {any}
 */
export function chosen(menu, option) {
  if (before[menu] === option) return null;
  before[menu] = option;
  return option;
}

let tabbed = false;

function closeMenu({ target }) {
  if (!tabbed || !target.matches?.("[role=combobox]")) return;
  const escape = new KeyboardEvent("keydown", { key: "Escape", bubbles: true });
  setTimeout(() => target.dispatchEvent(escape)); // while the menu has the focus it opens again
}

document.addEventListener("focusout", closeMenu);
document.addEventListener(
  "keydown",
  (event) => {
    tabbed = event.key === "Tab";
  },
  true,
);
