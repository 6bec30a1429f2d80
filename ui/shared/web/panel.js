/* A panel of a view: a frame with a title, tools, body and foot. */
import { el } from "./dom.js";
import { addTerm } from "./tooltips.js";

/** A panel: head with title and tools, body, foot. `term`: the name in tooltips.json that explains the title. */
export function makePanel(host, { part, title, cls, term }) {
  const root = el(
    "section",
    { class: "sq-panel " + cls, "data-part": part, "aria-label": title },
    host,
  );
  const head = el("div", { class: "sq-panel-head" }, root);
  const titleBox = el("h3", { class: "sq-title" }, head);
  if (term) addTerm(titleBox, title, term);
  else el("span", { text: title }, titleBox);
  const tools = el("div", { class: "sq-tools" }, head);
  const body = el("div", { class: "sq-panel-body" }, root);
  return { root, titleBox, tools, body, foot: el("div", { class: "sq-panel-foot" }, root) };
}
