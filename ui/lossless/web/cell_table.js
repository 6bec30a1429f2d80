/* The table of cells, which are the outcomes that a test counts. It shows how often each was
   sampled, and how often it was expected. */
import { csvName, csvRows, nameOf } from "./cell_rows.js";
import { isFar } from "./deviation.js";
import { button, el, scrollBox, show, text } from "../../shared/web/dom.js";
import { count, grouped, percent } from "../../shared/web/format.js";
import { makePanel } from "../../shared/web/panel.js";
import { csv, saveText } from "../../shared/web/save_file.js";
import { headed } from "../../shared/web/tooltips.js";
import TOOLTIPS from "../../../assets/tooltips.json" with { type: "json" };

/** @typedef {import("./lossless_view.js").Row} Row */
/** @typedef {import("./lossless_view.js").Test} Test */

const MOST = 24; // max rows shown
const COLUMNS = ["outcome", "probability", "expected", "samples", "difference"];

/** The panel with the table. */
export class CellTable {
  /** @type {Test | null} */
  test = null;

  /** @param {HTMLElement} host */
  constructor(host) {
    const title = "Samples of each outcome";
    const about = { part: "cells", title, cls: "ls-cells", term: "cells" };
    this.panel = makePanel(host, about);
    this.save = button(this.panel.tools, {
      text: "CSV",
      hint: TOOLTIPS["button lossless csv"],
      part: "csv",
      act: () => this.saveCsv(),
    });
    const box = scrollBox(this.panel.body, "Outcomes", { class: "ls-table sq-more-below" });
    this.table = el("table", { class: "sq-table" }, box);
    this.note = el("p", { class: "ls-dim", "data-part": "cells-note" }, this.panel.foot);
    show(this.panel.root, false);
  }

  /** @param {Test} test */
  show(test) {
    this.test = test;
    show(this.panel.root, true);
    this.save.disabled = test.going;
    this.table.replaceChildren();
    const body = headed(this.table, COLUMNS);
    for (const row of test.rows.slice(0, MOST)) paintRow(body, row, test.draws);
    const left = test.count - Math.min(test.rows.length, MOST);
    const more =
      left > 0
        ? `${count(left, "more outcome")} in the CSV file${test.going ? ", once the test is over" : ""}. `
        : "";
    text(this.note, more + "Probabilities are exact, samples are measured.");
  }

  saveCsv() {
    if (this.test) saveText(csvName(this.test), csv(csvRows(this.test)), "text/csv");
  }
}

/**
 * @param {HTMLElement} body
 * @param {Row} row
 * @param {number} draws
 */
function paintRow(body, row, draws) {
  const line = el("tr", {}, body);
  const name = el("th", { scope: "row" }, line);
  const { tokens, rest } = nameOf(row);
  for (const token of tokens) el("code", { text: token }, name);
  if (rest) el("span", { text: rest }, name);
  const expected = row.share * draws;
  el("td", { text: percent(row.share, 1) }, line);
  el("td", { text: expected < 100 ? expected.toFixed(1) : grouped(Math.round(expected)) }, line);
  el("td", { text: grouped(row.seen) }, line);
  const away = row.seen - expected;
  el("td", { text: signed(away), class: isFar(row, draws) ? "ls-far" : null }, line);
}

const signed = (value) => {
  const digits = Math.abs(value).toFixed(Math.abs(value) < 100 ? 1 : 0);
  return Number(digits) === 0 ? "0" : (value < 0 ? "−" : "+") + digits;
};
