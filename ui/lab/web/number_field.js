/* The field in which numbers are typed. */
import { el } from "../../shared/web/dom.js";

/**
 * A text field: an input of type "number" would not return what it cannot parse.
 * @param {HTMLElement} host
 * @param {string} part its data-part
 * @param {Record<string, string>} more attributes, such as its aria-label
 * @returns {HTMLInputElement}
 */
export const numberField = (host, part, more) =>
  el("input", { class: "sq-input sq-lab-number", type: "text", "data-part": part, ...more }, host);
