/* The check of losslessness at temperatures above 0. Each lane with a draft samples tokens at one
   position of a text. Their counts are compared with the target's distribution there. */
import { el, show, text } from "../../shared/web/dom.js";
import {
  count,
  known,
  percent,
  readable,
  short,
  shortP,
  visible,
} from "../../shared/web/format.js";
import { makePanel } from "../../shared/web/panel.js";
import { rove } from "../../shared/web/roving_focus.js";
import { addTerm, headed } from "../../shared/web/tooltips.js";
import TOOLTIPS from "../../../assets/tooltips.json" with { type: "json" };

/** @typedef {import("../../shared/web/schema.js").SampleCount} Count */
/** @typedef {import("./run_store.js").RunStore} RunStore */
/** @typedef {import("../../shared/web/schema.js").Result} Result */
/** @typedef {{i: number, count: Count, p: number | null}} Counted a lane's counts and p-value */
/**
 * A row of the table: one cell of the chi-square test, or the sum of all cells that are not in the
 * message. `left`: the number of cells in such a sum; 0 for one cell.
 * @typedef {import("../../shared/web/schema.js").Cell & {left: number}} Row
 */

/** @type {[string, string]} a heading and its key in tooltips.json */
const TARGET = ["large model", "target probability"];

/** The panel with the counts. */
export class DistributionCheck {
  /**
   * @param {RunStore} store
   * @param {HTMLElement} host
   */
  constructor(store, host) {
    this.store = store;
    /** @type {(Result | null)[] | null} */
    this.results = null;
    this.lanes = store.lanes;
    const title = "Is the output lossless? First tokens vs. the large model’s distribution";
    this.panel = makePanel(host, { part: "distribution", title, cls: "run-distribution" });
    const { body, titleBox } = this.panel;
    this.word = el("span", { class: "sq-word sq-dim" }, titleBox);
    addTerm(titleBox, "what does this test?", "check", "sq-word sq-dim");
    this.where = el("p", { "data-part": "distribution-where" }, body);
    const scrolled = el("div", { class: "sq-wide sq-more-right" }, body);
    this.table = el("table", { class: "sq-table run-counts" }, scrolled);
    this.note = el("p", { class: "run-note sq-dim", "data-part": "distribution-note" }, body);
    rove(this.panel.root);
  }

  paint() {
    const { lanes, results } = this.store;
    if (this.results === results && this.lanes === lanes) return;
    this.results = results;
    this.lanes = lanes;
    const counted = this.counted();
    show(this.panel.root, counted.length > 0);
    if (!counted.length) return;
    const drawn = counted.filter((one) => one.count.draws > 0);
    // not the word for the whole run, whose times may be simulated: the counts are real
    text(this.word, readable(this.results?.[counted[0].i]?.lossless?.label ?? ""));
    const { rule, lossless: words } = this.store.analysis[counted[0].i];
    if (drawn.length) this.paintPosition(counted[0].count, rule);
    else text(this.where, readable(words));
    show(this.table, drawn.length > 0);
    show(this.note, drawn.length > 0);
    if (drawn.length) this.paintCounts(drawn);
  }

  /** @returns {Counted[]} */
  counted() {
    const found = (this.results || []).map((result, i) => ({
      i,
      count: result?.lossless?.count,
      p: result?.lossless?.p_value,
    }));
    return found.filter((one) => one.count && this.lanes[one.i]);
  }

  /**
   * Show where the tokens are sampled, and why there.
   * @param {Count} count
   * @param {string} rule why the position was chosen
   */
  paintPosition({ context, position, lane }, rule) {
    const how =
      "Each lane with a draft repeats one step, each time with another seed, and the first " +
      "token of the step is counted. Every repetition continues the same text, ";
    this.where.replaceChildren(how);
    el("code", { text: "…" + readable(context) }, this.where);
    const name = this.lanes[lane].title;
    this.where.append(
      `, so the counted token takes the place of token ${position + 1} in the text of ${name}. `,
    );
    this.where.append(`This position was chosen before sampling: ${readable(rule)} `);
    const aside = el("span", { class: "sq-unbroken", text: "(" }, this.where);
    addTerm(aside, "what is a bit?", "bits");
    aside.append(").");
  }

