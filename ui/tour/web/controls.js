/* The inputs in which a visitor answers a question of the tour. All have the type Control. The
   simple ones are in this file. */
import { attr, el, show, text } from "../../shared/web/dom.js";

/** @import { Answer } from "./tour_state.js" */

/**
 * @typedef {object} Control
 * @property {() => Answer} read returns the answer; null while it is incomplete or not allowed
 * @property {(answer: Answer) => void} put shows an answer
 * @property {() => void} [lock] called when the answer can no longer be changed
 * @property {() => string} problem returns what to do, in words, while `read` returns null
 * @property {() => void} [remove] removes the control from the page
 */

/** A typed number. */
export class NumberControl {
  /**
   * @param {Element} host
   * @param {{label: string, most: number, step?: string}} about `most`: the largest number
   */
  constructor(host, { label, most, step = "1" }) {
    this.most = most;
    const line = el("label", { class: "sq-tour-number sq-line" }, host);
    const look = { class: "sq-input", type: "number", min: 0, max: most, step };
    this.input = el("input", { ...look, inputmode: "decimal" }, line);
    el("span", { text: label }, line);
  }

  read() {
    const value = this.input.value === "" ? NaN : Number(this.input.value);
    return value >= 0 && value <= this.most ? value : null;
  }

  put(answer) {
    this.input.value = String(answer);
  }

  problem() {
    return `Enter a number from 0 to ${this.most}.`;
  }
}

/** A choice of one option, as radio buttons. */
export class ChoiceControl {
  /**
   * @param {Element} host
   * @param {{label: string, choices: [string, string][]}} about `choices`: the
   *   value and the label of each
   */
  constructor(host, { label, choices }) {
    this.group = el("fieldset", { class: "sq-tour-choices" }, host);
    el("legend", { class: "sq-spoken", text: label }, this.group);
    const name = "sq-tour-" + label.replace(/\W+/g, "-");
    this.inputs = choices.map(([value, words]) => {
      const line = el("label", { class: "sq-tour-choice sq-line" }, this.group);
      const input = el("input", { type: "radio", name, value }, line);
      el("span", { text: words }, line);
      return input;
    });
  }

  read() {
    return this.inputs.find((input) => input.checked)?.value ?? null;
  }

  put(answer) {
    for (const input of this.inputs) input.checked = input.value === answer;
  }

  problem() {
    return "Choose one.";
  }
}

/** The length of a block, as a multiple of the length of another block. */
export class LengthControl {
  /**
   * @param {Element} host
   * @param {{label: string, said: (value: number, isGuess: boolean) => string, most: number}}
   *   about `said` puts a length in words; `isGuess`: whether the visitor chose it; `most`: the
   *   largest length
   */
  constructor(host, { label, said, most }) {
    this.said = said;
    this.most = most;
    this.root = el("label", { class: "sq-tour-block" }, host);
    const head = el("span", { class: "sq-tour-block-name sq-wrap" }, this.root);
    el("span", { text: label }, head);
    this.output = el("b", {}, head);
    const lane = el("span", { class: "sq-tour-lane" }, this.root);
    this.bar = el("span", { class: "sq-tour-bar is-guess" }, lane);
    const look = { class: "sq-tour-drag sq-fill", type: "range", min: 1, max: most, step: 0.1 };
    this.input = el("input", look, lane);
    this.input.addEventListener("input", () => this.paint(true));
    this.input.value = String(most / 2);
    this.paint(false);
  }

  /** @param {boolean} isGuess */
  paint(isGuess) {
    const value = Number(this.input.value);
    const words = this.said(value, isGuess);
    this.bar.style.width = (100 * value) / this.most + "%";
    text(this.output, words);
    attr(this.input, "aria-valuetext", words);
  }

  read() {
    return Number(this.input.value);
  }

  put(answer) {
    this.input.value = String(answer);
    this.paint(true);
  }

  lock() {
    show(this.input, false);
  }

  remove() {
    show(this.root, false);
  }

  problem() {
    return "";
  }
}
