/* The panel in which the acceptance vector is chosen, edited, pasted, saved and measured. The
   vector says how often verification accepts a node's first child, its second, and so on. These
   rates can be edited as bars or as numbers. */
import { AcceptanceBars } from "./acceptance_bars.js";
import { AcceptanceCounting } from "./acceptance_counting.js";
import * as vectors from "./acceptance_vectors.js";
import { numberField } from "./number_field.js";
import * as planner from "../../shared/web/planner.js";
import { Refusal } from "../../shared/web/refusal.js";
import { attr, button, el, segments, show, text } from "../../shared/web/dom.js";
import { fillMenu, textArea } from "../../shared/web/fields.js";
import { makeFold, makePanel } from "../../shared/web/panel.js";
import { rove } from "../../shared/web/roving_focus.js";
import { saveText } from "../../shared/web/save_file.js";
import { addTerm } from "../../shared/web/tooltips.js";
import TOOLTIPS from "../../../assets/tooltips.json" with { type: "json" };

const MOST_BYTES = 64 * 1024; // of a file; a longer one is refused without being read
/** Key of the menu entry for a vector that is not a preset. */
export const OWN = "own";

/** @typedef {import("./lab_state.js").Origin} Origin */
/** @typedef {import("./acceptance_vectors.js").Preset} Preset */

const named = ({ label, words }) => label + (words ? ": " + words : "");
const edited = (from) => ({ label: "edited by hand", words: "from " + named(from), from });

/** @type {(factor: number) => string} what an edit did to the other rates; "" for a factor of 1 */
export function scaledWords(factor) {
  if (factor >= 1) return "";
  const digits = factor.toPrecision(2);
  return (
    "Rates cannot sum to more than 1: the other rates were multiplied by " +
    `${Number(digits) < 1 ? digits : "almost 1"}.`
  );
}

/** The panel with the vector. */
export class AcceptanceEditor {
  presets = [...vectors.MADE];
  kind = OWN; // key of the preset in use; OWN: none
  /** The latest consecutive changes of one rate, such as by dragging its bar. k: the index of the
   * rate. before: the vector before the first change. after: the vector after the last. The other
   * rates are always scaled from `before`.
   * @type {{k: number, before: number[], after: number[]} | null} */
  moved = null;
  factor = 1; // `move` multiplied the other rates by this; 1 after any other kind of edit
  /**
   * The vector before any edit; `key` is that of its preset.
   * @type {{rates: number[], origin: Origin, key?: string}}
   */
  base = { rates: [], origin: { label: "synthetic", words: "" } };

  /**
   * @param {HTMLElement} host
   * @param {import("./lab_state.js").LabState} state
   * @param {import("./acceptance_counting.js").Link} link
   */
  constructor(host, state, link) {
    this.state = state;
    const about = { part: "acceptance", title: "Acceptance", term: "acceptance" };
    const panel = makePanel(host, { ...about, cls: "sq-lab-editor" });
    const { body } = panel;
    this.makeMenu(body);
    this.bars = new AcceptanceBars(body, state, {
      pick: (k) => this.pick(k),
      move: (k, rate) => this.move(k, rate),
    });
    // below the bars, which must not move while one is dragged
    this.makeOrigin(body);
    const scaled = { class: "sq-dim", "data-part": "scaled", "aria-live": "polite" };
    this.scaled = el("p", scaled, body);
    this.counting = new AcceptanceCounting(body, this, link);
    this.more = makeFold(body, "More");
    this.more.addEventListener("toggle", () => state.changed());
    this.bars.makeKey(this.more);
    this.makeFields(this.more);
    this.makeTools(this.more);
    this.makePasting(this.more);
  }

  // -- parts ------------------------------------------------------------

  makeTools(host) {
    const tools = segments(host, "Paste and save");
    this.paste = button(tools, {
      text: "Paste",
      hint: TOOLTIPS["button paste"],
      part: "paste",
      act: () => this.togglePasting(),
    });
    button(tools, { text: "Save", hint: "Save the vector as JSON", act: () => this.save() });
    rove(tools);
  }

