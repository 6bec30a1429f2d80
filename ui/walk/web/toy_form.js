/* The form of a toy (see toy.js). It has menus for a preset, the verifier and the tree, and fields
   for p (target) and q (draft). */
import { attr, el, show, text } from "../../shared/web/dom.js";
import { fillMenu } from "../../shared/web/fields.js";
import { makeFold } from "../../shared/web/panel.js";
import { addTerm } from "../../shared/web/tooltips.js";
import { PRESETS } from "./presets.js";
import { VERIFIERS, verifierNamed } from "./rules/verifiers.js";
import { SharesField } from "./shares_field.js";
import * as toys from "./toy.js";

/** @import { Toy } from "./toy.js" */

const OWN = "own";
const LAST = "The step shown still uses the last valid values.";
const SAME = "Each word is one token; its p and q do not depend on the words before it.";

/** The form. */
export class ToyForm {
  /**
   * @param {HTMLElement} host
   * @param {(toy: Toy, seed?: number) => void} take called with each new valid toy, first with the
   *   toy of a preset; `seed`: the seed of the preset, if the toy comes from one
   */
  constructor(host, take) {
    this.take = take;
    this.root = el("div", { class: "wk-form sq-stack" }, host);
    const presets = [...PRESETS, { key: OWN, label: "your own" }];
    this.preset = this.menu("Start from", "preset", presets);
    this.preset.addEventListener("change", () => this.choose(this.preset.value));
    this.about = el("p", { class: "sq-dim", "data-part": "about" }, this.root);
    this.verifier = this.menu("Verifier", "verifier", VERIFIERS, "verifier");
    const more = makeFold(this.root, "Change p, q and the tree");
    const changed = () => this.changed();
    const both = el("div", { class: "wk-both" }, more);
    this.fields = [new SharesField(both, "p", changed), new SharesField(both, "q", changed)];
    this.makeTree(more);
    this.last = el("p", { class: "sq-dim", hidden: "", text: LAST }, this.root);
    this.startFirst();
  }

  makeTree(host) {
    this.shape = this.menu("Tree", "shape", toys.SHAPES, "", host);
    const line = el("div", { class: "wk-counts" }, host);
    const numbered = (n) => ({ key: String(n), label: String(n) });
    const upTo = (least, most) =>
      Array.from({ length: most - least + 1 }, (_, i) => numbered(least + i));
    const sizes = upTo(toys.LEAST_WORDS, toys.MOST_WORDS);
    this.size = this.menu("Words in the vocabulary", "words", sizes, "", line);
    this.counts = toys.MOST_CHILDREN.map((most, i) => {
      const label = i ? "Children of each child" : "Children of the root";
      return this.menu(label, "children" + i, upTo(i ? 0 : 1, most), "", line);
    });
    this.size.addEventListener("change", () => this.resize(Number(this.size.value)));
    for (const one of [this.verifier, this.shape, ...this.counts])
      one.addEventListener("change", () => this.changed());
    el("p", { class: "sq-dim", text: SAME }, host);
  }

  menu(label, part, choices, term = "", host = this.root) {
    const line = el("div", { class: "wk-field sq-wrap" }, host);
    const id = "wk-" + part;
    const name = el("label", { for: id }, line);
    if (!term) name.append(label);
    else addTerm(name, label, term);
    const made = el("select", { id, class: "sq-input", "data-part": part }, line);
    if (term) attr(made, "aria-label", label);
    fillMenu(made, choices);
    return made;
  }

  // -- what a person does ------------------------------------------------------------------------

  choose(key) {
    const preset = PRESETS.find((one) => one.key === key);
    if (preset) this.start(preset);
  }

  startFirst() {
    this.start(PRESETS[0]);
  }

  start({ key, about, toy, seed }) {
    this.put(toy);
    this.preset.value = key;
    text(this.about, about);
    this.take(this.toy, seed);
  }

  /**
   * Fill the form with a toy, and set the menu of presets to "your own". Does not call `take`.
   * @param {Toy} toy
   */
  put({ p, q, children, verifier, shape }) {
    this.shape.value = (toys.SHAPES.find(({ key }) => key === shape) ?? toys.SHAPES[0]).key;
    this.verifier.value = verifierNamed(verifier)?.key ?? VERIFIERS[0].key;
    this.counts.forEach((menu, i) => (menu.value = String(children[i] ?? 0)));
    [p, q].forEach((values, i) => (this.fields[i].texts = values.map(String)));
    this.size.value = String(p.length);
    this.nameOwn();
    this.paint();
  }

  nameOwn() {
    this.preset.value = OWN;
    text(this.about, "");
  }

  resize(count) {
    for (const field of this.fields) field.resize(count);
    this.changed();
  }

  changed() {
    this.nameOwn();
    this.paint();
    if (this.toy) this.take(this.toy);
  }

  /** @returns {Toy | null} null if p or q is not a distribution */
  get toy() {
    const [p, q] = this.fields.map((field) => field.read());
    if (p.problem || q.problem) return null;
    const children = this.counts.map((menu) => Number(menu.value));
    const [verifier, shape] = [this.verifier.value, this.shape.value];
    return { p: p.values, q: q.values, children, verifier, shape };
  }

  // -- paint -------------------------------------------------------------------------------------

  paint() {
    for (const field of this.fields) field.paint();
    const count = Number(this.size.value);
    const isChain = this.verifier.value === "chain";
    const most = isChain ? 1 : count;
    for (const menu of this.counts)
      for (const option of menu.options) option.disabled = Number(option.value) > most;
    for (const menu of this.counts) if (Number(menu.value) > most) menu.value = String(most);
    const isOfLevels = toys.parentsOf(this.shape.value) === null;
    for (const menu of this.counts) show(menu.parentElement, isOfLevels);
    show(this.last, !this.toy);
  }
}
