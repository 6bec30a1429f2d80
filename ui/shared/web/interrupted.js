/* After a reload, says that it ended a job: Gradio reloads the page when the stream of messages
   breaks. The form and the run on screen are restored from the page's address. */
import { sayIn } from "./page_link.js";

const KEY = "sequoia-interrupted-";

/**
 * Note when the page closes during a job of `tab`; the next page in this browser tab says so.
 * @param {string} tab
 * @param {() => boolean} isBusy whether a job is running
 * @param {string} job what the sentence calls it
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

// A browser may forbid all storage; then nothing is said.
function store(act) {
  try {
    act(sessionStorage);
  } catch (problem) {
    console.debug(problem);
  }
}
