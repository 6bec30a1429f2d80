/* Makes a group of controls one tab stop. Arrow keys, Home and End move the focus inside it. */
import { attr } from "./dom.js";

/** @type {Record<string, number>} */
const MOVES = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
const GONE = '[hidden], [style*="display: none"]';

/**
 * Make the controls in `group` one tab stop, even if controls are added or removed later.
 * @param {HTMLElement} group
 * @param {string} [selector] CSS selector of the controls
 */
export function rove(group, selector = "button") {
  const all = () => /** @type {HTMLButtonElement[]} */ ([...group.querySelectorAll(selector)]);
  const setHome = (home) => {
    for (const one of all()) attr(one, "tabindex", one === home ? 0 : -1);
  };
  const check = () => {
    const usable = all().filter(isUsable);
    const home = usable.find((one) => one.getAttribute("tabindex") === "0") || usable[0];
    // If no control is usable, choose the first one. It may become usable unnoticed, when a hidden
    // panel around the group is shown.
    setHome(home || all()[0]);
  };
  group.addEventListener("focusin", ({ target }) => {
    const control = /** @type {Element} */ (target).closest(selector);
    if (control) setHome(control);
  });
  group.addEventListener("keydown", (event) => move(event, all().filter(isUsable)));
  const attributeFilter = ["disabled", "hidden", "style"];
  new MutationObserver(check).observe(group, { subtree: true, childList: true, attributeFilter });
  check();
}

const isUsable = (control) => !control.disabled && !control.closest(GONE);

function move(event, controls) {
  const at = controls.findIndex((control) => control.contains(event.target));
  if (at < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
  let next = at + MOVES[event.key];
  if (event.key === "Home") next = 0;
  if (event.key === "End") next = -1;
  if (Number.isNaN(next)) return;
  event.preventDefault();
  event.stopPropagation(); // elsewhere on the page, the same keys step through the run
  controls.at(next % controls.length).focus();
}
