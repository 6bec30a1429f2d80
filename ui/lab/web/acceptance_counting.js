/* The form that measures acceptance with the loaded models. */
import { numberField } from "./number_field.js";
import { Refusal } from "../../shared/web/refusal.js";
import { button, el, show, text } from "../../shared/web/dom.js";
import { fillMenu, textArea } from "../../shared/web/fields.js";
import { makeFold, progressBar } from "../../shared/web/panel.js";
import { sentence } from "../../shared/web/format.js";
import { rove } from "../../shared/web/roving_focus.js";
import { addTerm, markTerm } from "../../shared/web/tooltips.js";
import TOOLTIPS from "../../../assets/tooltips.json" with { type: "json" };

const TYPED = "typed"; // menu entry for the visitor's own text

/** @typedef {import("./acceptance_counts.js").Count} Count */
/** @typedef {{key: string, label: string}} Entry of a menu */

/**
 * A message about the measurement, from ui/lab/tab.py. `interrupted`: why the measurement that the
 * page waits for is not running.
 * @typedef {{share?: number, words?: string, over?: boolean, error?: string, interrupted?: string,
 *   result?: Count}} CountMessage
 */

/**
 * @typedef {object} Link
 * @property {(name: string, data: object) => void} trigger sends a request to the server
 * @property {(count: import("./acceptance_counts.js").Measurement) => void} count called with a
 *   finished measurement
 */

/** The form, and the progress of the measurement. */
export class AcceptanceCounting {
  busy = false;
  /**
   * The origin of the vector from the last measurement. Null before the first measurement, while
   * one is running, and if the last one gave no vector.
   * @type {import("./lab_state.js").Origin | null}
   */
  last = null;

  /**
   * @param {HTMLElement} host
   * @param {import("./acceptance_editor.js").AcceptanceEditor} editor gets the measured vector
   * @param {Link} link
   */
  constructor(host, editor, link) {
    this.editor = editor;
    this.link = link;
    this.root = makeFold(host, "Measure acceptance", "counting");
    show(this.root, false);
    this.box = el("div", { class: "sq-lab-count" }, this.root);
    this.makeSettings(el("div", { class: "sq-lab-line" }, this.box));
    this.refusal = new Refusal(this.box, "count-refused");
    const how = this.menu("Method", "How to measure", "count-way");
    this.how = how.term;
    this.way = how.select;
    this.way.addEventListener("change", () => this.explain());
    const on = "Prompts to measure on";
    this.from = this.menu("Prompts", on, "count-prompts", "counted prompts").select;
    this.from.addEventListener("change", () => show(this.own, this.from.value === TYPED));
    this.makeText();
    this.bar = progressBar(this.box, "Progress of the measurement");
    this.status = el("p", { class: "sq-dim", "data-part": "count-words" }, this.box);
    rove(this.box, ".sq-term");
  }

  makeSettings(line) {
    this.temperature = this.number(line, "Temp.", "0.6", "count-temperature", "Temperature (T)");
    this.topP = this.number(line, "top-p", "1", "count-top-p", "top-p");
    this.measure = button(line, {
      text: "Measure",
      hint: TOOLTIPS["button measure acceptance"],
      part: "measure",
      act: () => this.ask(),
    });
  }

  makeText() {
    this.own = textArea(this.box, "count-text", {
      rows: "3",
      maxlength: "4000",
      hidden: "",
      "aria-label": "Your own text",
      placeholder: "Your own text. It is continued or only read, depending on the method.",
    });
  }

  number(line, label, value, part, name) {
    const wrap = el("span", { class: "sq-lab-field sq-unbroken sq-dim" }, line);
    addTerm(wrap, label, label === "Temp." ? "temperature" : label);
    const field = numberField(wrap, part, { inputmode: "decimal", "aria-label": name });
    field.value = value;
    return field;
  }

  menu(word, label, part, key = "") {
    const line = el("div", { class: "sq-lab-line sq-lab-way" }, this.box);
    const look = { class: "sq-input sq-lab-menu", "aria-label": label, "data-part": part };
    return { term: addTerm(line, word, key), select: el("select", look, line) };
  }

  explain() {
    markTerm(this.how, "way " + this.way.value);
  }

  /**
   * Fill the menus with what the server offers.
   * @param {Entry[]} [ways]
   * @param {Entry[]} [prompts]
   */
  offer(ways, prompts) {
    if (ways) fillMenu(this.way, ways);
    if (prompts) fillMenu(this.from, prompts);
    this.explain();
  }

  ask() {
    if (this.busy) return this.link.trigger("halt", {});
    this.progress(0, "waiting for the models");
    this.link.trigger("count", {
      temperature: this.temperature.value,
      top_p: this.topP.value,
      prompts: this.from.value,
      way: this.way.value,
      text: this.from.value === TYPED ? this.own.value : "",
    });
  }

  /** @param {CountMessage} message */
  take({ result, error, interrupted, over, share, words }) {
    const running = !result && !error && !interrupted && !over;
    this.progress(running ? share : null, words ?? "");
    if (error) this.refusal.say("Not measured: " + sentence(error), this.fieldOf(error));
    if (interrupted) this.refusal.say(interrupted);
    if (!result) return;
    this.last = measured(result);
    this.editor.take(result.rates, this.last);
    this.link.count({ ...result, origin: this.last });
  }

  // The field whose name the server's error message begins with, if any.
  fieldOf(error) {
    const fields = { temperature: this.temperature, top_p: this.topP, "your text": this.own };
    return fields[error.split(":")[0]];
  }

  /**
   * Say whether the vector in use is still the one that was measured last.
   * @param {import("./lab_state.js").Origin} origin of the vector in use
   */
  paint(origin) {
    if (!this.last) return;
    let now = "no longer in use";
    if (origin === this.last) now = "in use above";
    else if (origin.from === this.last) now = "edited by hand since";
    text(this.status, `Last measurement: ${this.last.words}; ${now}.`);
  }

  // `share`: the part of the work that is done, from 0 to 1; null when nothing is being measured.
  progress(share, words) {
    this.last = null;
    this.refusal.say("");
    this.busy = share !== null;
    this.bar(share);
    text(this.measure.querySelector("span"), this.busy ? "Stop" : "Measure");
    text(this.status, words);
  }
}

/**
 * Where the acceptance vector of a measurement comes from.
 * @param {Count} count
 * @returns {import("./lab_state.js").Origin}
 */
const measured = ({ words, accepted, visited, texts, temperature }) => ({
  label: "measured",
  words,
  on: { texts, temperature },
  accepted,
  visited,
  own: true,
});
