/* Fields for numbers. */
import { el } from "../../shared/web/dom.js";

/**
 * A text field, as a number field would drop what it cannot read.
 * @param {HTMLElement} host
 * @param {string} part its name in the page
 * @param {Record<string, string>} more attributes, such as its aria-label
 * @returns {HTMLInputElement}
 */
export const numberField = (host, part, more) =>
  el("input", { class: "sq-input sq-lab-number", type: "text", "data-part": part, ...more }, host);
