/* Sliders for an acceptance vector that follows a power law. */
import * as vectors from "./acceptance_vectors.js";
import { el, text } from "../../shared/web/dom.js";
import { addTerm } from "../../shared/web/tooltips.js";

/** @type {[string, string, {min: number, max: number, step: number}][]} */
const SLIDERS = [
  ["exponent", "exponent", { min: 0, max: 6, step: 0.05 }],
  ["first", "first rate", { min: 0.02, max: 1, step: 0.01 }],
  ["length", "ranks", { min: 2, max: 64, step: 1 }],
];

/** The sliders and their values. */
export class PowerLaw {
  values = { exponent: 1.6, first: 0.6, length: 16 };
  /** @type {Record<string, HTMLElement>} */
  outputs = {};
  /** @type {Record<string, HTMLInputElement>} */
  sliders = {};

  /**
   * @param {HTMLElement} host
   * @param {() => void} onChange
   */
  constructor(host, onChange) {
    this.onChange = onChange;
    this.root = el("div", { class: "sq-lab-sliders", hidden: "" }, host);
    for (const [name, label, bounds] of SLIDERS) this.makeSlider(name, label, bounds);
  }

  makeSlider(name, label, bounds) {
    const row = el("div", { class: "sq-lab-slider sq-dim" }, this.root);
    addTerm(row, label);
    const look = { type: "range", "aria-label": label, "data-part": "power-" + name };
    const slider = el("input", { ...look, ...bounds, value: this.values[name] }, row);
    this.sliders[name] = slider;
    this.outputs[name] = el("output", { text: String(this.values[name]) }, row);
    slider.addEventListener("input", () => {
      this.values[name] = Number(slider.value);
      this.onChange();
    });
  }

  /**
   * Set the sliders to the power law nearest to `rates`, as far as the sliders' bounds allow. If
   * fewer than two rates are positive, the exponent stays as it is.
   * @param {number[]} rates
   */
  follow(rates) {
    const [first, exponent] = vectors.fitPower(rates) ?? [rates[0], this.values.exponent];
    const wanted = { first, exponent, length: rates.length };
    for (const [name, , { min, max, step }] of SLIDERS) {
      const value = Math.round(Math.max(min, Math.min(wanted[name], max)) / step) * step;
      this.values[name] = Number(value.toFixed(2));
      this.sliders[name].value = String(this.values[name]);
    }
    this.vector(); // to write the values beside the sliders
  }

  /**
   * The vector that the sliders describe, and where it comes from, in words. Also writes the values
   * beside the sliders.
   * @returns {{rates: number[], words: string}}
   */
  vector() {
    const { exponent, first, length } = this.values;
    const [rates, used] = vectors.power(exponent, first, length);
    text(this.outputs.exponent, String(exponent));
    text(this.outputs.length, String(length));
    // “sum 1”: the first rate was lowered until the rates sum to 1
    text(this.outputs.first, used < first ? used.toFixed(2) + " (sum 1)" : String(first));
    return { rates, words: `power law, exponent ${exponent}` };
  }
}
