/* Gradio's tabs. */

/** Show the first tab, Decode, from its top. */
export function showDecode() {
  open(document.querySelector('[role="tab"]'));
}

/** Show the tab of the tour from its top. */
export function showTour() {
  const tabs = [...document.querySelectorAll('[role="tab"]')];
  open(tabs.find((tab) => tab.textContent.trim() === "Tour"));
}

function open(tab) {
  /** @type {HTMLElement} */ (tab)?.click();
  scrollTo(0, 0);
}
