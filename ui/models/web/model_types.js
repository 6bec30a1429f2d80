/* Which model types run: a list that opens, with a field to look for one. Decides nothing. */
import { makePanel } from "../../shared/web/panel.js";
import { el, text } from "../../shared/web/dom.js";

export class ModelTypes {
  constructor(frame) {
    const panel = makePanel(frame, {
      part: "types",
      title: "Which model types run",
      cls: "md-types",
    });
    const box = el("details", {}, panel.body);
    this.summary = el("summary", {}, box);
    this.field = el(
      "input",
      { type: "search", placeholder: "Filter, such as phi3", "aria-label": "Filter model types" },
      box,
    );
    this.list = el("dl", { class: "md-type-list" }, box);
    this.field.addEventListener("input", () => this.filter());
  }

  show({ summary, rows }) {
    text(this.summary, summary);
    this.rows = rows.map((row) => this.row(row));
    this.list.replaceChildren(...this.rows.map((row) => row.root));
    this.filter();
  }

  row({ name, result, words }) {
    const root = el("div", { "data-type": name, "data-result": result });
    el("dt", { text: name }, root);
    el("dd", { text: words }, root);
    return { root, words: `${name} ${words}`.toLowerCase() };
  }

  filter() {
    const wanted = this.field.value.trim().toLowerCase();
    for (const row of this.rows || []) row.root.hidden = !row.words.includes(wanted);
  }
}
