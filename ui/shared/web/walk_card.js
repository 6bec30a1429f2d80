/* The card beside the tree. It explains one node: its probabilities as bars, its draw u compared
   with p/q, and the residual p and q after the rejections so far. */
import { attr, el, show, text } from "./dom.js";
import { DrawMeter } from "./draw_bar.js";
import { prob } from "./format.js";
import { ResidualBars } from "./residual_bars.js";
import { residualPicture } from "./residual_picture.js";
import * as stepWords from "./step_words.js";
import { addTerm } from "./tooltips.js";

/**
 * @import { StepView } from "./step_view.js"
 * @import { NodeId } from "./tree_layout.js"
 */

const READABLE = "the token’s text with invisible characters made visible";

/** The card. */
export class WalkCard {
  /** @param {Element} host */
  constructor(host) {
    this.root = el("div", { class: "sq-walk-card", "data-part": "walk-card" }, host);
    const line = el("div", { class: "sq-card-line sq-wrap" }, this.root);
    this.token = el("span", { class: "sq-pill", "data-part": "card-token" }, line);
    this.state = el("span", { class: "sq-state" }, line);
    this.bars = el("dl", { class: "sq-probs" }, this.root);
    this.draft = new ShareBar(this.bars, "q");
    this.target = new ShareBar(this.bars, "p");
    this.meter = new DrawMeter(this.root);
    this.residual = new ResidualBars(this.root);
    this.why = el("p", { class: "sq-why", "data-part": "why" }, this.root);
  }

  /**
   * @param {StepView | null} step
   * @param {NodeId | null} node
   * @param {string} state of the node in the picture that is shown
   * @param {boolean} isTried whether the picture shows the trial of this node
   */
  paint(step, node, state, isTried) {
    this.root.classList.toggle("is-blank", !step || node === null);
    if (!step || node === null) return;
    const label = step.label(node);
    text(this.token, label);
    attr(this.token, "title", step.piece(node) === label ? null : READABLE);
    text(this.state, stepWords.states[state] ?? "guessed");
    for (const part of [this.token, this.state]) part.dataset.s = state;
    const isDecided = state in stepWords.states;
    const picture = isDecided ? residualPicture(step, node) : null;
    this.residual.paint(picture);
    show(this.why, !isTried); // else the caption above the tree gives the reason
    text(this.why, isDecided ? stepWords.why(step, node) : stepWords.undecided(step, node));
    this.paintNumbers(step, node, isDecided);
    if (picture && node !== "bonus") show(this.bars, false); // the picture has both bars
  }

  // Shows p and q of the node's trial, which may be residual probabilities. If the node has no
  // trial, or if its trial decided about a whole path, shows the original p and q. p is shown only
  // once the node is decided.
  paintNumbers(step, node, isDecided) {
    const trial = isDecided && node !== "bonus" ? step.trial(node) : undefined;
    const compared = step.fromLeaves ? undefined : trial;
    const isDrafted = node !== "bonus" && node > 0;
    show(this.bars, isDrafted);
    if (isDrafted) {
      const areResidual = Boolean(compared) && stepWords.isResidual(step, compared);
      this.draft.paint(compared?.q ?? step.q(node), areResidual);
      this.target.paint(isDecided ? (compared?.p ?? step.p(node)) : null, areResidual);
    }
    this.meter.paint(step.greedy ? null : trial);
  }
}

/** @type {Record<string, [string, string]>} label of a probability, and of a residual one */
const NAMES = { q: ["q, small model", "residual q"], p: ["p, large model", "residual p"] };

/** One probability: its name, a bar and its value. */
class ShareBar {
  /**
   * @param {Element} host
   * @param {"p" | "q"} which
   */
  constructor(host, which) {
    const row = el("div", { class: "sq-prob", "data-which": which }, host);
    const name = el("dt", {}, row);
    this.names = [addTerm(name, NAMES[which][0], "why " + which)];
    this.names.push(addTerm(name, NAMES[which][1], "why t" + which));
    const value = el("dd", {}, row);
    this.bar = el("span", { class: "sq-prob-bar" }, el("span", { class: "sq-prob-track" }, value));
    this.value = el("span", { class: "sq-prob-value" }, value);
  }

  /** @type {(share: number | null, isOfResidual: boolean) => void} */
  paint(share, isOfResidual) {
    show(this.names[0], !isOfResidual);
    show(this.names[1], isOfResidual);
    this.bar.style.width = (share ?? 0) * 100 + "%";
    text(this.value, prob(share ?? NaN));
  }
}
