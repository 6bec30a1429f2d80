/* The legend of a step's tree: what the colours or the shades of its nodes mean. */
import { el, show, svg } from "./dom.js";
import { states } from "./step_words.js";

/** @import { StepView } from "./step_view.js" */

// A node's shade shows in what share of the steps with this tree the node was accepted.
/** @type {[number, string][]} the largest share for each shade, and the shade's label */
const SHADES = [
  [0, "0%"],
  [0.05, "up to 5%"],
  [0.2, "up to 20%"],
  [0.5, "up to 50%"],
  [1, "up to 100% of steps with this tree"],
];

/**
 * The shade for a share.
 * @param {number} share from 0 to 1
 * @returns {number} 0 to 4
 */
export const heatShade = (share) => SHADES.findIndex(([most]) => share <= most + 1e-9);

const STATES = ["accepted", "rejected", "untested", "never"];

/** The legend of a step's tree. */
export class Legend {
  /** @param {Element} host */
  constructor(host) {
    this.states = el("div", { class: "sq-legend sq-wrap sq-dim", "data-part": "legend" }, host);
    for (const state of STATES) this.entry(state, states[state]);
    this.entry("own", "from the large model");
    this.heat = el("div", { class: "sq-legend sq-wrap sq-dim", hidden: "" }, host);
    el("span", { text: "accepted in" }, this.heat);
    SHADES.forEach(([, label], shade) => {
      const entry = el("span", { class: "sq-legend-entry" }, this.heat);
      el("i", { class: "sq-shade", "data-heat": shade }, entry);
      el("span", { text: label }, entry);
    });
  }

  entry(key, label) {
    const look = { class: "sq-sample", viewBox: "0 0 22 10", "aria-hidden": "true" };
    const entry = el("span", { class: "sq-legend-entry", "data-s": key }, this.states);
    const sample = svg("svg", look, entry);
    svg("path", { class: "sq-edge", "data-s": key, d: "M1 5H21" }, sample);
    el("span", { text: label }, entry);
  }

  /**
   * @param {StepView | null} step
   * @param {boolean} isHeat whether the tree shows shades instead of states
   */
  paint(step, isHeat) {
    show(this.heat, isHeat && Boolean(step));
    show(this.states, !isHeat && Boolean(step));
  }
}
