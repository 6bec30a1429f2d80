/* What the test would find: for each bug that the chosen verifier can have, its exact bias and the
   probability that the test detects it. In some settings neither can be computed. */
import { el, show } from "../../shared/web/dom.js";
import { grouped, known, percent } from "../../shared/web/format.js";
import { makePanel } from "../../shared/web/panel.js";
import { rove } from "../../shared/web/roving_focus.js";
import { addTerm } from "../../shared/web/tooltips.js";

/** @typedef {import("./lossless_view.js").Finds} Finds */
/** @typedef {import("./lossless_view.js").Test} Test */

const NEAR_ONE = 0.999999;
const SHOWS = 0.5; // a bug with a smaller probability of being found is called hidden
const NO_BIAS = 1e-9; // a smaller bias is rounding

/** The panel beside the table of cells. */
export class FindsPanel {
  /** @param {HTMLElement} host */
  constructor(host) {
    const title = "What this test would find";
    const about = { part: "finds", title, cls: "ls-finds", term: "power of a test" };
    this.panel = makePanel(host, about);
    const badge = { class: "sq-badge", "data-label": "predicted", text: "predicted" };
    el("span", badge, this.panel.tools);
    this.table = el("table", { class: "sq-table" }, this.panel.body);
    rove(this.table);
    show(this.panel.root, false);
  }

  /** @param {Test} test */
  show(test) {
    const { finds } = test;
    show(this.panel.root, finds.length > 0);
    this.table.replaceChildren();
    const head = el("tr", {}, el("thead", {}, this.table));
    el("th", { scope: "col", text: "bug" }, head);
    addTerm(el("th", { scope: "col" }, head), "bias", "bias of a bug");
    el("th", { scope: "col", text: foundBy(test) }, head);
    const body = el("tbody", {}, this.table);
    for (const one of finds) paintRow(body, one);
  }
}

// The heading of the last column. Its probabilities are for the planned number of samples. Once the
// test has ended, they are for the number of samples drawn, if there were any.
function foundBy({ going, draws, wanted }) {
  const samples = going || !draws ? wanted : draws;
  return `found with probability (${grouped(samples)} samples)`;
}

/**
 * @param {HTMLElement} body
 * @param {Finds} one
 */
function paintRow(body, one) {
  const line = el("tr", {}, body);
  el("th", { scope: "row", text: one.label }, line);
  el("td", { text: biasText(one.distance) }, line);
  const found = el("td", { text: powerText(one) }, line);
  if (known(one.power) && one.power < SHOWS) el("p", { class: "ls-dim", text: one.hides }, found);
}

function biasText(distance) {
  if (!known(distance)) return "–";
  return distance < NO_BIAS ? "none here" : percent(distance, 1);
}

function powerText({ power, distance }) {
  if (!known(power)) return "not computed for this setting";
  if (distance < NO_BIAS) return "never: no bias here";
  if (power > NEAR_ONE) return "above 0.999999";
  if (power < SHOWS) return `hidden here (${power.toPrecision(2)})`;
  return power.toPrecision(6);
}
