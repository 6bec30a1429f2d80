/* Gradio's tabs. */

/** Show the first tab, Decode, from its top. */
export function showDecode() {
  open(document.querySelector('[role="tab"]'));
}

/** Show the tab of the tour from its top. */
export function showTour() {
  open(tabNamed("Tour"));
}

/**
 * Make the buttons below `root` with the name of a tab in `data-opens` open it. One whose tab this
 * page does not have stays hidden.
 * @param {Element} root
 */
export function connectTabButtons(root) {
  for (const button of /** @type {NodeListOf<HTMLElement>} */ (
    root.querySelectorAll("button[data-opens]")
  )) {
    const tab = tabNamed(button.dataset.opens);
    button.hidden = !tab;
    button.addEventListener("click", () => open(tab));
  }
}

/** @type {(name: string) => Element | undefined} */
const tabNamed = (name) =>
  [...document.querySelectorAll('[role="tab"]')].find((tab) => tab.textContent.trim() === name);

function open(tab) {
  /** @type {HTMLElement} */ (tab)?.click();
  scrollTo(0, 0);
}
