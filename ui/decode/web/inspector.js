/* The panel "Why". It shows the selected node with its numbers and a sentence that explains its
   state. In slow motion, unless the temperature is 0, it shows a WalkCard instead, about the node
   that the picture explains. Under either is the story of the step (see step_story.js). */
import { DrawMeter } from "../../shared/web/draw_meter.js";
import { makePanel } from "../../shared/web/panel.js";
import { StepStory } from "./step_story.js";
import * as stepWords from "../../shared/web/step_words.js";
import { attr, button, el, show, text } from "../../shared/web/dom.js";
import { known, percent, prob } from "../../shared/web/format.js";
import { rove } from "../../shared/web/roving_focus.js";
import { addTerm, markTerm } from "../../shared/web/tooltips.js";
import { WalkCard } from "../../shared/web/walk_card.js";

/**
 * @import { RunStore } from "./run_store.js"
 * @import { StepView, Trial } from "../../shared/web/step_view.js"
 * @import { NodeId } from "../../shared/web/tree_scene.js"
 */

// The tooltip of `id` has the key "why id".
/** @type {Record<string, string>} labels of the numbers */
const FIGURES = {
  id: "token id",
  node: "node",
  level: "depth",
  rank: "child",
  q: "q, draft",
  p: "p, target",
  tq: "residual q",
  tp: "residual p",
  ratio: "p / q",
  tratio: "residual p / q",
  u: "u",
  mass: "residual mass",
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
    this.kicker = addTerm(panel.tools, "", "last token tried", "sq-kicker");
    const look = { icon: "close", label: "Unpin (Escape)", cls: "sq-mini-btn" };
    this.unpin = button(panel.tools, look);
    this.unpin.addEventListener("click", () => store.set({ pin: null }));
    this.walk = new WalkCard(panel.body);
    const card = el("div", { class: "sq-card", "data-part": "card" }, panel.body);
    this.card = card;
    const line = el("div", { class: "sq-card-line" }, card);
    this.token = el("span", { class: "sq-pill", "data-part": "card-token" }, line);
    this.state = el("span", { class: "sq-state" }, line);
    this.why = el("p", { class: "sq-why", "data-part": "why" }, card);
    this.meter = new DrawMeter(card);
    this.list = el("dl", { class: "sq-figures" }, card);
    this.figures = Object.entries(FIGURES).map(([key, label]) => {
      const box = el("div", { "data-figure": key }, this.list);
      addTerm(el("dt", {}, box), label, "why " + key);
      return { key, box, value: el("dd", {}, box) };
    });
    rove(this.list);
    this.story = new StepStory(store, panel.body);
  }

  paint() {
    const { store } = this;
    const view = store.view();
    const node = store.selected;
    this.story.paint(view, node);
    const isWalk = Boolean(view) && !view.greedy && store.slow.shown !== null;
    show(this.walk.root, isWalk);
    show(this.card, !isWalk);
    if (isWalk) return this.paintWalk(view);
    if (!view || node === null) return;
    this.paintKicker(view, node);
    const state = view.stateOf(node);
    const label = view.label(node);
    const isShownOtherwise = view.piece(node) !== label;
    const hint = "the token’s text with invisible characters made visible";
    text(this.token, label);
    attr(this.token, "title", isShownOtherwise ? hint : null);
    text(this.state, stepWords.states[state]);
    for (const part of [this.token, this.state]) part.dataset.s = state;
    text(this.why, stepWords.why(view, node));
    const trial = node === "bonus" ? null : view.trial(node);
    this.meter.paint(view.greedy ? null : trial);
    this.paintFigures(view, node, trial);
  }

  /** @type {(view: StepView) => void} */
  paintWalk(view) {
    const { hover, pin, slow } = this.store;
    const node = hover ?? pin ?? slow.explained;
    const state = node === null ? "" : slow.stateOf(node);
    this.walk.paint(view, node, state, node === slow.tried);
    this.paintKicker(view, node, true);
  }

  /**
   * Say above the card why its node is shown.
   * @type {(view: StepView, node: NodeId | null, isWalk?: boolean) => void}
   */
  paintKicker(view, node, isWalk = false) {
    const { hover, pin } = this.store;
    let word = view.trials.length ? "last token tried" : "no trial in this step";
    if (isWalk) word = "";
    if (node !== null && pin === node) word = "pinned";
    if (node !== null && hover === node) word = "under the pointer";
    text(this.kicker, word);
    markTerm(this.kicker, word);
    show(this.unpin, word === "pinned");
  }

  /** @type {(view: StepView, node: NodeId, trial?: Trial) => void} */
  paintFigures(view, node, trial) {
    const values = {
      id: String(view.id(node)),
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
    const [accepted, steps] = this.store.slotCounts(view.step.tree, node);
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
