/* Opens Gradio's tabs from buttons elsewhere on the page. */

/** Open Decode, which is the first tab, and scroll to the top. */
export function showDecode() {
  open(document.querySelector('[role="tab"]'));
}

/** Open the tab Tour, and scroll to the top. */
export function showTour() {
  open(tabNamed("Tour"));
}

/**
 * Make each button inside `root` open the tab that its `data-opens` names. The button is hidden if
 * the page has no such tab.
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
