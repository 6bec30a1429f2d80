/* Says after a reload that the reload ended a running job. Gradio reloads the page by itself when
   the connection to the server breaks. */
import { sayIn } from "./page_link.js";

const KEY = "sequoia-interrupted-";

/**
 * If the page closes during a job of `tab`, remember the job. The reloaded page then shows a notice
 * in `tab`.
 * @param {string} tab
 * @param {() => boolean} isBusy whether a job is running
 * @param {string} job its name in the notice, such as "run"
 */
export function sayInterrupted(tab, isBusy, job) {
  const key = KEY + tab;
  window.addEventListener("pagehide", () => isBusy() && store((items) => items.setItem(key, job)));
  store((items) => {
    if (items.getItem(key) === null) return;
    items.removeItem(key);
    sayIn(tab, `The page was reloaded, which ended the ${job} in progress.`);
  });
}

// If the browser forbids storage, nothing is stored, and there is no notice.
function store(act) {
  try {
    act(sessionStorage);
  } catch (problem) {
    console.debug(problem);
  }
}
