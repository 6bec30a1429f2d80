/* The answer of the view in one sentence: the best tree for the acceptance and the machine. Below
   it, why, and what a run of the tree measured; beside it, the button that runs the tree. */
import { answerWords, runWords, whyWords } from "./answer_words.js";
import { finishedRun, onFinishedRun } from "../../shared/web/between_tabs.js";
import { attr, button, el, show, text } from "../../shared/web/dom.js";
import { Refusal } from "../../shared/web/refusal.js";
import * as planner from "../../shared/web/planner.js";
import TOOLTIPS from "../../../assets/tooltips.json" with { type: "json" };

/** @import { LabState } from "./lab_state.js" */

/** The panel. */
export class Answer {
  /** @type {import("./answer_words.js").SentTree | null} */
  sent = null;
  #known = -1; // version of the state that was painted last

  /**
   * @param {HTMLElement} host
   * @param {LabState} state
   * @param {((parents: number[], temperature?: number) => void) | null} run null if the page cannot
   *   run trees. temperature: that of the acceptance, if it was counted at one
   */
  constructor(host, state, run) {
    this.state = state;
    const look = { class: "sq-panel sq-lab-answer", "data-part": "answer" };
    const root = el("section", { ...look, "aria-label": "The best tree" }, host);
    const said = el("div", {}, root);
    const line = el("h2", {}, said);
    this.line = el("span", { "data-part": "best" }, line);
    line.append(" ");
    this.basis = el("span", { class: "sq-badge", "data-part": "basis" }, line);
    this.why = el("p", { "data-part": "why" }, said);
    this.measured = el("p", { "data-part": "measured", "aria-live": "polite" }, said);
    this.refused = new Refusal(said, "said");
    const act = () => this.send(run);
    this.run = button(root, { text: " ", cls: "sq-lab-run sq-btn-main", part: "run", act });
    show(this.run, Boolean(run));
    onFinishedRun(() => this.compare());
  }

  send(run) {
    const { parents, even, profile, origin, basis } = this.state;
    const tree = planner.canonical(parents);
    const predicted = profile && planner.predict(tree, even, profile).speedup;
    this.sent = { parents: tree, predicted, basis, origin };
    this.say("");
    run(tree, (origin.from ?? origin).on?.temperature);
  }

  // Show what the latest run measured, if it ran the tree that was sent.
  compare() {
    const { sent } = this;
    const run = finishedRun();
    const [kind, tree] = run.request ?? [];
    if (kind === "lab" && tree === sent?.parents.join(" "))
      text(this.measured, runWords(run, sent));
  }

  /** @param {string} words */
  say(words) {
    this.refused.say(words);
  }

  paint() {
    const { state } = this;
    if (this.#known === state.version) return;
    this.#known = state.version;
    const { plan, basis } = state;
    text(this.line, answerWords(state));
    text(this.basis, plan ? basis : "expected");
    attr(this.basis, "data-label", plan && basis);
    text(this.why, whyWords(state));
    this.paintRun();
  }

  paintRun() {
    const { plan, parents, most, isPlanned, shown } = this.state;
    const fits = parents.length <= most;
    const isBest = plan ? planner.isSameTree(parents, plan.parents) : isPlanned && shown === "best";
    this.run.disabled = !fits;
    text(this.run.querySelector("span"), isBest ? "Run it" : "Run the tree shown");
    const refused = `This tree has ${parents.length} nodes; at most ${most} can run here`;
    attr(this.run, "title", fits ? TOOLTIPS["button run this tree"] : refused);
  }
}
