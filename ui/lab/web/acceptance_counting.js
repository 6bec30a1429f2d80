/* Acceptance measured with the loaded pair: what is asked of the server, and what comes back. The numbers are made there. */
import { counts } from "./acceptance_counts.js";
import { Refusal } from "./refusal.js";
import { button, el, show, text } from "../../shared/web/dom.js";
import { addTerm, markTerm } from "../../shared/web/tooltips.js";
import TOOLTIPS from "../../../assets/tooltips.json" with { type: "json" };

const TYPED = "typed";

export class AcceptanceCounting {
  /** editor.take(rates, origin) gets the vector, link.count(result) the whole count; link.trigger asks the server. */
  constructor(host, editor, link) {
    this.editor = editor;
    this.link = link;
    const box = (this.root = el("div", { class: "sq-lab-count", hidden: "" }, host));
    const line = el("div", { class: "sq-lab-line" }, box);
    this.heat = this.number(line, "T", "0.6", "count-temperature", "Temperature");
    this.topP = this.number(line, "top-p", "1", "count-top-p", "Top-p");
    this.measure = button(line, {
      text: "Measure",
      hint: TOOLTIPS["button measure acceptance"],
    });
    this.measure.dataset.part = "measure";
    this.measure.addEventListener("click", () => this.ask());
    this.refusal = new Refusal(box, "count-refused");
    [this.how, this.way] = this.menu(box, "How", "How to measure", "count-way");
    this.way.addEventListener("change", () => this.explain());
    [, this.from] = this.menu(
      box,
      "On",
      "Prompts to measure on",
      "count-prompts",
      "counted prompts",
    );
    this.from.addEventListener("change", () => show(this.own, this.from.value === TYPED));
    this.own = el(
      "textarea",
      {
        class: "sq-input",
        rows: "3",
        maxlength: "4000",
        spellcheck: "false",
        hidden: "",
        "aria-label": "Your own text",
        placeholder: "Text of your own, to be continued or read",
        "data-part": "count-text",
      },
      box,
    );
    this.bar = el("progress", { max: "1", value: "0", hidden: "", "aria-label": "Measuring" }, box);
    this.said = el("p", { class: "sq-lab-note", "data-part": "count-words" }, box);
  }

  number(line, label, value, part, name) {
    const wrap = el("span", { class: "sq-lab-field" }, line);
    addTerm(wrap, label, name.toLowerCase());
    const field = el(
      "input",
      {
        class: "sq-input sq-lab-number",
        type: "text",
        inputmode: "decimal",
        "aria-label": name,
        "data-part": part,
      },
      wrap,
    );
    field.value = value;
    return field;
  }

  menu(host, word, label, part, term) {
    const line = el("div", { class: "sq-lab-line sq-lab-way" }, host);
    return [
      addTerm(line, word, term),
      el("select", { class: "sq-input sq-lab-menu", "aria-label": label, "data-part": part }, line),
    ];
  }

  explain() {
    markTerm(this.how, "way " + this.way.value);
  }

  /** What the server can measure: ways and prompts, [{key, label}] each. */
  offer(ways, prompts) {
    for (const [menu, entries] of [
      [this.way, ways],
      [this.from, prompts],
    ]) {
      if (!entries) continue;
      const value = menu.value;
      menu.replaceChildren(
        ...entries.map(({ key, label }) => el("option", { value: key, text: label })),
      );
      if (value) menu.value = value;
    }
    this.explain();
  }

  ask() {
    if (this.busy) return this.link.trigger("halt", {});
    this.told(0, "waiting for the models");
    this.link.trigger("count", {
      temperature: this.heat.value,
      top_p: this.topP.value,
      prompts: this.from.value,
      way: this.way.value,
      text: this.from.value === TYPED ? this.own.value : "",
    });
  }

  /** {share, words, over, error, result: {rates, accepted, visited, words, atlas, ...}} from the server. */
  take(message) {
    const { result, error } = message;
    if (result) {
      this.told(null, "");
      this.last = counts.origin(result);
      this.editor.take(result.rates, this.last);
      this.link.count(result);
    } else if (error) {
      this.told(null, "");
      this.refusal.say("Not measured: " + error + ".", this.fieldOf(error));
    } else this.told(message.over ? null : message.share, message.words);
  }

  /** The field that a refusal of the server names. */
  fieldOf(error) {
    return { temperature: this.heat, top_p: this.topP, "your text": this.own }[error.split(":")[0]];
  }

  /** What became of the last count, as long as nothing newer is to be said here. */
  paint(origin) {
    if (!this.last) return;
    const now =
      origin === this.last
        ? "the vector above"
        : origin.from === this.last
          ? "changed by hand since"
          : "another vector is in use now";
    text(this.said, `Last count: ${this.last.words}; ${now}.`);
  }

  told(share, words) {
    this.last = null;
    this.refusal.say("");
    this.busy = share !== null;
    show(this.bar, this.busy);
    if (this.busy) this.bar.value = share;
    text(this.measure.querySelector("span"), this.busy ? "Stop" : "Measure");
    text(this.said, words);
  }
}
