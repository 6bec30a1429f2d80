/* A bar from 0 to 1 that shows the random draw u as a mark. The part below p/q, where u accepts the
   token, is coloured. */
import { el } from "./dom.js";

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
