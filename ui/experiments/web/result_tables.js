/* The two tables of the shown result: its rows, sometimes with the paper's numbers beside them, and
   its comparisons with their intervals. */
import { button, el, show, text } from "../../shared/web/dom.js";
import { apart, short } from "../../shared/web/format.js";
import { makePanel } from "../../shared/web/panel.js";
import { csv, saveText } from "../../shared/web/save_file.js";
import { addTerm } from "../../shared/web/tooltips.js";
import { cellTexts, tableRows, verdictOf } from "./result_rows.js";
import TOOLTIPS from "../../../assets/tooltips.json" with { type: "json" };

/** @import { Comparison, Result } from "./experiments_state.js" */

/** The panels of both tables. */
export class ResultTables {
  /** @type {Result | undefined | null} null before the first call of `show` */
  result = null;

  /** @param {HTMLElement} host */
  constructor(host) {
    this.rows = makePanel(host, { part: "table", title: "Results", cls: "xp-table" });
    this.title = this.rows.titleBox.querySelector("span");
    button(this.rows.tools, {
      text: "CSV",
      hint: TOOLTIPS["button experiment table csv"],
      part: "table-csv",
      act: () => this.saveCsv(),
    });
    this.table = table(this.rows.body, "Table of results");
    const about = { part: "comparisons", title: "Comparisons", cls: "xp-comparisons" };
    this.comparisons = makePanel(host, { ...about, term: "paired comparison" });
    this.ratios = table(this.comparisons.body, "Table of comparisons");
  }

  /** @param {Result | undefined} result */
  show(result) {
    if (result === this.result) return;
    this.result = result;
    show(this.rows.root, Boolean(result?.rows.length));
    show(this.comparisons.root, Boolean(result?.comparisons.length));
    const isBeside = result?.columns.some(({ kind }) => kind === "paper");
    text(this.title, isBeside ? "Results beside the paper’s" : "Results");
    paintRows(this.table, result);
    paintComparisons(this.ratios, result?.comparisons ?? []);
  }

  saveCsv() {
    if (!this.result) return;
    saveText(`sequoia-${this.result.name}-table.csv`, csv(tableRows(this.result)), "text/csv");
  }
}

function table(host, label) {
  const box = { class: "xp-scroll", tabindex: "0", role: "region", "aria-label": label };
  return el("table", {}, el("div", box, host));
}

/**
 * @param {HTMLTableElement} host
 * @param {Result | undefined} result
 */
function paintRows(host, result) {
  host.replaceChildren();
  if (!result) return;
  const head = el("tr", {}, el("thead", {}, host));
  for (const column of result.columns) {
    const isText = result.rows.some((row) => typeof row[column.name] === "string");
    const look = { class: isText ? "xp-text" : null, text: column.label };
    const cell = el("th", { scope: "col", ...look }, head);
    const { kind } = column;
    if (kind) el("span", { class: "sq-badge", "data-label": kind, text: kind }, cell);
  }
  const body = el("tbody", {}, host);
  const texts = result.columns.map(({ name }) => cellTexts(result.rows.map((row) => row[name])));
  result.rows.forEach((row, i) => {
    const line = el("tr", {}, body);
    result.columns.forEach(({ name }, at) => {
      const cls = typeof row[name] === "string" ? "xp-text" : null;
      const look = { class: cls, text: texts[at][i] };
      if (at) el("td", look, line);
      else el("th", { scope: "row", ...look }, line);
    });
  });
}

/**
 * @param {HTMLTableElement} host
 * @param {Comparison[]} comparisons
 */
function paintComparisons(host, comparisons) {
  host.replaceChildren();
  const head = el("tr", {}, el("thead", {}, host));
  for (const name of ["Comparison", "Ratio", "", "Verdict"])
    el("th", { scope: "col", text: name }, head);
  addTerm(head.children[2], "95% interval", "paired comparison");
  head.children[3].classList.add("xp-text");
  const body = el("tbody", {}, host);
  for (const one of comparisons) {
    const line = el("tr", {}, body);
    const verdict = verdictOf(one);
    el("th", { scope: "row", text: one.text }, line);
    el("td", { text: short(one.ratio) + "×" }, line);
    el("td", { text: intervalText(one) }, line);
    el("td", { class: "xp-text", "data-verdict": verdict, text: verdict || "–" }, line);
  }
}

/** @type {(comparison: Comparison) => string} with enough digits to tell both ends from 1 */
const intervalText = ({ low, high }) =>
  low === null || high === null ? "–" : `${apart(low, 1)[0]} to ${apart(high, 1)[0]}`;
