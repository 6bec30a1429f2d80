/* The fields of one distribution: for each word, a slider and a text field for its probability.
   Refused text stays in its field, so that the visitor can correct it. */
import { attr, button, el, show, text } from "../../shared/web/dom.js";
import { Refusal } from "../../shared/web/refusal.js";
import { addTerm } from "../../shared/web/tooltips.js";
import { readShares, scaledShares, withShare } from "./shares.js";
import { MOST_WORDS, WORDS } from "./toy.js";

/** @typedef {"p" | "q"} Letter */

/** @type {Record<Letter, string>} */
const NAMES = { p: "p, the large model", q: "q, the small model" };

/** The fields of p or of q. */
export class SharesField {
  /** @type {string[]} */
  texts = [];

  /**
   * @param {HTMLElement} host
   * @param {Letter} letter
   * @param {() => void} changed
   */
  constructor(host, letter, changed) {
    this.letter = letter;
    this.changed = changed;
    this.root = el("fieldset", { class: "wk-shares", "data-which": letter }, host);
    const legend = el("legend", {}, this.root);
    addTerm(legend, NAMES[letter], "why " + letter);
    this.rows = Array.from({ length: MOST_WORDS }, (_, i) => this.makeRow(i));
    const line = el("p", { class: "wk-sum sq-ends sq-dim" }, this.root);
    this.sum = el("span", { "data-part": "sum-" + letter }, line);
    const act = () => this.put(scaledShares(this.read().values).map(String));
    this.scale = button(line, { text: "Scale to sum 1", part: "scale-" + letter, act });
    this.refusal = new Refusal(this.root, "problem-" + letter);
  }

  makeRow(i) {
    const name = `${this.letter} of ${WORDS[i]}`;
    const row = el("div", { class: "wk-share" }, this.root);
    el("span", { class: "wk-word", text: WORDS[i], "aria-hidden": "true" }, row);
    const about = { min: 0, max: 1, step: 0.01, "aria-label": name + ", as a bar" };
    const bar = el("input", { type: "range", class: "wk-bar", ...about }, row);
    const look = { class: "sq-input wk-number", inputmode: "decimal", "aria-label": name };
    const field = el("input", { type: "text", ...look, "data-part": `${this.letter}${i}` }, row);
    bar.addEventListener("input", () => this.drag(i, Number(bar.value)));
    field.addEventListener("input", () => this.type(i, field.value));
    return { row, bar, field };
  }

  /** @returns {ReturnType<typeof readShares>} */
  read() {
    return readShares(this.letter, this.texts, WORDS);
  }

  drag(i, share) {
    this.put(withShare(this.read().values, i, share).map(String));
  }

  type(i, value) {
    this.texts[i] = value;
    this.changed();
  }

  /** @param {string[]} texts */
  put(texts) {
    this.texts = texts;
    this.changed();
  }

  /**
   * Change the number of words. New words get the probability 0. If words are removed, the
   * remaining values are scaled to sum to 1, unless one of these is invalid.
   * @param {number} count
   */
  resize(count) {
    const added = Array.from({ length: Math.max(0, count - this.texts.length) }, () => "0");
    const isShorter = count < this.texts.length;
    this.texts = [...this.texts.slice(0, count), ...added];
    const { values, problem } = this.read();
    if (isShorter && problem?.at === null) this.texts = scaledShares(values).map(String);
  }

  paint() {
    const { values, problem } = this.read();
    this.rows.forEach(({ row, bar, field }, i) => {
      show(row, i < this.texts.length);
      if (i >= this.texts.length) return;
      if (field.value !== this.texts[i]) field.value = this.texts[i];
      const share = Number.isNaN(values[i]) ? 0 : values[i];
      if (document.activeElement !== bar || Number(bar.value) !== share) bar.value = String(share);
      bar.style.setProperty("--share", Math.max(0, Math.min(1, share)) * 100 + "%");
      attr(bar, "aria-valuetext", field.value);
    });
    const total = values.reduce((one, other) => one + other, 0);
    text(this.sum, Number.isNaN(total) ? "" : `sum ${Number(total.toFixed(6))}`);
    show(this.scale, problem?.at === null);
    this.paintProblem(problem);
  }

  paintProblem(problem) {
    for (const { field } of this.rows) attr(field, "aria-invalid", null);
    const at = problem?.at ?? this.rows.findIndex(({ field }) => field === document.activeElement);
    this.refusal.say(
      problem?.words ?? "",
      problem ? (this.rows[Math.max(at, 0)]?.field ?? null) : null,
    );
  }
}
