/* A bar that fills from the left. */
import { attr, el, show } from "./dom.js";

/**
 * A new progress bar, appended to `host` and hidden at first.
 * @param {HTMLElement} host
 * @param {string} label for screen readers
 * @param {string} [cls]
 * @returns {(share?: number | null) => void} a function that fills the bar up to a share
 *   from 0 to 1, or hides it if there is no share
 */
export function progressBar(host, label, cls = "") {
  const range = { role: "progressbar", "aria-valuemin": "0", "aria-valuemax": "100" };
  const bar = el("div", { class: "hw-progress " + cls, "aria-label": label, ...range }, host);
  const fill = el("i", {}, bar);
  const set = (share) => {
    const percent = Math.floor((share ?? 0) * 100);
    show(bar, typeof share === "number");
    attr(bar, "aria-valuenow", percent);
    fill.style.width = percent + "%";
  };
  set(null);
  return set;
}
