/* The explanation of one cell of the dynamic programming table: its recurrence with numbers, and a
   curve of the sums that the recurrence compares. There is one sum for each size m of the last
   child's subtree. */
import * as dpWords from "./dp_words.js";
import { attr, el, svg, text } from "../../../shared/web/dom.js";
import { addTerm } from "../../../shared/web/tooltips.js";

const ONLY_ONE = "only one possible m";

/** @typedef {import("./dp_table.js").DpTable} DpTable */
/** @typedef {import("./dp_table.js").Cell} Cell */

/** The text and the small curve below the table. */
export class DpExplain {
  /** @param {HTMLElement} host */
  constructor(host) {
    this.root = el("div", { class: "dp-explain", "data-part": "dp-explain" }, host);
    this.makeRecurrence();
    this.line = el("p", { class: "dp-sentence", "data-part": "dp-sentence" }, this.root);
    const words = el("div", { class: "dp-words" }, this.root);
    this.meaning = el("p", { class: "dp-note sq-dim" }, words);
    this.standing = el("p", { class: "dp-note sq-dim" }, words);
    this.makeChart();
    const spoken = { class: "sq-spoken", "aria-live": "polite", "data-part": "dp-live" };
    this.spoken = el("p", spoken, this.root);
  }

  // The recurrence, which is the same for every cell. Its operands are marked as in the sentence
  // below it and in the table.
  makeRecurrence() {
    const look = { class: "dp-recurrence sq-dim", "data-part": "dp-recurrence" };
    const formula = el("p", look, this.root);
    const add = (words, part = "") => formula.appendChild(span({ text: words, part }));
    addTerm(add(""), "Recurrence", "DP recurrence");
    add(": ");
    add("T[n,ℓ,b]", "cell");
    add(" = max over m of ");
    add("T[n−m,ℓ,b−1]", "rest");
    add(" + a[b] × ");
    add("best(m,ℓ−1)", "below");
    add("; best(n,ℓ) = max over b of T[n,ℓ,b]; T[1,ℓ,0] = 1.");
  }

  makeChart() {
    this.chart = el("figure", { class: "dp-splits" }, this.root);
    const caption = el("figcaption", { class: "sq-dim" }, this.chart);
    this.title = el("span", {}, caption);
    this.best = el("b", {}, caption);
    const box = { viewBox: "0 0 200 52", preserveAspectRatio: "none", role: "img" };
    this.svg = svg("svg", { class: "dp-splits-svg", ...box }, this.chart);
    this.path = svg("path", { class: "dp-splits-line" }, this.svg);
    this.dot = svg("path", { class: "dp-splits-dot" }, this.svg);
    const ends = el("div", { class: "dp-ends sq-dim" }, this.chart);
    this.ends = [el("span", {}, ends), el("span", {}, ends)];
  }

  /**
   * @param {DpTable} table
   * @param {Cell} cell
   * @param {boolean} aloud whether a screen reader speaks the explanation
   */
  paint(table, cell, aloud) {
    const parts = dpWords.parts(table, cell);
    this.line.replaceChildren(...parts.map(span));
    const meaning = dpWords.meaning(table, cell);
    const standing = dpWords.standing(table, cell);
    text(this.meaning, meaning);
    text(this.standing, standing);
    const sentence = parts.map((part) => part.text).join("");
    if (aloud) text(this.spoken, [sentence, meaning, standing].filter(Boolean).join(" "));
    this.paintChart(table, cell);
  }

  // Draws the sums, one for each possible m, if there are several. The largest is the cell's value.
  paintChart(table, { n, levels, b }) {
    const split = table.split(n, levels, b);
    const sums = split ? [...table.sums(n, levels, b)] : [];
    const points = sums.map((value, m) => ({ m, value })).filter(({ value }) => value > -Infinity);
    const many = points.length > 1;
    this.svg.style.display = many ? "" : "none"; // an SVG element has no property `hidden`
    const all = `tokens per step by m (number of nodes in child ${b}’s subtree)`;
    text(this.title, many ? all : points.length ? ONLY_ONE : "");
    text(this.best, many ? `; most at m = ${split.m}` : "");
    const ends = many ? [points[0], points[points.length - 1]] : [];
    this.ends.forEach((end, i) => text(end, many ? `m = ${ends[i].m}` : ""));
    if (many) this.drawChart(points, split.m);
  }

  drawChart(points, best) {
    const first = points[0].m;
    const last = points.at(-1).m;
    const values = points.map(({ value }) => value);
    const low = Math.min(...values);
    const high = Math.max(...values);
    const share = (value) => (high > low ? (value - low) / (high - low) : 1);
    const x = (m) => (4 + ((m - first) / (last - first)) * 192).toFixed(1);
    const place = ({ m, value }) => `${x(m)} ${(46 - share(value) * 40).toFixed(1)}`;
    attr(this.path, "d", "M" + points.map(place).join("L"));
    attr(this.dot, "d", `M${place(points.find(({ m }) => m === best))}h0`);
    const range = `from ${dpWords.tokens(low)} to ${dpWords.tokens(high)}`;
    const words = `Tokens per step for every m from ${first} to ${last}: ${range}, most at m = ${best}`;
    attr(this.svg, "aria-label", words);
  }
}

const span = ({ text: words, part }) =>
  el("span", { text: words, class: part ? "sq-unbroken dp-part-" + part : null });
