/* A bar from 0 to 1 that shows the random draw u as a mark. The part below p/q, where u accepts the
   token, is coloured. */
import { attr, el, show, text } from "./dom.js";
import { apart, known } from "./format.js";
import { acceptanceRatio } from "./step_words.js";

/** @import { Trial } from "./step_view.js" */

/** The bar with its mark. */
export class DrawBar {
  /** @param {Element} host */
  constructor(host) {
    this.root = el("span", { class: "sq-draw" }, host);
    this.yes = el("span", { class: "sq-draw-yes" }, this.root);
    this.mark = el("span", { class: "sq-draw-mark" }, this.root);
  }

  /**
   * @param {number | null} u null: the mark is at 0
   * @param {number} ratio p/q
   */
  paint(u, ratio) {
    this.yes.style.width = Math.max(0, Math.min(1, ratio)) * 100 + "%";
    this.mark.style.left = (u || 0) * 100 + "%";
  }
}

/** The bar and its numbers. */
export class DrawMeter {
  /** @param {Element} host */
  constructor(host) {
    this.root = el("div", { class: "sq-meter", role: "img" }, host);
    this.top = el("span", { class: "sq-meter-u" }, this.root);
    this.bar = new DrawBar(this.root);
    this.under = el("div", { class: "sq-meter-scale sq-ends sq-dim" }, this.root);
    el("span", { text: "0" }, this.under);
    this.ratio = el("span", { class: "sq-meter-ratio" }, this.under);
    el("span", { text: "1" }, this.under);
  }

  /** @param {Trial | null | undefined} trial if null or without a u, the meter is hidden */
  paint(trial) {
    const isShown = Boolean(trial) && known(trial.u);
    show(this.root, isShown);
    if (!isShown) return;
    const ratio = acceptanceRatio(trial);
    this.bar.paint(trial.u, ratio);
    this.top.style.setProperty("--at", trial.u * 100 + "%");
    const [u, bound] = apart(trial.u, ratio);
    text(this.top, "u " + u);
    text(this.ratio, (trial.q === 1 ? "accepted below " : "accepted below p/q = ") + bound);
    attr(this.root, "aria-label", `u is ${u}; the token is accepted if u is below ${bound}`);
  }
}
