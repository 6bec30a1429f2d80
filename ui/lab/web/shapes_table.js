/* The table that compares shapes of equal size: each has exactly as many nodes as the budget. A
   tree drawn by hand is compared only if it has that size. A click on a shape shows its tree. */
import { makePanel } from "../../shared/web/panel.js";
import { numberField } from "./number_field.js";
import * as planner from "../../shared/web/planner.js";
import { Refusal } from "../../shared/web/refusal.js";
import * as shapes from "./tree_shapes.js";
import { attr, button, el, show, text } from "../../shared/web/dom.js";
import * as format from "../../shared/web/format.js";
import { rove } from "../../shared/web/roving_focus.js";
import { csv, saveText } from "../../shared/web/save_file.js";
import { headed, markTerm } from "../../shared/web/tooltips.js";
import TOOLTIPS from "../../../assets/tooltips.json" with { type: "json" };

// "fitted": see `fastest` of LabState.
const ROWS = [
  "best",
  "fitted",
  "hand",
  "sequences",
  "kary",
  "medusa",
  "eagle",
  "branching",
  "chain",
];
const BEST = "auto"; // shown in an empty field, for which the best number is computed
const named = (words) => ({ "aria-label": words, title: words });
const NUMBERS = {
  sequences: { ...named("Number of sequences; empty for the best"), placeholder: BEST },
  kary: { ...named("Children per node (k); empty for the best"), placeholder: BEST },
  branching: { ...named("Children per node, level by level"), placeholder: "such as 2, 1" },
};
const HEADS = [
  "Shape",
  ["Levels", "levels"],
  ["Tokens per step", "expected", "expected"],
  ["% of best", "of best", "same levels"],
  ["Step", "predicted here", "predicted"],
  ["Speed-up", "predicted here", "predicted"],
];
const COLUMNS = [
  "shape",
  "nodes",
  "levels",
  "expected_tokens",
  "predicted_step_seconds",
  "predicted_speedup",
  "label",
];
const RULES =
  "Every shape is cut or extended to the same size. The lengths of parallel sequences " +
  "differ by at most one token. The k-ary tree’s last level is truncated. A published tree " +
  "that is too large keeps the first nodes of its published list. One that is too small is " +
  "extended by chains at its leaves.";
const SOURCES = [
  "Published shapes are scored with this acceptance vector, as if their children were " +
    "sampled the way Sequoia samples them.",
  ...["medusa", "eagle", "branching"].map((name) => TOOLTIPS["shape " + name]),
  "A dynamic tree has no row: its shape depends on the context, so nothing can be " +
    "predicted before a run. One decoder can run such a tree.",
].join(" ");

/**
 * The numbers of one row. Those after `nodes` are absent if the tree is not compared.
 * @typedef {object} Figures
 * @property {string} label
 * @property {number} nodes
 * @property {number} [levels]
 * @property {number} [tokens]
 * @property {number} [share] tokens, relative to the best tree with as many nodes and levels
 * @property {number | null} [seconds]
 * @property {number | null} [speedup]
 */

/** The panel with the table. */
export class ShapesTable {
  #known = -1; // version of the state that was painted last

  /**
   * @param {HTMLElement} host
   * @param {import("./lab_state.js").LabState} state
   */
  constructor(host, state) {
    this.state = state;
    const about = { part: "shapes", title: "Shapes of equal size", cls: "sq-lab-shapes" };
    const panel = makePanel(host, about);
    this.word = el("span", { class: "sq-word sq-dim" }, panel.titleBox);
    const hint = TOOLTIPS["button save the shapes as csv"];
    button(panel.tools, { text: "CSV", hint, act: () => this.save() });
    const box = el("div", { class: "sq-wide sq-more-right" }, panel.body);
    const table = el("table", { class: "sq-table sq-full sq-lab-table" }, box);
    const body = headed(table, HEADS);
    this.rows = ROWS.map((name) => this.makeRow(body, name));
    rove(table);
    this.note = el("p", { class: "sq-dim" }, panel.body);
    const sources = { class: "sq-lab-sources sq-dim", "data-part": "sources" };
    el("p", { ...sources, text: SOURCES }, panel.body);
  }

  makeRow(body, name) {
    const node = el("tr", { "data-shape": name }, body);
    const [first, ...cells] = HEADS.map((_, i) =>
      i ? el("td", {}, node) : el("th", { scope: "row" }, node),
    );
    const box = el("div", { class: "sq-lab-shape" }, first);
    const pick = button(box, { text: name, act: () => this.state.set({ shown: name }) });
    markTerm(pick, "shape " + name);
    const row = { name, node, cells, pick, field: null, refusal: null };
    if (name in NUMBERS) this.makeField(row, box, first);
    return row;
  }

