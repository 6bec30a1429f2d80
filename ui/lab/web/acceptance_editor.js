/* The acceptance vector as bars: dragged with the pointer or by arrow keys, chosen, pasted, saved. */
import { csv, saveText } from "../../shared/web/save_file.js";
import { makePanel } from "../../shared/web/panel.js";
import { AcceptanceCounting } from "./acceptance_counting.js";
import * as vectors from "./acceptance_vectors.js";
import { formatShare } from "./export_tree.js";
import * as planner from "./planner.js";
import { Refusal } from "./refusal.js";
import { attr, button, el, pool, show, text } from "../../shared/web/dom.js";
import { addTerm } from "../../shared/web/tooltips.js";
import TOOLTIPS from "../../../assets/tooltips.json" with { type: "json" };

const MOST_BARS = 32;
const POWER = 0.45; // the axis is bent, so that small rates can be seen and moved
const up = (rate) => rate ** POWER;
const down = (height) => height ** (1 / POWER);
const TICKS = [0.01, 0.1, 0.3, 0.6, 1];

const named = ({ label, words }) => label + (words ? ": " + words : "");
const altered = (from) => ({ label: "changed by hand", words: "from " + named(from), from });

export class AcceptanceEditor {
  constructor(host, state, link) {
    this.state = state;
    this.presets = [...vectors.MADE];
    this.power = { exponent: 1.6, first: 0.6, length: 16 };
    const panel = (this.panel = makePanel(host, {
      part: "acceptance",
      title: "Acceptance",
      term: "acceptance",
      cls: "sq-lab-editor",
    }));
    this.chooser(panel.body);
    this.whence(panel.body);
    this.slope(panel.body);
    this.plot(panel.body);
    this.fields(panel.body);
    this.pasting(panel.body);
    this.counting = new AcceptanceCounting(panel.body, this, link);
  }

  // -- parts -------------------------------------------------------------------------------------------------------------

  chooser(host) {
    const line = el("div", { class: "sq-lab-line" }, host);
    this.menu = el(
      "select",
      {
        class: "sq-input sq-lab-menu",
        "aria-label": "Acceptance vector",
        "data-part": "presets",
      },
      line,
    );
    this.menu.addEventListener("change", () => this.choose(this.menu.value));
    const tools = el("div", { class: "sq-segments" }, this.panel.tools);
    this.paste = button(tools, { text: "Paste", hint: TOOLTIPS["button paste"] });
    this.paste.dataset.part = "paste";
    this.paste.addEventListener("click", () => this.unfold());
    for (const [words, call] of [
      ["JSON", () => this.saveJson()],
      ["CSV", () => this.saveCsv()],
    ]) {
      button(tools, { text: words, hint: "Save the vector as " + words }).addEventListener(
        "click",
        call,
      );
    }
    this.offer();
  }

  /** What the vector on screen is, and the way back to what it was before a hand changed it. */
  whence(host) {
    const line = el(
      "p",
      { class: "sq-lab-whence", "data-part": "whence", "aria-live": "polite" },
      host,
    );
    this.label = el("span", { class: "sq-badge" }, line);
    line.append(" ");
    this.words = el("span", {}, line);
    line.append(" ");
    this.back = button(line, { text: "Take back", hint: TOOLTIPS["button take back"] });
    this.back.addEventListener("click", () =>
      this.take(this.base.rates, this.base.origin, this.base.key),
    );
  }

  slope(host) {
    this.slopes = el("div", { class: "sq-lab-sliders", hidden: "" }, host);
    for (const [name, label, term, least, most, step] of [
      ["exponent", "exponent", "exponent", 0, 4, 0.05],
      ["first", "first", "first rate", 0.02, 1, 0.01],
      ["length", "ranks", "ranks", 2, 64, 1],
    ]) {
      const row = el("div", { class: "sq-lab-slider" }, this.slopes);
      addTerm(row, label, term);
      const slider = el(
        "input",
        {
          type: "range",
          "aria-label": label,
          min: least,
          max: most,
          step,
          value: this.power[name],
          "data-part": "power-" + name,
        },
        row,
      );
      const shown = el("output", { text: String(this.power[name]) }, row);
      slider.addEventListener("input", () => {
        this.power[name] = Number(slider.value);
        this.givePower();
      });
      this["shown_" + name] = shown;
    }
  }

