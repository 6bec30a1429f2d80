/* Says after a reload that it has ended a job: Gradio loads the page again when the stream of
   messages breaks. The form and the run on screen come back with the page's address. */
import { sayIn } from "./page_link.js";

const KEY = "sequoia-interrupted-";

/**
 * Watch over the jobs of a tab, and say if the last page of this browser tab had one.
 * @param {string} tab
 * @param {() => boolean} isBusy whether a job is going
 * @param {string} job what the sentence calls it
 */
export function sayInterrupted(tab, isBusy, job) {
  const key = KEY + tab;
  window.addEventListener("pagehide", () => isBusy() && store((items) => items.setItem(key, job)));
  store((items) => {
    if (items.getItem(key) === null) return;
    items.removeItem(key);
    sayIn(tab, `The page was loaded again, which ended the ${job} that was going.`);
  });
}

// A browser may forbid any storage; then nothing is said.
function store(act) {
  try {
    act(sessionStorage);
  } catch (problem) {
    console.debug(problem);
  }
}