  makeField(row, box, cell) {
    const { name } = row;
    const field = numberField(box, "k-" + name, NUMBERS[name]);
    row.field = field;
    row.refusal = new Refusal(cell, "refused-" + name);
    field.addEventListener("change", () => this.type(row));
  }

  type({ name, field, refusal }) {
    const words = field.value.trim();
    const list = name === "branching";
    const numbers = words
      .split(/[\s,]+/)
      .filter(Boolean)
      .map(Number);
    const whole = (k) => Number.isInteger(k) && k >= 1 && k <= planner.MAX_NODES;
    const fits = list ? numbers.length > 0 && numbers.length <= 64 : numbers.length <= 1;
    const good = fits && numbers.every(whole);
    const kind = list ? "a list of 1 to 64 whole numbers" : "a whole number";
    const wanted = `${kind} from 1 to ${planner.MAX_NODES}`;
    refusal.say(good ? "" : `"${words.slice(0, 40)}" is not ${wanted}.`, field);
    if (!good) return;
    const value = list ? numbers : (numbers[0] ?? null);
    this.state.set({ kinds: { ...this.state.kinds, [name]: value } });
  }

  /** @returns {Figures[]} */
  figures() {
    return ROWS.map((name) => {
      const { state } = this;
      const { n, profile } = state;
      const label = shapes.label(name, n, state);
      const parents = state.parentsOf(name);
      if (parents.length !== n) return { label, nodes: parents.length };
      const tokens = planner.expectedTokens(parents, state.even);
      const levels = planner.widths(parents).length + 1;
      const share = tokens / planner.bestFirst(state.even, n, levels).totals[n - 1];
      const found = profile && planner.predict(parents, state.even, profile);
      const times = { seconds: found?.seconds ?? null, speedup: found?.speedup ?? null };
      return { label, nodes: n, levels, tokens, share, ...times };
    });
  }

  paint() {
    const { state } = this;
    if (this.#known === state.version) return;
    this.#known = state.version;
    const figures = this.figures();
    const top = Math.max(1, ...figures.map(({ speedup }) => speedup || 0));
    const source = state.isHypothetical ? "; speed-ups are hypothetical" : "";
    text(this.word, `exactly ${format.count(state.n, "node")} each, root included${source}`);
    this.rows.forEach((row, i) => this.paintRow(row, figures[i], top));
    text(this.note, RULES + this.aboutLevels());
  }

  aboutLevels() {
    const { cap } = this.state;
    if (cap === null) return "";
    const fitted =
      " The tree in the second row has the number of levels that is predicted to be " +
      "fastest. It can be the same tree as the first.";
    return (
      ` The limit of ${cap} levels set above applies to the first row only. A shape with ` +
      "more levels can have more tokens; it is compared with the best tree with as " +
      `many.${this.hasRow("fitted") ? fitted : ""}`
    );
  }

  paintRow({ name, node, cells, pick, field, refusal }, one, top) {
    const { state } = this;
    const short = one.tokens === undefined;
    show(node, this.hasRow(name));
    text(pick.querySelector("span"), name === "branching" ? "SpecInfer" : one.label);
    attr(pick, "aria-pressed", String(state.shown === name));
    if (field && !refusal.holds(field)) field.value = String(state.kinds[name] ?? "");
    const words = short ? this.notCompared(one) : rowWords(one);
    cells.forEach((cell, i) => text(cell, words[i]));
    attr(cells[1], "colspan", short && "4");
    attr(cells[1], "data-short", short && "yes");
    cells.slice(2).forEach((cell) => show(cell, !short));
    node.classList.toggle("is-shown", state.shown === name);
    attr(cells[4], "data-top", one.speedup === top && top > 1 && "yes");
  }

  notCompared({ nodes }) {
    const { n } = this.state;
    const drawn = nodes > n ? `${nodes} nodes drawn, budget ${n}` : `${nodes} of ${n} nodes drawn`;
    return ["–", `${drawn}: not compared`, "", "", ""];
  }

  hasRow(name) {
    return name !== "fitted" || Boolean(this.state.profile);
  }

  csvRows() {
    const shown = this.figures().filter((_, i) => this.hasRow(ROWS[i]));
    const label = this.state.basis;
    return shown.map((one) => [
      one.label,
      one.nodes,
      one.levels ?? "",
      one.tokens ?? "",
      one.seconds ?? "",
      one.speedup ?? "",
      label,
    ]);
  }

  save() {
    saveText("shapes.csv", csv([COLUMNS, ...this.csvRows()]), "text/csv");
  }
}

const rowWords = ({ levels, tokens, share, seconds, speedup }) => [
  String(levels),
  tokens.toFixed(3),
  (share * 100).toFixed(1) + "%",
  format.ms(seconds),
  speedup === null ? "–" : speedup.toFixed(2) + "×",
];
