/* Many buttons, one stop of the Tab key: inside a group, arrow keys move the focus. */

const STEPS = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 };

/**
 * Make the buttons below `root` one tab stop. It is `first`, which must always be visible, unless
 * the focus is inside. Call it again after buttons were added.
 * @param {HTMLElement} root
 * @param {Element | null} [first]
 */
export function oneTabStop(root, first = root.querySelector("button")) {
  const buttons = () => [...root.querySelectorAll("button")];
  const stopAt = (stop) => {
    for (const node of buttons()) node.tabIndex = node === stop ? 0 : -1;
  };
  stopAt(first);
  if (root.dataset.roving) return;
  root.dataset.roving = "yes";
  root.addEventListener("focusin", ({ target }) => {
    if (buttons().includes(/** @type {HTMLButtonElement} */ (target))) stopAt(target);
  });
  root.addEventListener("focusout", ({ relatedTarget }) => {
    if (!root.contains(/** @type {Node} */ (relatedTarget))) stopAt(first);
  });
  root.addEventListener("keydown", (event) => move(event, buttons()));
}

/**
 * @param {KeyboardEvent} event
 * @param {HTMLButtonElement[]} buttons
 */
function move(event, buttons) {
  const usable = buttons.filter((node) => node.offsetParent && !node.disabled);
  const at = usable.indexOf(/** @type {HTMLButtonElement} */ (event.target));
  const by = STEPS[event.key];
  if (!by || at < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault(); // otherwise the same key would step through the race
  usable[(at + by + usable.length) % usable.length].focus();
}