  plot(host) {
    const box = (this.box = el(
      "div",
      {
        class: "sq-lab-bars",
        role: "group",
        "aria-label": "Rates by rank; arrow keys change the one in focus",
      },
      host,
    ));
    for (const tick of TICKS) {
      el(
        "span",
        {
          class: "sq-lab-tick",
          text: String(tick),
          style: `bottom:${(up(tick) * 100).toFixed(2)}%`,
        },
        box,
      );
    }
    this.bars = el("div", { class: "sq-lab-bar-row" }, box);
    this.pool = pool((k) => this.bar(k));
    this.more = el("div", { class: "sq-lab-note" }, host);
    this.key = el("div", { class: "sq-lab-key" }, host);
    for (const [cls, words, term] of [
      ["even", "smoothed, planned with", "smoothed"],
      ["fit", "power-law fit", "power-law fit"],
      ["range", "95 % interval of the counts", "interval"],
    ]) {
      const entry = el("span", { class: "sq-lab-key-entry", "data-key": cls }, this.key);
      el("i", { class: "sq-lab-key-" + cls }, entry);
      addTerm(entry, words, term);
    }
  }

  bar(k) {
    const node = el(
      "div",
      {
        class: "sq-lab-bar",
        role: "slider",
        tabindex: "0",
        "aria-valuemin": "0",
        "aria-valuemax": "1",
        "data-rank": k,
      },
      this.bars,
    );
    const fill = el("i", { class: "sq-lab-fill" }, node);
    const parts = {
      node,
      fill,
      even: el("i", { class: "sq-lab-even" }, node),
      fit: el("i", { class: "sq-lab-fit" }, node),
      range: el("i", { class: "sq-lab-range" }, node),
    };
    node.addEventListener("focus", () => {
      if (this.refusal.field) this.say(""); // what was typed was another rank's
      this.state.set({ pick: k });
    });
    node.addEventListener("keydown", (event) => this.press(event, k));
    node.addEventListener("pointerdown", (event) => this.grab(event, k, node));
    return parts;
  }

  fields(host) {
    const line = el("div", { class: "sq-lab-line sq-lab-values" }, host);
    this.name = el("label", { class: "sq-lab-rank", for: "sq-lab-rate" }, line);
    this.value = el(
      "input",
      {
        id: "sq-lab-rate",
        class: "sq-input sq-lab-number",
        type: "text",
        inputmode: "decimal",
        "data-part": "rate",
      },
      line,
    );
    this.value.addEventListener("change", () => this.type());
    this.sum = addTerm(
      el("span", { class: "sq-lab-sum", "data-part": "sum" }, line),
      "",
      "sum of rates",
    );
    const less = button(line, { icon: "minus", label: "One rank fewer" });
    const more = button(line, { icon: "plus", label: "One rank more" });
    less.addEventListener("click", () => this.length(-1));
    more.addEventListener("click", () => this.length(1));
    this.refusal = new Refusal(host, "problem");
  }

  pasting(host) {
    this.paper = el("div", { class: "sq-lab-paste", hidden: "" }, host);
    this.sheet = el(
      "textarea",
      {
        class: "sq-input",
        rows: "4",
        spellcheck: "false",
        "aria-label": "A vector as JSON or CSV",
        placeholder: '0.7, 0.1, 0.05\nor {"rates": [0.7, 0.1]}\nor rank,rate lines',
        "data-part": "sheet",
      },
      this.paper,
    );
    const line = el("div", { class: "sq-lab-line" }, this.paper);
    const use = button(line, { text: "Use these" });
    use.dataset.part = "use";
    use.addEventListener("click", () => this.read(this.sheet.value, "pasted"));
    const file = el(
      "input",
      {
        type: "file",
        accept: ".json,.csv,.txt",
        hidden: "",
        "aria-label": "A file with a vector",
      },
      line,
    );
    button(line, {
      text: "Open a file",
      hint: TOOLTIPS["button open a vector"],
    }).addEventListener("click", () => file.click());
    file.addEventListener("change", async () => {
      const [chosen] = file.files;
      if (chosen)
        this.read(
          chosen.size > 65536 ? " ".repeat(65537) : await chosen.text(),
          chosen.name.slice(0, 60),
        );
      file.value = "";
    });
  }

  // -- what a person does ------------------------------------------------------------------------------------------------

