/* Gradio's tabs. */

/** Show the first tab, Decode, from its top. */
export function showDecode() {
  /** @type {HTMLElement} */ (document.querySelector('[role="tab"]'))?.click();
  scrollTo(0, 0);
}
