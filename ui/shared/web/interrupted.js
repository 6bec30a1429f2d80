/* Says after a reload that the reload ended a running job. Gradio reloads the page by itself when
   the connection to the server breaks. If the browser forbids storage, there is no notice. */
import { sayIn } from "./page_link.js";

const KEY = "sequoia-interrupted-";

/**
 * If the page closes during a run of `view`, remember that. The reloaded page then shows a notice
 * in `view`.
 * @param {string} view
 * @param {() => boolean} isBusy whether a run is in progress
 */
export function sayInterrupted(view, isBusy) {
  const key = KEY + view;
  window.addEventListener("pagehide", () => isBusy() && sessionStorage.setItem(key, ""));
  if (sessionStorage.getItem(key) === null) return;
  sessionStorage.removeItem(key);
  sayIn(view, "The page was reloaded, which ended the run in progress.");
}
