/* The analysis after a run: where each lane's time went, and what to try. */
import { isExpected } from "./lane_basis.js";
import { laneMark, laneStyles } from "./lane_style.js";
import { button, el, show } from "../../shared/web/dom.js";
import { known, rate, readable } from "../../shared/web/format.js";
import { makePanel } from "../../shared/web/panel.js";
import { rove } from "../../shared/web/roving_focus.js";
import { addTerm } from "../../shared/web/tooltips.js";
import { times } from "../../shared/web/verdict_words.js";
import TOOLTIPS from "../../../assets/tooltips.json" with { type: "json" };

/** @typedef {(name: string, data: object) => void} Trigger */
/** @typedef {import("../../shared/web/schema.js").AdviceShown} Advice */
/** @typedef {import("../../shared/web/schema.js").BarShown} Bar */
/** @typedef {import("./run_store.js").RunStore} RunStore */
/** @typedef {import("../../shared/web/schema.js").RemedyShown} Remedy */
/** @typedef {import("../../shared/web/schema.js").AnalysisShown} Analysis */

const NAMES = {
  verify: "after verifying",
  draft: "after drafting",
  overhead: "after overhead",
};

/** One panel for each lane with an analysis. */
export class WhereTimeWent {
  /**
   * @param {RunStore} store
   * @param {HTMLElement} host
   * @param {Trigger | null} trigger without it, there are no buttons that put a tree into a lane
   */
  constructor(store, host, trigger) {
    this.store = store;
    this.trigger = trigger;
    /** @type {Analysis[] | null} */
    this.analysis = null;
    this.lanes = store.lanes;
    /** @type {import("./arrived.js").Verdict | null} */
    this.verdict = null;
    this.shown = ""; // the parts of the analysis that the panels show, as JSON
    this.root = el("div", { class: "run-whys", "data-part": "whys" }, host);
    rove(this.root);
  }

  paint() {
    const { lanes, analysis, verdict } = this.store;
    if (this.analysis === analysis && this.lanes === lanes && this.verdict === verdict) return;
    // While the check of losslessness runs, it changes other parts of the results. The panels are
    // not rebuilt then, so that no button is replaced under the pointer.
    const parts = analysis.map(({ bars, advice }, i) => [bars, advice, isExpected(verdict, i)]);
    const shown = JSON.stringify([parts, runOf(verdict)]);
    const same = this.shown === shown && this.lanes === lanes;
    this.analysis = analysis;
    this.shown = shown;
    this.lanes = lanes;
    this.verdict = verdict;
    if (!same) this.build(analysis);
  }

  /** @param {Analysis[]} analysis */
  build(analysis) {
    this.root.replaceChildren();
    analysis.forEach((one, i) => {
      if (one.bars.length && this.lanes[i]) this.panel(one, i);
    });
    show(this.root, this.root.childElementCount > 0);
  }

  /**
   * @param {Analysis} analysis
   * @param {number} i
   */
  panel({ bars, advice }, i) {
    const title = "Where the time went: " + this.lanes[i].title;
    const { root, titleBox, body } = makePanel(this.root, { part: "why", title, cls: "run-why" });
    const style = laneStyles(this.lanes)[i];
    root.dataset.lane = String(i);
    root.style.setProperty("--lane", style.colour);
    titleBox.prepend(laneMark(style));
    const { verdict, word } = this.store;
    const expected = isExpected(verdict, i);
    const source = expected ? `expected tokens, ${word} times` : word;
    el("span", { class: "sq-word sq-dim", text: source }, titleBox);
    addTerm(titleBox, "how to read this", "where the time went", "sq-word sq-dim");
    this.bars(body, bars, {
      ...NAMES,
      tokens: expected ? "expected tokens per step" : "tokens per step",
      last: `${expected ? "expected speed-up" : "speed-up"} of ${runOf(verdict)}`,
    });
    if (advice) this.advice(body, advice, i);
  }

  /**
   * Draw each bar, and beside it the loss relative to the previous bar, on a common scale.
   * @param {HTMLElement} host
   * @param {Bar[]} bars
   * @param {Record<string, string>} names of the bars; `last`: of the last one
   */
  bars(host, bars, names) {
    const list = el("ol", { class: "run-fall sq-stack" }, host);
    const ends = bars.flatMap(({ value, loss }) => [value, value + Math.max(loss, 0)]);
    const most = Math.max(...ends.filter(known), 1e-9);
    bars.forEach((bar, k) => {
      const row = el("li", { "data-bar": bar.name }, list);
      const last = k === bars.length - 1;
      el("span", { class: "run-fall-name", text: names[last ? "last" : bar.name] }, row);
      barTrack(row, bar, most, last);
      el("b", { text: k && known(bar.value) ? times(bar.value) : rate(bar.value) }, row);
      const less = k ? signed(bar.value - bars[k - 1].value) : "";
      el("span", { class: "run-fall-less sq-dim", text: less }, row);
      el("p", { text: readable(bar.words) }, row);
    });
  }

  /**
   * @param {HTMLElement} host
   * @param {Advice} advice
   * @param {number} i
   */
  advice(host, { speedup, words, remedies }, i) {
    const box = el("div", { class: "run-advice", "data-part": "advice" }, host);
    el("p", { class: "run-says", text: readable(words) }, box);
    if (!remedies.length) return;
    const list = el("ul", { class: "run-remedies sq-stack" }, box);
    for (const remedy of remedies) this.remedy(el("li", {}, list), remedy, speedup, i);
  }

  /**
   * @param {HTMLElement} item
   * @param {Remedy} remedy
   * @param {number} speedup of the lane
   * @param {number} i
   */
  remedy(item, { words: what, predicted, label, parents }, speedup, i) {
    el("span", { text: readable(what) }, item);
    if (known(predicted)) el("b", { text: times(predicted) }, item);
    const source = el("span", { class: "run-remedy-label sq-unbroken sq-dim" }, item);
    const words = label === "run" ? this.store.word : readable(label);
    addTerm(source, words, label.endsWith("what if") ? "what if" : words);
    const gain = signed(predicted - speedup);
    source.append(gain ? ", " + gain : "");
    // No button in a run of two prompts: the tree suits one prompt, but a lane of the form
    // decodes both.
    if (!parents || !this.trigger || this.lanes[i].about.prompt_name) return;
    const lane = this.lanes[i].about.number ?? i + 1;
    const look = { text: "Use in lane " + lane, hint: TOOLTIPS["button put into lane"] };
    button(item, { ...look, act: () => this.trigger("apply", { lane, parents }) });
  }
}

// The analysis is of the first run.
/** @type {(verdict: import("./arrived.js").Verdict | null) => string} */
const runOf = (verdict) => ((verdict?.races ?? 1) > 1 ? "the first run" : "this run");

/**
 * @param {HTMLElement} row
 * @param {Bar} bar
 * @param {number} most
 * @param {boolean} last
 */
function barTrack(row, { value, loss }, most, last) {
  const track = el("span", { class: "run-fall-track", "aria-hidden": "true" }, row);
  const cls = "run-fall-value" + (last ? " is-last" : "");
  el("i", { class: cls }, track).style.width = share(value, most);
  el("i", { class: "run-fall-loss" }, track).style.width = share(Math.max(loss, 0), most);
}

const signed = (points) => {
  if (!known(points)) return "";
  if (Math.abs(points) < 0.05) return "0";
  return (points < 0 ? "−" : "+") + Math.abs(points).toFixed(1);
};
const share = (value, most) =>
  (known(value) ? Math.max(0, Math.min(value / most, 1)) * 100 : 0) + "%";
