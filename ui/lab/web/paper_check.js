/* The paper's printed figures beside the same figures worked out here, in this browser. */
import { makePanel } from "../../shared/web/panel.js";
import * as vectors from "./acceptance_vectors.js";
import { DpTable } from "./dp/dp_table.js";
import * as dom from "../../shared/web/dom.js";
import { el, text } from "../../shared/web/dom.js";

export class PaperCheck {
  constructor(host) {
    const panel = makePanel(host, {
      part: "check",
      title: "Check against the paper",
      cls: "sq-lab-check",
    });
    el("span", { class: "sq-word", text: "App. E vector" }, panel.titleBox);
    const table = el("table", { class: "sq-lab-table" }, panel.body);
    const line = el("tr", {}, el("thead", {}, table));
    for (const head of ["Nodes", "Levels", "paper", "here", ""])
      el("th", { scope: "col", text: head }, line);
    const body = el("tbody", {}, table);
    const tables = new Tables();
    const rows = vectors.PRINTED.map((printed) => new Row(tables, body, ...printed));
    el(
      "p",
      {
        class: "sq-lab-note",
        text: "Expected tokens of the best tree. “Here” is the table of the recurrence, worked out now in this browser.",
      },
      panel.body,
    );
    dom.onceVisible(panel.body, () => fill(rows));
  }
}

/** One table for all figures with the same bound of levels. */
class Tables extends Map {
  best(nodes, levels) {
    const most = Math.max(
      ...vectors.PRINTED.filter((printed) => printed[1] === levels).map(([n]) => n),
    );
    if (!this.has(levels)) this.set(levels, DpTable.whole(vectors.PAPER, most, levels));
    return this.get(levels).best(nodes, levels ?? nodes).value;
  }
}

/** One printed figure. */
class Row {
  constructor(tables, body, nodes, levels, paper) {
    Object.assign(this, { tables, nodes, levels, paper });
    const line = (this.line = el("tr", {}, body));
    [this.here, this.word] = [nodes, levels ?? "any", paper.toFixed(3), "…", ""]
      .map((words) => el("td", { text: String(words) }, line))
      .slice(3);
  }

  /** Work it out here: the same if it is to the printed digits. */
  fill() {
    const here = this.tables.best(this.nodes, this.levels);
    const same = here.toFixed(3) === this.paper.toFixed(3);
    text(this.here, here.toFixed(3));
    text(this.word, same ? "✓ same" : "✗ differs");
    this.line.dataset.same = same;
  }
}

/** Row after row, each when the page has nothing else to do: a table takes up to half a second. */
function fill([row, ...others]) {
  if (!row) return;
  (window.requestIdleCallback || setTimeout)(() => {
    row.fill();
    fill(others);
  });
}
