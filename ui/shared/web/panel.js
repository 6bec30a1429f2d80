/* A panel of a view: a frame with a title, a row of tools, a body and a foot. */
import { el } from "./dom.js";
import { addTerm } from "./tooltips.js";

/**
 * @typedef {object} Panel
 * @property {HTMLElement} root
 * @property {HTMLElement} titleBox
 * @property {HTMLElement} tools
 * @property {HTMLElement} body
 * @property {HTMLElement} foot
 */

/**
 * A new panel, appended to `host`.
 * @param {Element} host
 * @param {{part: string, title: string, cls: string, term?: string}} about `part`: the panel's
 *   name for tests and style sheets; `cls`: further classes; `term`: the key in tooltips.json for
 *   the title
 * @returns {Panel}
 */
export function makePanel(host, { part, title, cls, term }) {
  const about = { class: "sq-panel " + cls, "data-part": part, "aria-label": title };
  const root = el("section", about, host);
  const head = el("div", { class: "sq-panel-head" }, root);
  const titleBox = el("h2", { class: "sq-title" }, head);
  if (term) addTerm(titleBox, title, term);
  else el("span", { text: title }, titleBox);
  const tools = el("div", { class: "sq-tools" }, head);
  const body = el("div", { class: "sq-panel-body" }, root);
  return { root, titleBox, tools, body, foot: el("div", { class: "sq-panel-foot" }, root) };
}
