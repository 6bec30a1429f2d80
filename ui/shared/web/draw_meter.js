/* A bar that compares the draw u with the bound p/q. u is written above the bar, p/q below. */
import { attr, el, show, text } from "./dom.js";
import { DrawBar } from "./draw_bar.js";
import { apart, known } from "./format.js";
import { acceptanceRatio } from "./step_words.js";

/** @import { Trial } from "./step_view.js" */

/** The bar and its numbers. */
export class DrawMeter {
  /** @param {Element} host */
  constructor(host) {
    this.root = el("div", { class: "sq-meter", role: "img" }, host);
    this.top = el("span", { class: "sq-meter-u" }, this.root);
    this.bar = new DrawBar(this.root);
    this.under = el("div", { class: "sq-meter-scale" }, this.root);
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
