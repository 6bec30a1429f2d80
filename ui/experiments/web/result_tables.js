/* The two tables of the result on screen. One has the result's rows, sometimes beside the paper's
   numbers. The other has the result's comparisons, with their 95% intervals. */
import { button, el, scrollBox, show, text } from "../../shared/web/dom.js";
import { apart, short } from "../../shared/web/format.js";
import { makePanel } from "../../shared/web/panel.js";
import { csv, saveText } from "../../shared/web/save_file.js";
import { addTerm, headed } from "../../shared/web/tooltips.js";
import { groupedComparisons, groupedRows, onlyKind, tableRows, verdictOf } from "./result_rows.js";
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
    this.kind = el("span", { class: "sq-badge", "data-part": "table-kind" }, this.rows.tools);
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

  /**
   * @param {Result | undefined} result
   * @param {string} [about] what the numbers in the table are
   */
  show(result, about = "") {
    if (result === this.result) return;
    this.result = result;
    show(this.rows.root, Boolean(result?.rows.length));
    show(this.comparisons.root, Boolean(result?.comparisons.length));
    const isBeside = result?.columns.some(({ kind }) => kind === "paper");
    text(this.title, (about || "Results") + (isBeside ? ", beside the paper’s" : ""));
    const kind = onlyKind(result?.columns ?? []);
    show(this.kind, Boolean(kind));
    text(this.kind, kind);
    this.kind.dataset.label = kind;
    paintRows(this.table, result);
    paintComparisons(this.ratios, result?.comparisons ?? []);
  }

  saveCsv() {
    if (!this.result) return;
    saveText(`sequoia-${this.result.name}-table.csv`, csv(tableRows(this.result)), "text/csv");
  }
}

const table = (host, label) =>
  el("table", { class: "sq-table" }, scrollBox(host, label, { class: "xp-scroll sq-more-below" }));

/**
 * @param {HTMLTableElement} host
 * @param {Result | undefined} result
 */
function paintRows(host, result) {
  host.replaceChildren();
  if (!result) return;
  const { columns, groups } = groupedRows(result);
  const hasOneKind = onlyKind(result.columns) !== "";
  const classes = columns.map(({ name }) =>
    result.rows.some((row) => typeof row[name] === "string") ? "xp-text" : null,
  );
  const head = el("tr", {}, el("thead", {}, host));
  columns.forEach(({ label, kind }, at) => {
    const cell = el("th", { scope: "col", class: classes[at], text: label }, head);
    if (kind && !hasOneKind)
      el("span", { class: "sq-badge", "data-label": kind, text: kind }, cell);
  });
  for (const { title, shared, cells } of groups) {
    const body = groupBody(host, title, shared, columns.length);
    for (const texts of cells) paintCells(el("tr", {}, body), texts, classes);
  }
}

function paintCells(line, texts, classes) {
  texts.forEach((cellText, at) => {
    const look = { class: classes[at], text: cellText };
    if (at) el("td", look, line);
    else el("th", { scope: "row", ...look }, line);
  });
}

// Makes the element for a group's rows, and starts it with the group's heading, if there is one.
function groupBody(host, title, shared, width) {
  const body = el("tbody", {}, host);
  if (!title) return body;
  const cell = el(
    "th",
    { scope: "rowgroup", colspan: width },
    el("tr", { class: "xp-group" }, body),
  );
  const line = el("div", {}, cell);
  el("b", { text: title }, line);
  for (const one of shared) el("span", { text: one }, line);
  return body;
}

/**
 * @param {HTMLTableElement} host
 * @param {Comparison[]} comparisons
 */
function paintComparisons(host, comparisons) {
  host.replaceChildren();
  headed(host, ["Comparison", "Ratio", "", "Verdict"]).remove(); // each group has its own body
  const [head] = host.tHead.rows;
  addTerm(head.children[2], "95% interval", "paired comparison");
  head.children[3].classList.add("xp-text");
  for (const { title, members } of groupedComparisons(comparisons)) {
    const body = groupBody(host, title, [], head.children.length);
    for (const member of members) paintComparison(el("tr", {}, body), member);
  }
}

function paintComparison(line, { text: name, comparison }) {
  const verdict = verdictOf(comparison);
  el("th", { scope: "row", text: name }, line);
  el("td", { text: short(comparison.ratio) + "×" }, line);
  el("td", { text: intervalText(comparison) }, line);
  el("td", { class: "xp-text", "data-verdict": verdict, text: verdict || "–" }, line);
}

/** @type {(comparison: Comparison) => string} each end has enough digits to differ from 1 */
const intervalText = ({ low, high }) =>
  low === null || high === null ? "–" : `${apart(low, 1)[0]} to ${apart(high, 1)[0]}`;
