/* Shapes at one budget: all with exactly the same number of nodes, told so, and each can be put on show. */
import { csv, saveText } from "../../shared/web/save_file.js";
import { makePanel } from "../../shared/web/panel.js";
import * as planner from "./planner.js";
import { Refusal } from "./refusal.js";
import * as shapes from "./tree_shapes.js";
import { attr, button, el, show, text } from "../../shared/web/dom.js";
import * as format from "../../shared/web/format.js";
import { addTerm, markTerm } from "../../shared/web/tooltips.js";
import TOOLTIPS from "../../../assets/tooltips.json" with { type: "json" };

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
const sources = () =>
  "Published shapes are judged by this vector, as if their children were drawn here. " +
  ["medusa", "eagle", "branching"].map((name) => TOOLTIPS["shape " + name]).join(" ") +
  " A dynamic tree, which grows by context, has no shape before it runs: the live view can decode with one, but nothing is predicted of it here.";
const HEADS = [
  ["Shape"],
  ["Levels", "", "levels"],
  ["Tokens a step", "expected", "expected"],
  ["of best", "", "of best"],
  ["Step", "predicted", "predicted here"],
  ["Speed-up", "predicted", "predicted here"],
];

export class ShapesTable {
  constructor(host, state) {
    this.state = state;
    const panel = (this.panel = makePanel(host, {
      part: "shapes",
      title: "Shapes at one budget",
      cls: "sq-lab-shapes",
    }));
    this.word = el("span", { class: "sq-word" }, panel.titleBox);
    button(panel.tools, {
      text: "CSV",
      hint: TOOLTIPS["button save the shapes as csv"],
    }).addEventListener("click", () => this.save());
    const table = el("table", { class: "sq-lab-table" }, panel.body);
    const line = el("tr", {}, el("thead", {}, table));
    for (const [head, label, term] of HEADS) {
      const cell = el("th", { scope: "col" }, line);
      if (term) addTerm(cell, head, term);
      else el("span", { text: head }, cell);
      if (label) el("small", { text: label }, cell);
    }
    const body = el("tbody", {}, table); // "fitted" is the best tree under the level cap that is fastest here
    this.rows = ROWS.map((name) => this.row(body, name));
    this.note = el("p", { class: "sq-lab-note" }, panel.body);
    el(
      "p",
      { class: "sq-lab-note sq-lab-sources", "data-part": "sources", text: sources() },
      panel.body,
    );
  }

  row(body, name) {
    const node = el("tr", { "data-shape": name }, body);
    const cells = HEADS.map((_, i) => el(i ? "td" : "th", i ? {} : { scope: "row" }, node));
    const first = el("div", { class: "sq-lab-shape" }, cells[0]);
    const pick = button(first, { text: name });
    markTerm(pick, "shape " + name);
    pick.addEventListener("click", () => this.state.set({ shown: name }));
    const field = !["sequences", "kary", "branching"].includes(name)
      ? null
      : el(
          "input",
          {
            class: "sq-input sq-lab-number",
            type: "text",
            "data-part": "k-" + name,
            placeholder: "best k",
            "aria-label":
              name === "branching"
                ? "Children a node, level by level"
                : "k of the shape; empty for the best",
          },
          first,
        );
    const refusal = field && new Refusal(cells[0], "refused-" + name);
    field?.addEventListener("change", () => this.type(name, field, refusal));
    return { name, node, cells: cells.slice(1), pick, field, refusal };
  }

  type(name, field, refusal) {
    const words = field.value.trim();
    const parts = words
      .split(/[\s,]+/)
      .filter(Boolean)
      .map(Number);
    const good =
      parts.every((k) => Number.isInteger(k) && k >= 1 && k <= planner.MAX_NODES) &&
      (name === "branching" ? parts.length > 0 && parts.length <= 64 : parts.length <= 1);
    const wanted =
      name === "branching"
        ? `a list of 1 to 64 whole numbers from 1 to ${planner.MAX_NODES}`
        : `one whole number from 1 to ${planner.MAX_NODES}`;
    refusal.say(good ? "" : `"${words.slice(0, 40)}" is not ${wanted}.`, field);
    if (!good) return;
    this.state.set({
      kinds: { ...this.state.kinds, [name]: name === "branching" ? parts : (parts[0] ?? null) },
    });
  }

