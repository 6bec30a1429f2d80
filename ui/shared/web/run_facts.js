/* What ran, where and how: the models and short facts of a run or a race, on the page and as lines of a picture that leaves it. */
import { el } from "./dom.js";
import { known, readable } from "./format.js";
import { addTerm } from "./tooltips.js";

const WIDE = 68; // characters of a line below a picture's title

/** Models and facts in a strip. `facts` are [name, value]; a name is one of tooltips.json, or empty. */
export class FactStrip {
  constructor(host) {
    this.models = el("span", { class: "sq-models" }, host);
    this.chips = el("span", { class: "sq-chips" }, host);
  }

  paint(meta, facts) {
    this.models.replaceChildren();
    for (const role of ["target", "draft"]) if (meta[role]) this.model(role, meta[role]);
    this.chips.replaceChildren(
      ...facts.map(([name, value]) => {
        const chip = el("span", { class: "sq-chip" });
        if (name) addTerm(el("span", { class: "sq-chip-name" }, chip), name).after(" ");
        chip.append(readable(value));
        return chip;
      }),
    );
  }

  model(role, name) {
    const box = el("span", { class: "sq-model" }, this.models);
    el("span", { class: "sq-model-role", text: role }, box);
    el("span", { class: "sq-model-name", text: readable(name) }, box);
  }
}

/** Facts that a run and a race share, with those of its `own` before the date. */
export function sharedFacts({ title, device, dtype, policy, date }, own) {
  const { temperature, top_p: topP } = policy || {};
  return [
    ["", title],
    ["on", device],
    ["", dtype],
    ["temperature", known(temperature) ? String(temperature) : ""],
    ["top-p", topP < 1 ? String(topP) : ""],
    ...own,
    ["", String(date || "").slice(0, 10)],
  ].filter(([, value]) => value);
}

/** Models and facts as lines of at most `wide` characters: the models, then as many facts in each as it holds. */
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