  makeMenu(host) {
    const line = el("div", { class: "sq-lab-line" }, host);
    const look = { class: "sq-input sq-lab-menu", "data-part": "presets" };
    this.menu = el("select", { ...look, "aria-label": "Acceptance vector" }, line);
    this.menu.addEventListener("change", () => this.choose(this.menu.value));
    this.offer();
  }

  // The line with the origin of the vector, and the button that undoes all edits.
  makeOrigin(host) {
    const look = { class: "sq-lab-whence sq-dim", "data-part": "whence", "aria-live": "polite" };
    const line = el("p", look, host);
    this.label = el("span", { class: "sq-badge" }, line);
    line.append(" ");
    this.words = el("span", {}, line);
    line.append(" ");
    const undo = { text: "Undo", hint: TOOLTIPS["button undo"], act: () => this.undo() };
    this.back = button(line, undo);
  }

  makeFields(host) {
    const line = el("div", { class: "sq-lab-line sq-lab-values" }, host);
    this.name = el("label", { class: "sq-lab-rank", for: "sq-lab-rate" }, line);
    this.value = numberField(line, "rate", { inputmode: "decimal", id: "sq-lab-rate" });
    this.value.addEventListener("change", () => this.type());
    const rest = el("span", { class: "sq-lab-sum sq-dim", "data-part": "sum" }, line);
    this.sum = addTerm(rest, "", "sum of rates");
    button(rest, { icon: "minus", label: "One rank fewer", act: () => this.resize(-1) });
    button(rest, { icon: "plus", label: "One rank more", act: () => this.resize(1) });
    rove(rest);
    this.refusal = new Refusal(host, "problem");
  }

  makePasting(host) {
    this.pasting = el("div", { class: "sq-lab-paste", hidden: "" }, host);
    this.sheet = textArea(this.pasting, "sheet", {
      rows: "4",
      "aria-label": "A vector: numbers or JSON",
      placeholder: '0.7, 0.1, 0.05\nor {"rates": [0.7, 0.1]}',
    });
    const line = el("div", { class: "sq-lab-line" }, this.pasting);
    button(line, {
      text: "Use these",
      part: "use",
      act: () => this.read(this.sheet.value, "pasted"),
    });
    this.makeFile(line);
    rove(line);
  }

  makeFile(line) {
    const kinds = { accept: ".json,.csv,.txt", "aria-label": "A file with a vector" };
    const file = el("input", { type: "file", hidden: "", ...kinds }, line);
    button(line, {
      text: "Open a file",
      hint: TOOLTIPS["button open a vector"],
      act: () => file.click(),
    });
    file.addEventListener("change", async () => {
      const [chosen] = file.files;
      const long = chosen?.size > MOST_BYTES;
      const words = `the file has ${chosen?.size} bytes; at most ${MOST_BYTES} are allowed`;
      if (long) this.refuse(words, this.sheet);
      else if (chosen) this.read(await chosen.text(), chosen.name.slice(0, 60));
      file.value = "";
    });
  }

  // -- choosing, editing and saving ------------------------------------------------------------

  offer() {
    fillMenu(this.menu, this.presets);
    el("option", { value: OWN, text: "your own", hidden: "" }, this.menu);
  }

  /**
   * List the server's vectors in the menu, above the presets that need no models. If one of them is
   * in use, its origin may be new: its models may be loaded now.
   * @param {Preset[]} presets
   */
  add(presets) {
    this.presets = [...presets, ...vectors.MADE];
    this.offer();
    if (presets.some(({ key }) => key === this.kind)) this.choose(this.kind);
  }

  /**
   * @param {string} key
   * @returns {boolean} whether a preset has this key
   */
  has(key) {
    return this.presets.some((one) => one.key === key);
  }

  /** @param {string} key of a preset */
  choose(key) {
    const preset = this.presets.find((one) => one.key === key);
    if (!preset) return;
    this.take(preset.rates, preset.origin, key);
  }

  // Undo all edits of the vector.
  undo() {
    const { rates, origin, key } = this.base;
    this.take(rates, origin, key);
  }