  offer() {
    this.menu.replaceChildren();
    for (const preset of this.presets)
      el(
        "option",
        { value: preset.key, text: preset.label + " (" + preset.origin.label + ")" },
        this.menu,
      );
    el("option", { value: "own", text: "your own", hidden: "" }, this.menu);
  }

  /** Vectors the server knows of, before the made-up ones. */
  add(presets) {
    this.presets = [...presets, ...vectors.MADE];
    this.offer();
  }

  choose(key) {
    const preset = this.presets.find((one) => one.key === key);
    if (!preset) return;
    this.kind = key;
    show(this.slopes, key === "power");
    if (key === "power") return this.givePower();
    this.take(preset.rates, preset.origin, key);
  }

  givePower() {
    const { exponent, first, length } = this.power;
    const [rates, used] = vectors.power(exponent, first, length);
    for (const name of ["exponent", "length"])
      text(this["shown_" + name], String(this.power[name]));
    text(this.shown_first, used < first ? used.toFixed(2) + " (sum 1)" : String(first));
    this.take(rates, { label: "made up", words: `power law, exponent ${exponent}` }, "power");
  }

  /** A vector that comes from somewhere in place of the present one. */
  take(rates, origin, key) {
    if (!this.put(rates, origin, key)) return false;
    this.base = { rates: this.state.rates, origin, key };
    return true;
  }

  /** The present vector, altered by a hand. Altered back to what it was, it is that again. */
  change(rates) {
    const { base } = this;
    const same =
      rates.length === base.rates.length && rates.every((rate, k) => rate === base.rates[k]);
    return same ? this.put(rates, base.origin, base.key) : this.put(rates, altered(base.origin));
  }

  put(rates, origin, key) {
    try {
      this.state.take(rates, origin);
      this.kind = key || "own";
      this.say("");
      return true;
    } catch (problem) {
      this.say(problem.message);
      return false;
    }
  }

  say(words, field) {
    this.refusal.say(words && "Not taken: " + words + ".", field);
  }

  unfold() {
    show(this.paper, this.paper.hidden);
    attr(this.paste, "aria-pressed", String(!this.paper.hidden));
    if (!this.paper.hidden) this.sheet.focus();
  }

  read(words, from) {
    let rates;
    try {
      rates = vectors.parse(words);
    } catch (problem) {
      return this.say(problem.message, this.sheet);
    }
    if (this.take(rates, { label: "imported", words: from })) this.unfold();
  }

  type() {
    const { state, value: field } = this;
    const typed = field.value.trim();
    const value = Number(typed.replace(",", "."));
    const rates = state.rates.slice();
    rates[state.pick] = value;
    if (typed === "" || !(value >= 0 && value <= 1))
      this.say(
        `rate ${state.pick + 1}: "${typed.slice(0, 20)}" is not a number from 0 to 1`,
        field,
      );
    else if (!this.change(rates)) this.refusal.say(this.refusal.words, field);
    this.paint();
  }

  /** One bar moved; it stops where the sum would pass 1. */
  move(k, rate) {
    const rates = this.state.rates.slice();
    const rest = planner.sum(rates) - rates[k];
    const most = Math.max(0, Math.floor((1 - rest) * 1e4) / 1e4);
    rates[k] = Math.max(0, Math.min(rate, most));
    this.state.set({ pick: k });
    if (this.change(rates) && rate > most + 1e-9) {
      this.refusal.say(`Rate ${k + 1} stopped at ${most}: the rates sum to at most 1.`);
    }
  }

