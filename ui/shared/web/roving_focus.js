/* One tab stop for a group of controls; arrow keys move the focus inside it. */

const MOVES = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

// Whether it can have the focus.
const usable = (item) =>
  !item.disabled && !item.closest("[hidden]") && item.style.display !== "none";

/**
 * Make the controls in `group` that match `selector` one tab stop. Controls may come, go, hide and
 * be disabled later.
 * @param {HTMLElement} group
 * @param {string} [selector]
 * @param {HTMLElement} [first] the control that a first Tab goes to, if no other is pressed
 */
export function oneTabStop(group, selector = "button", first = undefined) {
  /** @type {HTMLElement | null} */
  let current = null;
  /** @returns {HTMLElement[]} */
  const items = () => /** @type {any[]} */ ([...group.querySelectorAll(selector)]).filter(usable);
  const refresh = () => {
    const all = items();
    const pressed = all.find((item) => item.getAttribute("aria-pressed") === "true");
    const home = [current, pressed, first].find((item) => all.includes(item)) ?? all[0];
    for (const item of all) item.tabIndex = item === home ? 0 : -1;
  };
  new MutationObserver(refresh).observe(group, {
    subtree: true,
    childList: true,
    attributeFilter: ["hidden", "disabled", "style", "aria-pressed"],
  });
  group.addEventListener("focusin", ({ target }) => {
    const item = /** @type {HTMLElement} */ (target).closest(selector);
    if (!(item instanceof HTMLElement)) return;
    current = item;
    refresh();
  });
  group.addEventListener("keydown", (event) => {
    const all = items();
    const at = all.findIndex((item) => item === event.target);
    const next = all[neighbour(event.key, at, all.length)];
    if (!next || event.ctrlKey || event.metaKey || event.altKey) return;
    next.focus();
    event.preventDefault();
    event.stopPropagation();
  });
  refresh();
}

// Where `key` moves the focus from item `at` of `count`; undefined where it does not.
function neighbour(key, at, count) {
  if (at < 0) return undefined;
  if (key === "Home") return 0;
  if (key === "End") return count - 1;
  return key in MOVES ? at + MOVES[key] : undefined;
}