  /** [{name, label, nodes, levels, tokens, share, seconds, speedup}], null figures where a drawn tree has another size. */
  figures() {
    const { state } = this;
    const best = state.growth.totals[state.n - 1];
    return ROWS.map((name) => {
      const label = shapes.label(name, state.n, state);
      const parents = state.parentsOf(name);
      if (parents.length !== state.n) return { name, label, nodes: parents.length };
      const tokens = planner.expectedTokens(parents, state.even);
      const depths = planner.depthsOf(parents);
      const seconds = state.profile ? planner.stepSeconds(parents, state.profile) : null;
      return {
        name,
        label,
        nodes: state.n,
        levels: depths.reduce((most, depth) => Math.max(most, depth), 0) + 1,
        tokens,
        share: tokens / best,
        seconds,
        speedup: seconds === null ? null : (tokens * planner.plainSeconds(state.profile)) / seconds,
      };
    });
  }

  paint() {
    const { state } = this;
    const key = state.version + "";
    if (this.known === key) return;
    this.known = key;
    const figures = this.figures();
    const top = Math.max(...figures.map((one) => one.speedup || 0));
    text(
      this.word,
      `each has exactly ${state.n} ${state.n === 1 ? "node" : "nodes"}, the root included`,
    );
    figures.forEach((one, i) => this.paintRow(this.rows[i], one, top));
    const capped =
      state.cap === null ? "" : ` Sequoia keeps to ${state.cap} levels; the others do not.`;
    text(
      this.note,
      "Filled to the same size: sequences differ by one token at most, the k-ary tree’s last level is cut, published trees are cut in their own order or carried on as chains." +
        capped,
    );
  }

  paintRow({ name, node, cells, pick, field, refusal }, one, top) {
    if (name === "fitted") show(node, Boolean(this.state.profile));
    text(pick.querySelector("span"), name === "branching" ? "SpecInfer" : one.label);
    attr(pick, "aria-pressed", String(this.state.shown === name));
    if (field && !refusal.holds(field)) {
      const set = this.state.kinds[name];
      field.value = name === "branching" ? set.join(",") : set === null ? "" : String(set);
    }
    const short = one.tokens === undefined;
    const words = short
      ? ["–", `${one.nodes} of ${this.state.n} nodes drawn: not compared`, "", "", ""]
      : [
          String(one.levels),
          one.tokens.toFixed(3),
          (one.share * 100).toFixed(1) + " %",
          format.ms(one.seconds),
          one.speedup === null ? "–" : one.speedup.toFixed(2) + "×",
        ];
    cells.forEach((cell, i) => text(cell, words[i]));
    attr(cells[1], "colspan", short ? "4" : null);
    attr(cells[1], "data-short", short ? "" : null);
    cells.slice(2).forEach((cell) => show(cell, !short));
    node.classList.toggle("is-shown", this.state.shown === name);
    attr(cells[4], "data-top", one.speedup !== null && one.speedup === top && top > 1 ? "" : null);
  }

  save() {
    const rows = this.figures().map((one) => [
      one.label,
      one.nodes,
      one.levels ?? "",
      one.tokens ?? "",
      one.seconds ?? "",
      one.speedup ?? "",
    ]);
    saveText(
      "shapes.csv",
      csv([
        [
          "shape",
          "nodes",
          "levels",
          "expected_tokens",
          "predicted_step_seconds",
          "predicted_speedup",
        ],
        ...rows,
      ]),
      "text/csv",
    );
  }
}
