/* Gradio's tabs. */

/** Show the first tab, Decode, from its top. */
export function showDecode() {
  const tab = document.querySelector('[role="tab"]');
  if (tab) tab.click();
  scrollTo(0, 0);
}
