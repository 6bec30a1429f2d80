/* One cell in words: its recurrence with its own numbers, what was weighed against it, and every split that was tried. */
import { attr, el, show, svg, text } from "../../../shared/web/dom.js";
import * as format from "../../../shared/web/format.js";

export const tokens = (value) => value.toFixed(3);
const rate = (value) =>
  value === 0 ? "0" : value >= 0.0095 ? value.toFixed(3) : String(Number(value.toPrecision(2)));
export const name = ({ n, levels, b }) => `T[${n},${levels},${b}]`;
export const plural = (count, one, many) => count + " " + (count === 1 ? one : many || one + "s");

/** Why no tree is like this. */
function impossible({ n, levels, b }) {
  if (b === 0) return `a root without children is a tree of 1 node, not ${n}.`;
  if (n < b + 1)
    return `${plural(b, "child", "children")} and the root need at least ${b + 1} nodes.`;
  if (levels === 1) return "1 level holds the root alone.";
  return `on 2 levels a root with ${plural(b, "child", "children")} makes a tree of exactly ${b + 1} nodes.`;
}

/** The sentence as parts, so that the two operands can be marked: [{text, part}]. */
export function parts(table, cell) {
  const value = table.value(cell.n, cell.levels, cell.b);
  const split = table.split(cell.n, cell.levels, cell.b);
  if (value === -Infinity) return [{ text: name(cell) + ": no such tree, " + impossible(cell) }];
  if (!split)
    return [
      { text: name(cell) + " = 1", part: "cell" },
      { text: ": the root alone, one token a step." },
    ];
  const rest = { n: cell.n - split.m, levels: cell.levels, b: cell.b - 1 };
  return [
    { text: name(cell), part: "cell" },
    { text: " = " },
    { text: `${name(rest)} (${tokens(split.rest)})`, part: "rest" },
    { text: ` + a${cell.b} (${rate(split.rate)}) × ` },
    { text: `best(${split.m},${cell.levels - 1}) (${tokens(split.below)})`, part: "below" },
    { text: " = " + tokens(value) },
  ];
}

export const sentence = (table, cell) =>
  parts(table, cell)
    .map((part) => part.text)
    .join("");

/** How the cell's tree is put together. */
export function meaning(table, cell) {
  const split = table.split(cell.n, cell.levels, cell.b);
  if (!split) return "";
  const others =
    cell.b === 1
      ? "the root alone"
      : cell.b === 2
        ? "the root and child 1"
        : `the root and children 1 to ${cell.b - 1}`;
  const inside =
    split.m === 1
      ? "it is a leaf"
      : `its best shape has ${plural(split.branches, "child", "children")} at its top`;
  return `Child ${cell.b} gets m = ${plural(split.m, "node")} (${inside}); ${others} keep${cell.b === 1 ? "s" : ""} ${cell.n - split.m}.`;
}

/** How the cell stands against the best of its column. */
export function standing(table, cell) {
  const best = table.best(cell.n, cell.levels);
  const value = table.value(cell.n, cell.levels, cell.b);
  if (best.value === -Infinity)
    return `No tree has ${plural(cell.n, "node")} on ${plural(cell.levels, "level")}.`;
  if (value >= best.value) return `The best b for n = ${cell.n}.`;
  const told = `The best b for n = ${cell.n} is ${best.branches} with ${tokens(best.value)}`;
  if (value === -Infinity) return told + ".";
  const lost = best.value - value;
  return `${told}; this cell loses ${format.short(lost)} tokens a step, ${format.percent(lost / best.value)}.`;
}

export class DpExplain {
  constructor(host) {
    this.root = el("div", { class: "dp-explain", "data-part": "dp-explain" }, host);
    this.line = el("p", { class: "dp-sentence", "data-part": "dp-sentence" }, this.root);
    const words = el("div", { class: "dp-words" }, this.root);
    this.meaning = el("p", { class: "dp-note" }, words);
    this.standing = el("p", { class: "dp-note" }, words);
    this.makeChart();
    this.spoken = el(
      "p",
      { class: "sq-spoken", "aria-live": "polite", "data-part": "dp-live" },
      this.root,
    );
  }

  makeChart() {
    this.chart = el("figure", { class: "dp-splits" }, this.root);
    this.title = el("figcaption", { class: "dp-small" }, this.chart);
    this.svg = svg(
      "svg",
      { class: "dp-splits-svg", viewBox: "0 0 200 52", preserveAspectRatio: "none", role: "img" },
      this.chart,
    );
    this.path = svg("path", { class: "dp-splits-line" }, this.svg);
    this.dot = svg("path", { class: "dp-splits-dot" }, this.svg);
    const ends = el("div", { class: "dp-ends dp-small" }, this.chart);
    this.ends = [el("span", {}, ends), el("span", {}, ends), el("span", {}, ends)];
  }

  /** `aloud`: speak the sentence, which the pointer passing by should not. */
  paint(table, cell, aloud) {
    this.line.replaceChildren();
    for (const part of parts(table, cell))
      el(
        "span",
        { text: part.text, class: part.part ? "dp-part dp-part-" + part.part : null },
        this.line,
      );
    const meant = meaning(table, cell);
    const stands = standing(table, cell);
    text(this.meaning, meant);
    text(this.standing, stands);
    if (aloud) text(this.spoken, [sentence(table, cell), meant, stands].filter(Boolean).join(" "));
    this.paintChart(table, cell);
  }

  /** The sum for every m: what the maximum was taken over. */
  paintChart(table, cell) {
    const split = table.split(cell.n, cell.levels, cell.b);
    const sums = split ? [...table.sums(cell.n, cell.levels, cell.b)] : [];
    const points = sums.map((value, m) => ({ m, value })).filter(({ value }) => value > -Infinity);
    show(this.svg, points.length > 1);
    text(
      this.title,
      points.length > 1
        ? `all ${points.length} ways to choose m`
        : points.length
          ? "m: there is no choice"
          : "",
    );
    const first = points[0]?.m ?? 0;
    const last = points[points.length - 1]?.m ?? 0;
    const ends = points.length > 1;
    text(this.ends[0], ends ? "m = " + first : "");
    text(this.ends[1], ends ? `m = ${split.m} wins` : "");
    text(this.ends[2], ends ? String(last) : "");
    if (!ends) return;
    const values = points.map(({ value }) => value);
    const low = Math.min(...values);
    const high = Math.max(...values);
    const x = (m) => (4 + ((m - first) / (last - first)) * 192).toFixed(1);
    const y = (value) => (46 - (high > low ? (value - low) / (high - low) : 1) * 40).toFixed(1);
    attr(this.path, "d", "M" + points.map(({ m, value }) => x(m) + " " + y(value)).join("L"));
    attr(this.dot, "d", `M${x(split.m)} ${y(sums[split.m])}h0`);
    attr(
      this.svg,
      "aria-label",
      `Tokens a step for every m from ${first} to ${last}: from ${tokens(low)} to ${tokens(high)}, most at m = ${split.m}`,
    );
  }
}
