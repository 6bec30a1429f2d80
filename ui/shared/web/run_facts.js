/* What ran, where and how: the models and short facts of a run or a race, on the page and as lines
   of a saved picture. */
import { el } from "./dom.js";
import { known, readable } from "./format.js";
import { rove } from "./roving_focus.js";
import { addTerm } from "./tooltips.js";

const WIDE = 68; // characters of a line below a picture's title
const PAGE_WIDE = 160; // characters of a line at the top of a saved page

/**
 * What a run or a race was made with: `recorded` in ui/decode/messages.py has the fields of a run.
 * @typedef {Record<string, any>} Meta
 * @typedef {[string, string]} Fact its name, a key of tooltips.json or empty, and its value
 */

/** Models and facts in a strip. */
export class FactStrip {
  /** @param {Element} host */
  constructor(host) {
    this.models = el("span", { class: "sq-models" }, host);
    this.chips = el("span", { class: "sq-chips" }, host);
    rove(this.chips);
  }

  /**
   * @param {Meta} meta
   * @param {Fact[]} facts
   */
  paint(meta, facts) {
    this.models.replaceChildren();
    for (const role of ["target", "draft"]) if (meta[role]) this.model(role, meta[role]);
    this.chips.replaceChildren(...facts.map(factChip));
  }

  model(role, name) {
    const box = el("span", { class: "sq-model" }, this.models);
    el("span", { class: "sq-model-role", text: role }, box);
    el("span", { class: "sq-model-name", text: readable(name) }, box);
  }
}

function factChip([name, value]) {
  const chip = el("span", { class: "sq-chip" });
  if (name) addTerm(el("span", { class: "sq-chip-name" }, chip), name).after(" ");
  chip.append(readable(value));
  return chip;
}

/**
 * Facts that a run and a race share.
 * @param {Meta} meta
 * @param {Fact[]} own further facts, which come before the date
 * @returns {Fact[]}
 */
export function sharedFacts({ title, device, clock, dtype, policy: params, date }, own) {
  const { temperature, top_p: topP } = params || {};
  /** @type {Fact[]} */
  const facts = [
    ["", title],
    ["on", device],
    ["timed on", clock ? `${clock} (simulated)` : ""],
    ["", dtype],
    ["temperature", known(temperature) ? String(temperature) : ""],
    ["top-p", topP < 1 ? String(topP) : ""],
    ...own,
    ["", String(date || "").slice(0, 10)],
  ];
  return facts.filter(([, value]) => value);
}

/**
 * Models and facts as lines of text: first the models, then as many facts per line as fit.
 * @param {Meta} meta
 * @param {Fact[]} facts
 * @param {number} [wide] characters of a line
 * @returns {string[]}
 */
export function factLines(meta, facts, wide = WIDE) {
  const models = cut([meta.target, meta.draft].filter(Boolean).join(" + "), wide);
  const lines = [];
  for (const [name, value] of facts) {
    const fact = cut((name ? name + " " : "") + value, wide);
    const longer = lines.length ? lines.at(-1) + " · " + fact : "";
    if (longer && longer.length <= wide) lines[lines.length - 1] = longer;
    else lines.push(fact);
  }
  return [models, ...lines].filter(Boolean);
}

const cut = (words, wide) => {
  const all = [...readable(words)];
  return all.length > wide ? all.slice(0, wide - 1).join("") + "…" : all.join("");
};

/**
 * Facts as the lines at the top of a saved page, whose models are in its title.
 * @param {Fact[]} facts
 * @returns {string[]}
 */
export const pageLines = (facts) => factLines({}, facts, PAGE_WIDE);
