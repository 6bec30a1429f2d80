/* The story of a step: its path as tokens, its numbers in a sentence, and its trials in order. */
import { DrawBar } from "../../shared/web/draw_bar.js";
import { attr, el, pool, show, text } from "../../shared/web/dom.js";
import * as format from "../../shared/web/format.js";
import { known, ms } from "../../shared/web/format.js";
import { rove } from "../../shared/web/roving_focus.js";
import { finish, sourced } from "../../shared/web/run_words.js";
import * as stepWords from "../../shared/web/step_words.js";

/**
 * @import { RunStore } from "./run_store.js"
 * @import { StepView, Trial } from "../../shared/web/step_view.js"
 * @import { NodeId } from "../../shared/web/tree_scene.js"
 */

/** The story of the step. Pressing a token or a trial pins its node. */
export class StepStory {
  /** @type {StepView | null} */
  shown = null;
  /** @type {HTMLElement | null} the row to scroll to */
  wanted = null;
  /** @type {StepView | null} the step whose row was last scrolled to */
  revealed = null;

  /**
   * @param {RunStore} store
   * @param {Element} host
   */
  constructor(store, host) {
    this.store = store;
    const root = el("div", { class: "sq-story", "data-part": "story" }, host);
    this.title = el("h3", { class: "sq-sub" }, root);
    this.path = el("p", { class: "sq-path", "data-part": "path" }, root);
    const look = { type: "button", class: "sq-pill sq-pill-small" };
    this.pills = pool(() => el("button", look, this.path));
    this.line = el("p", { class: "sq-step-line" }, root);
    this.trialsTitle = el("h3", { class: "sq-sub", text: "Trials in order" }, root);
    this.list = el("ol", { class: "sq-trials", "data-part": "trials" }, root);
    this.rows = pool(() => new TrialRow(this.list));
    rove(this.path);
    rove(this.list);
    root.addEventListener("click", (event) => this.click(event));
    root.addEventListener("pointerover", (event) => this.over(event));
    root.addEventListener("pointerleave", () => this.over(null));
  }

  /**
   * @param {StepView | null} view
   * @param {NodeId | null} selected
   */
  paint(view, selected) {
    if (this.shown !== view) this.paintStep(view);
    this.shown = view;
    this.rows.items.forEach(({ node }, i) => {
      const isOn = Boolean(view) && view.trials[i]?.node === selected;
      node.classList.toggle("is-selected", isOn);
      if (isOn && selected === view.decisive && this.revealed !== view) this.wanted = node;
    });
    if (this.wanted) this.revealed = view;
  }

  /**
   * Scroll to the row of the last trial if that row is selected. Called after painting, because
   * scrolling needs the layout.
   */
  settle() {
    if (this.wanted) reveal(this.list, this.wanted);
    this.wanted = null;
  }

  paintStep(view) {
    const isLost = !view && this.store.last >= 0;
    text(this.title, view || isLost ? "Step " + (this.store.at + 1) : "");
    text(this.line, isLost ? "This step did not arrive." : view ? this.numbers(view) : "");
    this.paintPath(view);
    const trials = view ? view.trials : [];
    show(this.trialsTitle, trials.length > 0);
    const rows = this.rows.take(trials.length);
    trials.forEach((trial, i) => rows[i].fill(view, trial));
  }

  paintPath(view) {
    const nodes = view ? [...view.path, ...(view.kind === "none" ? [] : ["bonus"])] : [];
    const pills = this.pills.take(nodes.length);
    nodes.forEach((node, i) => {
      text(pills[i], view.label(node));
      pills[i].dataset.s = view.stateOf(node);
      pills[i].dataset.node = node;
    });
  }

  numbers(view) {
    const { emitted, finish: end } = view.step;
    const time = sourced(ms(view.seconds), this.store.word);
    const made = `${format.count(emitted.length, "token")} emitted in ${time}.`;
    const ended = end ? ` The run ends here: ${finish(end)}.` : "";
    return stepWords.step(view).replace(/\.$/, "; ") + made + ended;
  }

  nodeOf(event) {
    const node = event?.target.closest?.("[data-node]")?.dataset.node ?? null;
    return node === null || node === "bonus" ? node : Number(node);
  }

  click(event) {
    const node = this.nodeOf(event);
    if (node !== null) this.store.set({ pin: this.store.pin === node ? null : node });
  }

  over(event) {
    const node = this.nodeOf(event);
    if (this.store.hover !== node) this.store.set({ hover: node });
  }
}

function reveal(list, row) {
  const top = row.offsetTop - list.offsetTop;
  const isAbove = top < list.scrollTop;
  const isBelow = top + row.offsetHeight > list.scrollTop + list.clientHeight;
  if (isAbove || isBelow) list.scrollTop = top - list.clientHeight / 2;
}

/** One trial: the token that was tried, and its draw u beside p/q on the line from 0 to 1. */
class TrialRow {
  constructor(list) {
    const part = (tag, name, host) => el(tag, { class: "sq-trial" + name }, host);
    this.node = part("li", "", list);
    this.press = el("button", { type: "button", class: "sq-trial-btn" }, this.node);
    this.sign = part("span", "-sign", this.press);
    this.word = part("span", "-word", this.press);
    this.bar = new DrawBar(this.press);
    this.ratio = part("span", "-ratio", this.press);
    this.spoken = el("span", { class: "sq-spoken" }, this.press);
    for (const drawn of [this.sign, this.bar.root]) attr(drawn, "aria-hidden", "true");
  }

  /** @type {(view: StepView, trial: Trial) => void} */
  fill(view, trial) {
    const state = trial.accepted ? "accepted" : "rejected";
    this.node.dataset.s = state;
    this.node.dataset.node = String(trial.node);
    text(this.sign, trial.accepted ? "✓" : "✕");
    text(this.word, view.label(trial.node));
    this.fillDraw(trial, known(trial.u) && !view.greedy);
    text(this.spoken, `${state}, guess ${view.topo.depth[trial.node]}`);
  }

  // Without a draw u (top-k match) or at temperature 0, there is no comparison to show.
  fillDraw(trial, isDrawn) {
    const ratio = stepWords.acceptanceRatio(trial);
    const pair = isDrawn ? format.apart(trial.u, ratio) : [];
    this.bar.root.style.visibility = isDrawn ? "" : "hidden";
    this.bar.paint(trial.u, ratio);
    text(this.ratio, isDrawn ? "u " + pair.join(trial.accepted ? " < " : " ≥ ") : "");
  }
}
