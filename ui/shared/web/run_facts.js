/* The models and short facts (such as the temperature) of a run and of one of its lanes. They are
   shown as a strip on the page, or as lines of text in a saved picture or page. */
import { el } from "./dom.js";
import { count, known, ms, readable } from "./format.js";
import { rove } from "./roving_focus.js";
import { sourced, verifier as nameOf } from "./run_words.js";
import { addTerm } from "./tooltips.js";

const ROLES = [
  ["target", "large model"],
  ["draft", "small model"],
];
const WIDE = 68; // max characters of a line below a picture's title
const PAGE_WIDE = 160; // max characters of a line at the top of a saved page

/**
 * @import { LaneShown } from "./schema.js"
 *
 * Meta: the models, settings and machine of a run, as `RaceFields` in schema.d.ts. Fact: [name,
 * value, term]. The name may be empty. Term is the key of the name's tooltip, by default the name
 * itself.
 * @typedef {Record<string, any>} Meta
 * @typedef {[string, string, string?]} Fact
 */

/** A strip with the models and the facts. */
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
    for (const [key, role] of ROLES) if (meta[key]) this.model(role, meta[key]);
    this.chips.replaceChildren(...facts.map(factChip));
  }

  model(role, name) {
    const box = el("span", { class: "sq-model" }, this.models);
    el("span", { class: "sq-dim", text: role }, box);
    el("span", { class: "sq-model-name", text: readable(name) }, box);
  }
}

function factChip([name, value, term = name]) {
  const chip = el("span", { class: "sq-chip" });
  if (name) addTerm(el("span", { class: "sq-dim" }, chip), name, term).after(" ");
  chip.append(readable(value));
  return chip;
}

/**
 * The dtypes of target and draft in words.
 * @param {string | undefined} dtype such as "bfloat16" or "bfloat16, draft int8"
 * @returns {string | undefined}
 */
export const dtypes = (dtype) =>
  dtype?.includes(", draft ")
    ? "large model " + dtype.replace(", draft ", ", small model ")
    : dtype;

/**
 * The machine, the date, and the settings of a run and of one of its lanes as short facts.
 * @param {Meta} meta
 * @param {{title: string, about: Partial<LaneShown>}} [lane] without it, the facts of all lanes
 * @returns {Fact[]} without facts whose value is missing
 */
export function runFacts(meta, lane) {
  const { title, device, clock, dtype, params = {}, date, floor_seconds: floor } = meta;
  const { temperature, top_p: topP, max_new_tokens: most, seed, ignore_eos: ignore } = params;
  /** @type {Fact[]} */
  const facts = [
    ["", title],
    clock ? ["models ran on", device, "on"] : ["on", device],
    ["", dtypes(dtype)],
    ["times simulated for", clock && `“${clock}”`, "timed on"],
    ["temperature", known(temperature) ? String(temperature) : ""],
    ["top-p", topP < 1 ? String(topP) : ""],
    ["", known(most) ? count(most, "token") : ""],
    ["", floor ? `weights read in ${ms(floor)}` : ""],
    ["seed", known(seed) ? String(seed) : ""],
    ["", ignore ? "end of text ignored" : ""],
    ...(lane ? laneFacts(lane) : []),
    ["", String(date || "").slice(0, 10)],
  ];
  return facts.filter(([, value]) => value);
}

/** @type {(lane: {title: string, about: Partial<LaneShown>}) => Fact[]} */
function laneFacts({ title, about }) {
  const { nodes, levels, description, rates, verifier, plain } = about;
  const words = sourced(description ?? "", rates);
  const sizes = [nodes && count(nodes, "node"), levels && count(levels, "level"), words];
  return [
    ["lane", title],
    ["tree", plain ? "" : sizes.filter(Boolean).join(", ")],
    ["verifier", plain || verifier === "sequoia" ? "" : nameOf(verifier)],
  ];
}

/**
 * Models and facts as lines of text: first the models, then as many facts per line as fit.
 * @param {Meta} meta
 * @param {Fact[]} facts
 * @param {number} [wide] max characters of a line; longer names or facts are cut
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
 * Facts as the lines at the top of a saved page. The models are left out: they are in its title.
 * @param {Fact[]} facts
 * @returns {string[]}
 */
export const pageLines = (facts) => factLines({}, facts, PAGE_WIDE);
