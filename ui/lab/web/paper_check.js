/* A table of expected tokens per step for the paper's acceptance vector. It compares numbers that
   were computed in Python with those that this browser computes. */
import { makePanel } from "../../shared/web/panel.js";
import * as vectors from "./acceptance_vectors.js";
import { DpTable } from "./dp/dp_table.js";
import * as dom from "../../shared/web/dom.js";
import { el, text } from "../../shared/web/dom.js";

/** The panel with the table. */
export class PaperCheck {
  /** @param {HTMLElement} host */
  constructor(host) {
    const about = { part: "check", title: "Tokens per step, checked", cls: "sq-lab-check" };
    const panel = makePanel(host, about);
    el("span", { class: "sq-word", text: "paper’s vector" }, panel.titleBox);
    const table = el("table", { class: "sq-lab-table" }, panel.body);
    const head = el("tr", {}, el("thead", {}, table));
    for (const words of ["Nodes", "Levels", "Python", "Browser", "Equal"])
      el("th", { scope: "col", text: words }, head);
    const body = el("tbody", {}, table);
    const rows = vectors.KNOWN.map((known) => makeRow(body, known));
    const note =
      "Python and this browser each compute the best tree’s expected tokens per step with the " +
      "paper’s recurrence, for the vector in the paper’s appendix E. “…” means not computed yet. " +
      "“Equal” means equal to three decimals.";
    el("p", { class: "sq-lab-note", text: note }, panel.body);
    dom.onceVisible(panel.body, () => fill(rows, new Map()));
  }
}

function makeRow(body, known) {
  const [nodes, levels, value] = known;
  const line = el("tr", {}, body);
  const words = [nodes, levels ? "≤ " + levels : "any", value.toFixed(3), "…", ""];
  const cells = words.map((word) => el("td", { text: String(word) }, line));
  return { line, nodes, levels, value, here: cells[3], result: cells[4] };
}

// Fills one row at a time, when the page is idle: a DP table takes up to half a second to compute.
// `tables`: the tables computed so far, by level cap; rows with the same cap share one.
function fill(rows, tables) {
  const [row, ...others] = rows;
  if (!row) return;
  const later = window.requestIdleCallback || setTimeout;
  later(() => {
    fillRow(row, tables);
    fill(others, tables);
  });
}

function fillRow({ line, nodes, levels, value, here, result }, tables) {
  if (!tables.has(levels)) tables.set(levels, tableFor(levels));
  const best = tables.get(levels).best(nodes, levels ?? nodes).value;
  const same = best.toFixed(3) === value.toFixed(3);
  text(here, best.toFixed(3));
  text(result, same ? "✓" : "✗ no");
  line.dataset.same = String(same);
}

function tableFor(levels) {
  const sizes = vectors.KNOWN.filter((known) => known[1] === levels).map(([n]) => n);
  return DpTable.whole(vectors.PAPER, Math.max(...sizes), levels);
}
