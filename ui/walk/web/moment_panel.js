/* The panel below the tree, which explains one moment of the walk. */
import { attr, el, show, text } from "../../shared/web/dom.js";
import { prob } from "../../shared/web/format.js";
import { DrawMeter } from "../../shared/web/draw_bar.js";
import { ResidualBars } from "../../shared/web/residual_bars.js";
import * as stepWords from "../../shared/web/step_words.js";
import { momentAt } from "./moment.js";

/**
 * @import { StepView, Trial } from "../../shared/web/step_view.js"
 * @import { NodeId } from "../../shared/web/tree_layout.js"
 */

const ROWS = 9; // rows of bars: 8 for tokens (PLACES in moment.js), 1 for all others together
const ROUNDING = 1e-9; // probabilities that differ by less are equal
const BEFORE = "Press play: each trial is explained here.";
const NO_TRIAL = "This node was not tried in this step.";
const PATHS = "The verifier Traversal tests whole paths, from the leaves up.";
const ONE_TOKEN =
  "At temperature 0, all of p is on a single token: a guess is kept only if it is that token.";
const UNKNOWN = "The residual p and q of this step were not recorded.";

/** The panel: p and q before the trial, and the trial. */
export class MomentPanel {
  /** @param {Element} host */
  constructor(host) {
    this.root = el("div", { class: "wk-moment", "data-part": "moment" }, host);
    this.none = el("p", { class: "sq-dim" }, this.root);
    this.columns = el("div", { class: "wk-moment-columns" }, this.root);
    const now = el("div", { class: "wk-now" }, this.columns);
    this.title = el("h3", { class: "wk-sub" }, now);
    this.now = new ResidualBars(now, ROWS);
    this.noPicture = el("p", { class: "sq-dim" }, now);
    const draw = el("div", { class: "wk-draw sq-stack" }, this.columns);
    const line = el("div", { class: "sq-card-line sq-wrap" }, draw);
    this.token = el("span", { class: "sq-pill" }, line);
    this.state = el("span", { class: "sq-state" }, line);
    this.meter = new DrawMeter(draw);
    this.why = el("p", { class: "sq-why", "aria-live": "polite", "data-part": "why" }, draw);
  }

  /**
   * @param {StepView | null} step
   * @param {NodeId | null} node
   * @param {object} when
   * @param {boolean} when.isBefore true before the walk begins
   * @param {boolean} when.isTold whether the line above the tree explains the moment already
   */
  paint(step, node, { isBefore, isTold }) {
    const moment = step && !isBefore ? momentAt(step, node) : null;
    show(this.columns, moment !== null);
    show(this.none, moment === null && step !== null);
    text(this.none, isBefore ? BEFORE : NO_TRIAL);
    if (moment) this.paintMoment(step, moment);
    show(this.why, !isTold);
  }

  paintMoment(step, { title, trial, state, label, why, now, entered }) {
    text(this.title, title);
    this.now.paint(now);
    show(this.noPicture, !now);
    const words = step.fromLeaves ? pathWords(trial, entered) : UNKNOWN;
    text(this.noPicture, step.greedy ? ONE_TOKEN : words);
    text(this.token, label);
    text(this.state, stepWords.states[state] ?? "");
    for (const part of [this.token, this.state]) attr(part, "data-s", state);
    this.meter.paint(step.greedy ? null : trial);
    text(this.why, why);
  }
}

/** @type {(trial: Trial | null, entered?: number) => string} */
function pathWords(trial, entered) {
  if (!trial || entered === undefined) return PATHS;
  const before = `${PATHS} Here the path was kept with probability ${prob(entered)}`;
  if (Math.abs(entered - trial.p) < ROUNDING) return `${before}; u is compared with this value.`;
  const lowered = `rejected children lowered it to ${prob(trial.p)}`;
  return `${before}; ${lowered}, and u is compared with this value.`;
}
