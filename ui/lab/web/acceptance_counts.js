/* This page's latest acceptance measurements, side by side. */
import { acceptanceCard } from "../../shared/web/acceptance_table.js";
import { button, el, show } from "../../shared/web/dom.js";
import { makePanel } from "../../shared/web/panel.js";
import TOOLTIPS from "../../../assets/tooltips.json" with { type: "json" };

const MOST = 8; // measurements kept; the oldest is dropped
const CAPTION = `the last ${MOST}, side by side; each cell: acceptance rate, and accepted / visits`;

/**
 * The result of one measurement, made by `_count_message` in ui/lab/tab.py.
 * @typedef {object} Count
 * @property {number[]} rates
 * @property {number[]} accepted number of accepted children by rank; if `unit` is "positions",
 *   the expected number, which may be a fraction
 * @property {number} visited roots or positions at which acceptance was counted
 * @property {string} words how and on what it was measured
 * @property {string} texts what it was measured on, such as "code prompts"
 * @property {number} temperature
 * @property {number} top_p
 * @property {string} unit "roots" or "positions"
 * @property {import("../../shared/web/acceptance_table.js").AcceptanceByLevel} by_level acceptance
 *   by rank and depth
 */

/**
 * A measurement, with the origin of its acceptance vector.
 * @typedef {Count & {origin: import("./lab_state.js").Origin}} Measurement
 */

/** The panel; hidden while there are no measurements. */
export class AcceptanceCounts {
  /** @type {Measurement[]} */
  counts = [];

  /**
   * @param {HTMLElement} host
   * @param {(rates: number[], origin: import("./lab_state.js").Origin) => void} onUse called when
   *   "Use" is pressed on a measurement
   */
  constructor(host, onUse) {
    this.onUse = onUse;
    const about = { part: "counts", title: "Measured acceptance", cls: "sq-lab-counts" };
    this.panel = makePanel(host, about);
    el("span", { class: "sq-word sq-dim", text: CAPTION }, this.panel.titleBox);
    this.list = el("div", { class: "hw-by-levels" }, this.panel.body);
    this.paint();
  }

  /** @param {Measurement} count */
  add(count) {
    this.counts = [...this.counts, count].slice(-MOST);
    this.paint();
  }

  /** Other models are loaded: no measurement is of these. */
  disown() {
    for (const { origin } of this.counts) origin.own = false;
  }

  use({ rates, origin }) {
    this.onUse(rates, origin);
  }

  drop(count) {
    this.counts = this.counts.filter((one) => one !== count);
    this.paint();
  }

  paint() {
    show(this.panel.root, this.counts.length > 0);
    this.list.replaceChildren(...this.counts.map((count) => this.card(count)));
  }

  card(count) {
    const { by_level: byLevel, temperature, visited, unit } = count;
    const words = `${byLevel.name} · T = ${temperature}, top-p ${count.top_p} · ${visited} ${unit}`;
    const place = unit === "roots" ? "root" : "position";
    const { root, head } = acceptanceCard(byLevel, { label: "measured", words, place });
    root.dataset.part = "counted";
    const tools = el("span", { class: "sq-segments" }, head);
    const hint = TOOLTIPS["button use a count"];
    button(tools, { text: "Use", hint, act: () => this.use(count) });
    button(tools, { icon: "close", label: "Remove this measurement", act: () => this.drop(count) });
    return root;
  }
}