  /**
   * Use another vector.
   * @param {number[]} rates
   * @param {Origin} origin
   * @param {string} [key] of its preset
   * @returns {boolean} whether the rates are valid
   */
  take(rates, origin, key) {
    if (!this.put(rates, origin, key)) return false;
    this.base = { rates: this.state.rates, origin, key };
    return true;
  }

  // Edit the vector. An edit that restores the original rates also restores their origin.
  change(rates) {
    const { base } = this;
    const same =
      rates.length === base.rates.length && rates.every((rate, k) => rate === base.rates[k]);
    return same ? this.put(rates, base.origin, base.key) : this.put(rates, edited(base.origin));
  }

  put(rates, origin, key = OWN) {
    try {
      this.state.take(rates, origin);
    } catch (problem) {
      this.refuse(problem.message);
      return false;
    }
    this.kind = key;
    this.factor = 1;
    this.refusal.say("");
    return true;
  }

  refuse(words, field = null) {
    this.more.open = true;
    this.refusal.say("Not used: " + words + ".", field);
  }

  togglePasting() {
    show(this.pasting, Boolean(this.pasting.hidden));
    attr(this.paste, "aria-pressed", String(!this.pasting.hidden));
    if (!this.pasting.hidden) this.sheet.focus();
  }

  read(words, from) {
    try {
      const rates = vectors.parse(words);
      if (this.take(rates, { label: "imported", words: from })) this.togglePasting();
    } catch (problem) {
      this.refuse(problem.message, this.sheet);
    }
  }

  type() {
    const { state, value: field } = this;
    const typed = field.value.trim();
    const value = Number(typed.replace(",", "."));
    const name = `rate ${state.pick + 1}`;
    if (typed === "" || !(value >= 0 && value <= 1))
      this.refuse(`${name}: "${typed.slice(0, 20)}" is not a number from 0 to 1`, field);
    else this.move(state.pick, value);
    this.paint();
  }

  // Select a rank. An error about what was typed or pasted no longer applies.
  pick(k) {
    if (this.refusal.field) this.refusal.say("");
    this.state.set({ pick: k });
  }

  // Change one rate. If the sum would exceed 1, the other rates are scaled down. Changing the rate
  // back restores them.
  move(k, rate) {
    const { state, moved } = this;
    const goesOn = moved?.k === k && moved.after === state.rates;
    const before = goesOn ? moved.before : state.rates;
    const { rates, factor } = vectors.withRate(before, k, Math.max(0, Math.min(rate, 1)));
    state.set({ pick: k });
    if (!this.change(rates)) return;
    this.moved = { k, before, after: state.rates };
    this.factor = factor;
  }

  resize(change) {
    const rates = this.state.rates.slice();
    if (change > 0) rates.push(0);
    else if (rates.length > 1) rates.pop();
    this.change(rates);
    this.state.set({ pick: Math.min(this.state.pick, rates.length - 1) });
  }

  save() {
    const { rates } = this.state;
    const data = { format: "sequoia-acceptance", version: 1, rates };
    saveText("acceptance.json", JSON.stringify(data));
  }

  // -- paint ------------------------------------------------------------

  paint() {
    const { rates, origin, pick } = this.state;
    text(this.label, origin.label);
    attr(this.label, "data-label", origin.label);
    text(this.words, origin.words);
    show(this.back, Boolean(origin.from));
    if (this.menu.value !== this.kind) this.menu.value = this.kind;
    text(this.scaled, scaledWords(this.factor));
    this.bars.isWhole = this.more.open;
    this.bars.paint();
    this.counting.paint(origin);
    this.paintFields(rates, Math.min(pick, rates.length - 1));
  }

  paintFields(rates, k) {
    const sum = planner.sum(rates);
    text(this.name, `child ${k + 1}, a[${k + 1}]`);
    if (!this.refusal.holds(this.value)) this.value.value = String(Number(rates[k].toPrecision(6)));
    text(this.sum, "sum " + sum.toFixed(4) + (sum > 1 - 1e-6 ? ", the maximum" : ""));
  }
}
