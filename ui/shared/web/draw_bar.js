/* The draw u on the line from 0 to 1: the part below p/q accepts, and a mark stands at u. */
import { el } from "./dom.js";

/** A bar with a mark. */
export class DrawBar {
  /** @param {Element} host */
  constructor(host) {
    this.root = el("span", { class: "sq-draw" }, host);
    this.yes = el("span", { class: "sq-draw-yes" }, this.root);
    this.mark = el("span", { class: "sq-draw-mark" }, this.root);
  }

  /**
   * @param {number | null} u
   * @param {number} ratio p/q
   */
  paint(u, ratio) {
    this.yes.style.width = Math.max(0, Math.min(1, ratio)) * 100 + "%";
    this.mark.style.left = (u || 0) * 100 + "%";
  }
}
