/* The form that measures acceptance with the loaded models. */
import { numberField } from "./number_field.js";
import { Refusal } from "../../shared/web/refusal.js";
import { button, el, show, text } from "../../shared/web/dom.js";
import { fillMenu, textArea } from "../../shared/web/fields.js";
import { makeFold, progressBar } from "../../shared/web/panel.js";
import { sentence } from "../../shared/web/format.js";
import { rove } from "../../shared/web/roving_focus.js";
import { addTerm } from "../../shared/web/tooltips.js";
import TOOLTIPS from "../../../assets/tooltips.json" with { type: "json" };

const TYPED = "typed"; // menu entry for the visitor's own text

/** @typedef {{key: string, label: string}} Entry of a menu */

/**
 * The result of one measurement, made by `_count_message` in ui/lab/tab.py.
 * @typedef {object} Count
 * @property {number[]} rates
 * @property {number[]} accepted number of accepted children by rank
 * @property {number} visited roots at which acceptance was counted
 * @property {string} words how and on what it was measured
 * @property {string} texts what it was measured on, such as "code prompts"
 * @property {number} temperature
 */

/**
 * A message about the measurement, from ui/lab/tab.py. `interrupted`: why the measurement that the
 * page waits for is not running.
 * @typedef {{share?: number, words?: string, over?: boolean, error?: string, interrupted?: string,
 *   result?: Count}} CountMessage
 */

/** The form, and the progress of the measurement. */
export class AcceptanceCounting {
  busy = false;
  /**
   * The vector from the last measurement. Null before the first measurement, while one is running,
   * and if the last one gave no vector or was of other models.
   * @type {{rates: number[], origin: import("./lab_state.js").Origin} | null}
   */
  last = null;

  /**
   * @param {HTMLElement} host
   * @param {import("./acceptance_editor.js").AcceptanceEditor} editor gets the measured vector
   * @param {(name: string, data: object) => void} trigger sends a request to the server
   */
  constructor(host, editor, trigger) {
    this.editor = editor;
    this.trigger = trigger;
    this.root = makeFold(host, "Measure acceptance", "counting");
    show(this.root, false);
    this.box = el("div", { class: "sq-lab-count" }, this.root);
    this.makeSettings(el("div", { class: "sq-lab-line" }, this.box));
    this.refusal = new Refusal(this.box, "count-refused");
    this.from = this.makeMenu(el("div", { class: "sq-lab-line" }, this.box));
    this.from.addEventListener("change", () => show(this.own, this.from.value === TYPED));
    this.makeText();
    this.bar = progressBar(this.box, "Progress of the measurement");
    const status = el("p", { class: "sq-dim" }, this.box);
    this.status = el("span", { "data-part": "count-words" }, status);
    status.append(" ");
    const hint = TOOLTIPS["button use a count"];
    this.again = button(status, { text: "Use", hint, act: () => this.use() });
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
      placeholder: "Your own text, which is continued.",
    });
  }

  number(line, label, value, part, name) {
    const wrap = el("span", { class: "sq-lab-field sq-unbroken sq-dim" }, line);
    addTerm(wrap, label, label === "Temp." ? "temperature" : label);
    const field = numberField(wrap, part, { inputmode: "decimal", "aria-label": name });
    field.value = value;
    return field;
  }

  makeMenu(line) {
    addTerm(line, "Prompts", "counted prompts");
    const look = { class: "sq-input sq-lab-menu", "aria-label": "Prompts to measure on" };
    return el("select", { ...look, "data-part": "count-prompts" }, line);
  }

  /** @param {Entry[]} prompts */
  offer(prompts) {
    fillMenu(this.from, prompts);
  }

  ask() {
    if (this.busy) return this.trigger("halt", {});
    this.progress(0, "waiting for the models");
    this.trigger("count", {
      temperature: this.temperature.value,
      top_p: this.topP.value,
      prompts: this.from.value,
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
    this.last = { rates: result.rates, origin: measured(result) };
    this.use();
  }

  use() {
    this.editor.take(this.last.rates, this.last.origin);
  }

  /** Other models are loaded: the last measurement is not of these. */
  forget() {
    this.last = null;
    text(this.status, "");
    show(this.again, false);
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
    const { last } = this;
    let now = "no longer in use";
    if (origin === last.origin) now = "in use above";
    else if (origin.from === last.origin) now = "edited by hand since";
    text(this.status, `Last measurement: ${last.origin.words}; ${now}.`);
    show(this.again, origin !== last.origin);
  }

  // `share`: the part of the work that is done, from 0 to 1; null when nothing is being measured.
  progress(share, words) {
    this.forget();
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
