/* The panel "Why": a WalkCard about the selected node, or in slow motion about the node that the
   picture explains. Under it are all figures of a node that the visitor points at or pinned, and
   the story of the step. */
import { attr, button, el, pool, show, tell, text } from "../../shared/web/dom.js";
import { DrawBar } from "../../shared/web/draw_bar.js";
import { apart, count, known, ms, percent, prob } from "../../shared/web/format.js";
import { makePanel } from "../../shared/web/panel.js";
import { rove } from "../../shared/web/roving_focus.js";
import { finish, sourced } from "../../shared/web/run_words.js";
import * as stepWords from "../../shared/web/step_words.js";
import { addTerm, markTerm } from "../../shared/web/tooltips.js";
import { WalkCard } from "../../shared/web/walk_card.js";

/**
 * @import { StepView, Trial } from "../../shared/web/step_view.js"
 * @import { NodeId } from "../../shared/web/tree_layout.js"
 * @import { RunStore } from "./run_store.js"
 */

// The tooltip of `node` has the key "why node".
/** @type {Record<string, string>} labels of the numbers */
const FIGURES = {
  node: "node",
  level: "depth",
  rank: "child",
  q: "q, small model",
  p: "p, large model",
  tq: "residual q",
  tp: "residual p",
  ratio: "p / q",
  tratio: "residual p / q",
  u: "u",
  mass: "p that remains",
  share: "accepted in steps with this tree",
};

/** The panel "Why". */
export class Inspector {
  /**
   * @param {RunStore} store
   * @param {Element} host
   */
  constructor(store, host) {
    this.store = store;
    const panel = makePanel(host, { part: "inspector", title: "Why", cls: "sq-inspector" });
    this.root = panel.root;
    this.kicker = addTerm(panel.tools, "", "pinned", "sq-kicker sq-dim");
    const look = { icon: "close", label: "Unpin (Escape)", cls: "sq-mini-btn" };
    this.unpin = button(panel.tools, { ...look, act: () => store.set({ pin: null }) });
    this.card = new WalkCard(panel.body);
    this.list = el("dl", { class: "sq-figures" }, this.card.root);
    this.figures = Object.entries(FIGURES).map(([key, label]) => {
      const box = el("div", { "data-figure": key }, this.list);
      addTerm(el("dt", {}, box), label, "why " + key);
      return { key, box, value: el("dd", {}, box) };
    });
    rove(this.list);
    this.story = new StepStory(store, panel.body);
  }

  paint() {
    const { hover, pin, slow, selected } = this.store;
    const view = this.store.view();
    this.story.paint(view, selected);
    const isSlow = Boolean(view) && slow.shown !== null;
    const firstGuess = isSlow && view.topo.n > 1 ? 1 : 0; // before the first trial
    const node = isSlow ? (hover ?? pin ?? slow.explained ?? firstGuess) : selected;
    const state = view && node !== null ? (isSlow ? slow : view).stateOf(node) : "";
    this.card.paint(view, node, state, isSlow && node === slow.tried);
    this.paintKicker(node);
    const hasFigures = view && node !== null && !isSlow;
    show(this.list, hasFigures && [hover, pin].includes(node));
    if (hasFigures) this.paintFigures(view, node);
  }

  /**
   * Say above the card why its node is shown.
   * @type {(node: NodeId | null) => void}
   */
  paintKicker(node) {
    const { hover, pin } = this.store;
    let word = "";
    if (node !== null && pin === node) word = "pinned";
    if (node !== null && hover === node) word = "under the pointer";
    tell(this.kicker, word);
    if (word) markTerm(this.kicker, word);
    show(this.unpin, word === "pinned");
  }

  /** @type {(view: StepView, node: NodeId) => void} */
  paintFigures(view, node) {
    const trial = node === "bonus" ? null : view.trial(node);
    const values = {
      ...(node === "bonus" ? {} : this.nodeFigures(view, node)),
      ...(trial ? trialFigures(trial, view) : {}),
    };
    for (const { key, box, value } of this.figures) {
      show(box, key in values);
      if (key in values) text(value, values[key]);
    }
  }

  nodeFigures(view, node) {
    const { topo } = view;
    if (!node) return { node: String(node) };
    const siblings = topo.children[topo.parents[node]].length;
    const [accepted, steps] = this.store.lane.slots.counts(view.step.tree, node);
    return {
      node: String(node),
      level: `${topo.depth[node]} of ${topo.levels - 1}`,
      rank: `${topo.rank[node] + 1} of ${siblings}`,
      q: prob(view.q(node)),
      p: prob(view.p(node)),
      share: `${accepted} of ${steps}`,
    };
  }
}

// The residuals are left out if no sibling was rejected before: they are then p and q themselves.
// At temperature 0 acceptance depends on neither u nor p/q. With top-k match acceptance depends
// only on the token that the target sampled.
function trialFigures(trial, view) {
  const { p, q, u, mass } = trial;
  const { greedy, matched, fromLeaves } = view;
  if (matched && !greedy) return {};
  const left = known(mass) ? { mass: percent(mass) } : {};
  if (fromLeaves) return greedy ? left : { ...left, u: known(u) ? prob(u) : "none" };
  const isResidual = stepWords.isResidual(view, trial);
  const residual = isResidual ? { ...(view.keepsQ ? {} : { tq: prob(q) }), tp: prob(p) } : {};
  if (greedy) return { ...residual, ...left };
  const ratio = { [isResidual ? "tratio" : "ratio"]: prob(q > 0 ? p / q : NaN) };
  return { ...residual, ...left, ...ratio, u: known(u) ? prob(u) : "none" };
}

/** The story of the step. Pressing a trial pins its node. */
class StepStory {
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
    this.root = el("details", { class: "sq-story run-more", "data-part": "story" }, host);
    this.title = el("summary", {}, this.root);
    this.line = el("p", { class: "sq-step-line sq-dim" }, this.root);
    this.list = el("ol", { class: "sq-trials", "data-part": "trials" }, this.root);
    this.rows = pool(() => new TrialRow(this.list));
    rove(this.list);
    this.root.addEventListener("click", (event) => this.click(event));
    this.root.addEventListener("pointerover", (event) => this.over(event));
    this.root.addEventListener("pointerleave", () => this.over(null));
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
    const trials = view ? view.trials : [];
    show(this.root, trials.length > 0);
    text(this.title, view ? `Step ${this.store.at + 1}: ${count(trials.length, "trial")}` : "");
    text(this.line, view ? this.numbers(view) : "");
    const rows = this.rows.take(trials.length);
    trials.forEach((trial, i) => rows[i].fill(view, trial));
  }

  numbers(view) {
    const { emitted, finish: end } = view.step;
    const time = sourced(ms(view.seconds), this.store.word);
    const made = `${count(emitted.length, "token")} emitted in ${time}.`;
    const ended = end ? ` The run ends here: ${finish(end)}.` : "";
    return stepWords.stepLine(view).replace(/\.$/, "; ") + made + ended;
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
    const pair = isDrawn ? apart(trial.u, ratio) : [];
    this.bar.root.style.visibility = isDrawn ? "" : "hidden";
    this.bar.paint(trial.u, ratio);
    text(this.ratio, isDrawn ? "u " + pair.join(trial.accepted ? " < " : " ≥ ") : "");
  }
}
