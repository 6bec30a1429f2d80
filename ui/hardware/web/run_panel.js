/* The latest run beside the prediction for its largest tree. */
import { el, scrollBox, show, text } from "../../shared/web/dom.js";
import { count } from "../../shared/web/format.js";
import { rove } from "../../shared/web/roving_focus.js";
import { addTerm, headed } from "../../shared/web/tooltips.js";
import { figurePanel } from "../../shared/web/figure_panel.js";
import { speedupInWords } from "../../shared/web/verdict_words.js";

/** @typedef {import("./hardware_view.js").ComparedRun} ComparedRun */

const COLUMNS = ["part", "predicted", "measured", "effect on the speed-up"];
/** @type {Record<string, [string, string]>} the label of each part, and the name of its tooltip */
const PARTS = {
  tokens: ["tokens per step", "tokens a step"],
  draft: ["drafting, per step", "draft"],
  verify: ["verifying, per step", "verify"],
  overhead: ["overhead, per step", "overhead"],
  plain: ["one plain token", "plain token"],
};
const EMPTY =
  "No run to compare with its prediction. Run a prompt with “Timed on” set to this machine.";

/** The panel: a chart of the times by phase, and a table with the effect of each of the PARTS on
 * the speed-up. */
export class RunPanel {
  /** @param {HTMLElement} host */
  constructor(host) {
    const title = "Latest run vs. its prediction";
    const { panel, word, chart } = figurePanel(host, {
      part: "run",
      title,
      term: "prediction of a run",
    });
    this.word = word;
    this.chart = chart;
    this.empty = el("p", { class: "hw-say sq-dim", text: EMPTY }, panel.body);
    this.split = el("div", { class: "hw-split sq-wrap" }, panel.body);
    this.split.append(chart.node);
    const box = scrollBox(this.split, title + ", scrolls", { class: "sq-wide" });
    this.table = el("table", { class: "sq-table hw-parts" }, box);
    this.sentence = el("p", { class: "hw-say", "data-part": "difference" }, panel.foot);
    this.filled = [this.split, this.sentence, panel.tools];
    rove(this.table);
  }

  /** @param {ComparedRun | null} run */
  show(run) {
    for (const node of this.filled) show(node, Boolean(run));
    show(this.empty, !run);
    text(this.word, run ? about(run) : "");
    if (!run) return;
    text(this.sentence, run.sentence);
    this.chart.show(run.figure);
    this.table.replaceChildren();
    this.body = headed(this.table, COLUMNS);
    const { verdict } = run;
    for (const part of run.parts) this.part(part, Boolean(verdict));
    const measured = verdict ? speedupInWords(verdict) : times(run.measured);
    const total = [times(run.predicted), measured, together(run)];
    text(this.row(total, "hw-total"), "speed-up");
  }

  part([name, predicted, measured, effect], plainMeasured) {
    const isGuess = name === "plain" && !plainMeasured;
    const found = isGuess ? ["not timed", "assumed as predicted"] : [measured, effect];
    addTerm(this.row([predicted, ...found]), ...PARTS[name]);
  }

  // Add a row to the table. Returns the row's first cell, which is still empty.
  row(values, cls = "") {
    const row = el("tr", { class: cls }, this.body);
    const head = el("th", { scope: "row" }, row);
    for (const value of values) el("td", { text: value }, row);
    return head;
  }
}

const times = (ratio) => ratio.toFixed(2) + "×";

const about = (run) =>
  `this machine · ${count(run.steps, "step")} measured, tree of ${count(run.nodes, "node")}, ` +
  `${count(run.levels, "level")} · ` +
  `predicted with ${run.rates_label} acceptance: ${run.rates}`;

function together({ measured, predicted }) {
  const change = measured / predicted - 1;
  if (Math.abs(change) < 0.005) return "as predicted";
  const way = change < 0 ? "slower" : "faster";
  return `in total ${Math.abs(change * 100).toFixed(0)}% ${way} than predicted`;
}
