/* Bars for p and q after the rejections so far: for each of a few tokens, a bar for p above a bar
   for q. The part that a rejection removes from p or from q is hatched. */
import { attr, el, show, text } from "./dom.js";
import { twoDecimals } from "./format.js";

/**
 * @import { ResidualPicture, ResidualRow } from "./residual_picture.js"
 */

const ROWS = 6;

/** The picture, with a row of bars for each token. */
export class ResidualBars {
  /**
   * @param {Element} host
   * @param {number} [rows] number of rows, including the row for all other tokens
   */
  constructor(host, rows = ROWS) {
    this.root = el("div", { class: "sq-left-of", "data-part": "residual" }, host);
    this.head = el("div", { class: "sq-left-head sq-ends" }, this.root);
    this.title = el("b", { class: "sq-left-title" }, this.head);
    const letters = el("span", { class: "sq-left-letters" }, this.head);
    el("span", { text: "p" }, letters);
    this.qLetter = el("span", { text: "q" }, letters);
    this.list = el("div", { class: "sq-left-rows", role: "list" }, this.root);
    this.rows = Array.from({ length: rows }, () => new ResidualBar(this.list));
    this.note = el("p", { class: "sq-left-note" }, this.root);
  }

  /** @param {ResidualPicture | null} picture */
  paint(picture) {
    show(this.root, picture !== null);
    if (picture) this.paintPicture(picture);
  }

  /** @param {ResidualPicture} picture */
  paintPicture({ title, rows, note }) {
    text(this.title, title);
    const isOfBoth = rows.at(-1).q !== null;
    show(this.qLetter, isOfBoth);
    this.rows.forEach((row, i) => row.paint(rows[i] ?? null));
    text(this.note, note);
  }
}

/** The row of one token. */
class ResidualBar {
  /** @param {Element} host */
  constructor(host) {
    this.root = el("div", { class: "sq-left-row", role: "listitem" }, host);
    this.label = el("span", { class: "sq-left-token" }, this.root);
    const bars = el("span", { class: "sq-left-bars" }, this.root);
    const p = el("span", { class: "sq-left-bar", "data-which": "p" }, bars);
    this.cut = el("span", { class: "sq-left-cut" }, p);
    this.kept = el("span", { class: "sq-left-kept" }, p);
    this.draft = el("span", { class: "sq-left-bar", "data-which": "q" }, bars);
    this.q = el("span", { class: "sq-left-kept" }, this.draft);
    this.values = el("span", { class: "sq-left-values" }, this.root);
    this.pValue = el("span", {}, this.values);
    this.qValue = el("span", {}, this.values);
  }

  /** @param {ResidualRow | null} row */
  paint(row) {
    this.root.classList.toggle("is-free", !row);
    attr(this.root, "aria-hidden", row ? null : "true");
    if (!row) return;
    const { label, p, q, cut, mark } = row;
    text(this.label, label);
    this.root.dataset.mark = mark;
    this.root.classList.toggle("is-rest", row.key === "rest");
    setWidth(this.cut, cut);
    setWidth(this.kept, p - cut);
    setWidth(this.q, q ?? 0);
    text(this.pValue, twoDecimals(p));
    text(this.qValue, q === null ? "" : twoDecimals(q));
  }
}

const setWidth = (bar, share) => (bar.style.width = share * 100 + "%");