  /** @param {Counted[]} drawn */
  paintCounts(drawn) {
    const { table } = this;
    table.replaceChildren();
    const lanes = drawn.map(({ i }) => this.lanes[i].title);
    const body = headed(table, ["next token", TARGET, ...lanes]);
    const counts = drawn.map((one) => one.count);
    const longest = counts.reduce((one, other) => (other.draws > one.draws ? other : one));
    for (const row of rows(longest)) paintRow(body, row, counts);
    this.paintFoot(drawn, counts);
    text(this.note, "Expected counts in parentheses. " + sensitivity(counts));
  }

  /**
   * @param {Counted[]} drawn
   * @param {Count[]} counts
   */
  paintFoot(drawn, counts) {
    const foot = el("tfoot", {}, this.table);
    const line = (name, values) => {
      const row = el("tr", {}, foot);
      const box = el("th", { scope: "row", colspan: "2" }, row);
      if (TOOLTIPS[name]) addTerm(box, name);
      else box.append(name);
      for (const value of values) el("td", { text: value }, row);
    };
    line(
      "samples",
      counts.map(({ draws, wanted }) => draws + " of " + wanted),
    );
    line("chi-square", counts.map(chiSquare));
    line(
      "p-value",
      drawn.map(({ p }) => shortP(p)),
    );
  }
}

/**
 * @param {Count} count
 * @returns {string}
 */
function chiSquare({ statistic, freedom }) {
  if (!known(statistic)) return "–";
  return `${statistic < 1e9 ? short(statistic) : "∞"} (${freedom} d.f.)`;
}

/**
 * In words, the smallest deviation that the check would flag in every lane with enough samples.
 * @param {Count[]} counts
 * @returns {string}
 */
function sensitivity(counts) {
  const least = counts.map((one) => one.detectable_difference).filter(known);
  if (!least.length) return "Too few samples so far for a test.";
  const points = Math.round(Math.max(...least) * 100);
  return (
    "A p-value below one in a million counts as an error. With this many samples, that " +
    "happens if, for example, the most probable token comes too often or too rarely by about " +
    `${points} percentage points.`
  );
}

/**
 * @param {HTMLElement} body
 * @param {Row} row
 * @param {Count[]} counts
 */
function paintRow(body, row, counts) {
  const line = el("tr", {}, body);
  const name = el("th", { scope: "row" }, line);
  if (row.left) name.append(count(row.left, "more row"));
  else if (row.text === null) name.append(row.share < 1 ? "all others" : "any token");
  else el("code", { text: visible(row.text) }, name);
  if (row.text !== null && row.more) name.append(" and others");
  el("td", { text: percent(row.share) }, line);
  const same = (other) =>
    other.text === row.text && !other.left === !row.left && other.more === row.more;
  for (const one of counts) {
    const mine = rows(one).find(same);
    const seen = mine ? `${mine.seen} (${short(mine.share * one.draws)})` : missing(row, one);
    el("td", { text: seen }, line);
  }
}

/**
 * In words, where a lane counts a token that has no cell of its own in that lane.
 * @param {Row} row
 * @param {Count} one
 * @returns {string}
 */
function missing(row, one) {
  const others = rows(one).some((cell) => cell.text === null && !cell.left);
  return row.text !== null && others ? "in all others" : "–";
}

/**
 * The cells of a count as rows, and one more row for the cells that are not in the message, if any.
 * @param {Count} count
 * @returns {Row[]}
 */
function rows({ draws, cells, freedom }) {
  const shown = cells.map((cell) => ({ ...cell, left: 0 }));
  const left = (freedom ?? 0) + 1 - cells.length;
  if (left <= 0) return shown;
  const sum = (of) => cells.reduce((total, cell) => total + of(cell), 0);
  const share = Math.max(1 - sum((cell) => cell.share), 0);
  const seen = draws - sum((cell) => cell.seen);
  return [...shown, { text: null, more: false, left, share, seen }];
}
