/* Menus and text areas. */
import { el } from "./dom.js";

/**
 * Replace the options of a menu. The chosen one stays chosen, if it is still there.
 * @param {HTMLSelectElement} menu
 * @param {{key: string, label: string}[]} entries
 */
export function fillMenu(menu, entries) {
  const { value } = menu;
  const option = ({ key, label }) => el("option", { value: key, text: label });
  menu.replaceChildren(...entries.map(option));
  if (value) menu.value = value;
}

/**
 * A text area, appended to `host`.
 * @param {HTMLElement} host
 * @param {string} part its data-part
 * @param {Record<string, string>} more attributes, such as its aria-label
 * @returns {HTMLTextAreaElement}
 */
export const textArea = (host, part, more) =>
  el("textarea", { class: "sq-input", spellcheck: "false", "data-part": part, ...more }, host);
