/* The panel with the question, the finding, and where the numbers come from. */
import { attr, button, el, show, text } from "../../shared/web/dom.js";
import { makePanel } from "../../shared/web/panel.js";
import { rove } from "../../shared/web/roving_focus.js";
import { divided, doneWords, facts } from "./result_rows.js";

/** @import { ExperimentsState, Result, Side } from "./experiments_state.js" */

/** @type {[Side, string][]} */
const SIDES = [
  ["recorded", "Recorded"],
  ["own", "Your run"],
];

/** The panel above the figure. `controls` is the element for the RunControls. */
export class ResultHead {
  /** @type {string | null} the finding on the page; null before the first paint */
  painted = null;

  /**
   * @param {HTMLElement} host
   * @param {(side: Side) => void} turn called when the visitor chooses which result to show
   */
  constructor(host, turn) {
    this.panel = makePanel(host, { part: "head", title: "Experiment", cls: "xp-head" });
    this.title = this.panel.titleBox.querySelector("span");
    this.badge = el("span", { class: "sq-badge", "data-part": "source" }, this.panel.tools);
    this.makeSides(this.panel.tools, turn);
    const { body } = this.panel;
    this.question = el("p", { class: "xp-question", "data-part": "question" }, body);
    this.finding = el("p", { class: "xp-finding", "data-part": "finding" }, body);
    this.details = el("ul", { class: "xp-details", "data-part": "finding-details" }, body);
    this.partial = el("p", { class: "xp-partial", "data-part": "partial" }, body);
    this.missing = el("p", { class: "xp-dim", "data-part": "missing" }, body);
    this.controls = el("div", {}, body);
    this.facts = el("dl", { class: "sq-facts" }, this.panel.foot);
  }

  makeSides(host, turn) {
    const look = { class: "sq-segments", role: "group", "aria-label": "Result to show" };
    this.sides = el("span", look, host);
    this.sideButtons = SIDES.map(([side, label]) => {
      const act = () => turn(side);
      return { side, node: button(this.sides, { text: label, part: "side-" + side, act }) };
    });
    rove(this.sides);
  }

  /** @param {ExperimentsState} state */
  paint(state) {
    const { experiment, result } = state;
    text(this.title, experiment?.title ?? "Experiment");
    text(this.question, experiment?.question ?? "");
    this.paintFinding(result?.finding ?? "");
    this.paintPartial(result);
    text(this.missing, state.missing);
    show(this.missing, Boolean(state.missing));
    text(this.badge, result?.source ?? "");
    this.badge.dataset.label = result?.source ?? "";
    show(this.badge, Boolean(result));
    const isOwn = result !== undefined && result === state.own.get(state.chosen);
    show(this.sides, state.hasBoth);
    for (const { side, node } of this.sideButtons)
      attr(node, "aria-pressed", (side === "own") === isOwn ? "true" : "false");
    this.paintFacts(result, state.profiles);
  }

  /** @param {string} finding */
  paintFinding(finding) {
    if (finding === this.painted) return;
    this.painted = finding;
    const [answer, details] = divided(finding);
    text(this.finding, answer);
    show(this.finding, Boolean(answer));
    this.details.replaceChildren();
    for (const detail of details) el("li", { text: detail }, this.details);
    show(this.details, details.length > 0);
  }

  /** @param {Result | undefined} result */
  paintPartial(result) {
    const isPartial = result !== undefined && result.done < result.total;
    text(this.partial, isPartial ? `Partial result: ${doneWords(result)}.` : "");
    show(this.partial, isPartial);
  }

  /**
   * @param {Result | undefined} result
   * @param {Record<string, string>} profiles
   */
  paintFacts(result, profiles) {
    this.facts.replaceChildren();
    show(this.facts, Boolean(result));
    for (const [name, value] of result ? facts(result, profiles) : []) {
      el("dt", { text: name }, this.facts);
      el("dd", { text: value }, this.facts);
    }
  }
}
