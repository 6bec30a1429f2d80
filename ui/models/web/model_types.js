/* The list of model types: which run, and which do not. */
import { el, text } from "../../shared/web/dom.js";
import { makePanel } from "../../shared/web/panel.js";

/**
 * The list, as returned by `types_message` in ui/models/model_types.py.
 * @typedef {{summary: string, rows: {name: string, result: string, words: string}[]}} Types
 */

const LABEL = "Filter model types";

/** A panel with the list. */
export class ModelTypes {
  /** @type {HTMLElement[]} */
  rows = [];

  /** @param {HTMLElement} frame */
  constructor(frame) {
    const title = "Which model types run";
    const panel = makePanel(frame, { part: "types", title, cls: "md-types" });
    const box = el("details", {}, panel.body);
    this.summary = el("summary", {}, box);
    const hint = { placeholder: "Filter, such as phi3", "aria-label": LABEL };
    this.field = el("input", { type: "search", ...hint }, box);
    const scroll = {
      class: "md-type-list sq-more-below",
      role: "region",
      "aria-label": title,
      tabindex: 0,
    };
    this.list = el("dl", {}, el("div", scroll, box));
    this.field.addEventListener("input", () => this.filter());
  }

  /** @param {Types} types */
  show({ summary, rows }) {
    text(this.summary, summary);
    this.rows = rows.map(row);
    this.list.replaceChildren(...this.rows);
    this.filter();
  }

  filter() {
    const typed = this.field.value.trim().toLowerCase();
    for (const one of this.rows) one.hidden = !one.dataset.words.includes(typed);
  }
}

function row({ name, result, words }) {
  const found = `${name} ${words}`.toLowerCase();
  const root = el("div", { "data-type": name, "data-result": result, "data-words": found });
  el("dt", { text: name }, root);
  el("dd", { text: words }, root);
  return root;
}