  press(event, k) {
    const step = event.shiftKey ? 0.1 : event.altKey ? 0.001 : 0.01;
    const rate = this.state.rates[k];
    const moves = {
      ArrowUp: rate + step,
      ArrowDown: rate - step,
      PageUp: rate + 0.1,
      PageDown: rate - 0.1,
      Home: 0,
      End: 1,
    };
    if (event.key in moves) this.move(k, Math.round(moves[event.key] * 1e4) / 1e4);
    else if (event.key === "ArrowRight" || event.key === "ArrowLeft")
      this.pool.items[k + (event.key === "ArrowRight" ? 1 : -1)]?.node.focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  grab(event, k, node) {
    if (event.button) return;
    event.preventDefault();
    node.focus();
    node.setPointerCapture(event.pointerId);
    const at = (moved) => {
      const box = this.bars.getBoundingClientRect();
      const height = Math.max(0, Math.min(1, (box.bottom - moved.clientY) / box.height));
      this.move(k, Number(down(height).toPrecision(3)));
    };
    const end = new AbortController();
    at(event);
    node.addEventListener("pointermove", at, { signal: end.signal });
    for (const name of ["pointerup", "pointercancel"])
      node.addEventListener(name, () => end.abort(), { signal: end.signal });
  }

  length(change) {
    const rates = this.state.rates.slice();
    if (change > 0) rates.push(0);
    else if (rates.length > 1) rates.pop();
    this.change(rates);
    this.state.set({ pick: Math.min(this.state.pick, rates.length - 1) });
  }

  saveJson() {
    saveText(
      "acceptance.json",
      JSON.stringify({ format: "sequoia-acceptance", version: 1, rates: this.state.rates }),
    );
  }
  saveCsv() {
    saveText(
      "acceptance.csv",
      csv([["rank", "rate"], ...this.state.rates.map((rate, k) => [k + 1, rate])]),
      "text/csv",
    );
  }

  // -- paint ---------------------------------------------------------------------------------------------------------------

  paint() {
    const { state } = this;
    const { rates, even, origin } = state;
    const shown = Math.min(rates.length, MOST_BARS);
    const fit = vectors.fitPower(rates);
    const smoothed = even !== rates;
    const counted = origin.visited > 0 && origin.accepted;
    text(this.label, origin.label);
    attr(this.label, "data-label", origin.label);
    text(this.words, origin.words);
    show(this.back, Boolean(origin.from));
    this.counting.paint(origin);
    if (this.menu.value !== (this.kind || "own")) this.menu.value = this.kind || "own";
    show(this.slopes, this.kind === "power");
    this.pool
      .take(shown)
      .slice(0, shown)
      .forEach((bar, k) => this.paintBar(bar, k, { rates, even, fit, smoothed, counted }));
    text(
      this.more,
      rates.length > shown
        ? `ranks 1 to ${shown} of ${rates.length}; the others count too`
        : smoothed
          ? "Rates rise somewhere; trees are planned with the smoothed vector, and every figure is for it."
          : "",
    );
    for (const entry of this.key.children)
      show(
        entry,
        { even: smoothed, fit: Boolean(fit), range: Boolean(counted) }[entry.dataset.key],
      );
    if (fit)
      text(
        this.key.querySelector('[data-key="fit"] button'),
        `power-law fit ${formatShare(fit[0])}·k^−${fit[1].toFixed(2)}`,
      );
    const k = Math.min(state.pick, rates.length - 1);
    const sum = planner.sum(rates);
    text(this.name, "a[" + (k + 1) + "]");
    if (!this.refusal.holds(this.value)) this.value.value = String(Number(rates[k].toPrecision(6)));
    text(this.sum, "sum " + sum.toFixed(4) + (sum > 1 - 1e-6 ? ", the most" : ""));
  }

  paintBar({ node, fill, even, fit, range }, k, about) {
    const rate = about.rates[k];
    const interval = about.counted
      ? vectors.wilson(about.counted[k] ?? 0, this.state.origin.visited)
      : null;
    fill.style.height = (up(rate) * 100).toFixed(2) + "%";
    attr(node, "aria-label", "rate of child " + (k + 1));
    attr(node, "aria-valuenow", rate.toFixed(4));
    attr(
      node,
      "title",
      `child ${k + 1}: ${rate.toPrecision(4)}` +
        (interval
          ? `, ${about.counted[k] ?? 0} of ${this.state.origin.visited}, 95 % interval ${interval[0].toFixed(4)} to ${interval[1].toFixed(4)}`
          : "") +
        (about.smoothed ? `, smoothed ${about.even[k].toPrecision(4)}` : ""),
    );
    node.classList.toggle("is-picked", k === this.state.pick);
    show(even, about.smoothed);
    if (about.smoothed) even.style.bottom = (up(about.even[k]) * 100).toFixed(2) + "%";
    show(fit, Boolean(about.fit));
    if (about.fit)
      fit.style.bottom =
        (up(Math.min(1, about.fit[0] * (k + 1) ** -about.fit[1])) * 100).toFixed(2) + "%";
    show(range, Boolean(interval));
    if (interval)
      Object.assign(range.style, {
        bottom: (up(interval[0]) * 100).toFixed(2) + "%",
        height: ((up(interval[1]) - up(interval[0])) * 100).toFixed(2) + "%",
      });
  }
}
