/* The controls of the lab's tree, and what they show of the present state. What they do is labtree.js's, which builds on this. */
import * as planner from "./planner.js";
import { Refusal } from "./refusal.js";
import * as shapes from "./tree_shapes.js";
import { attr, button, el, show, text } from "../../shared/web/dom.js";
import { addTerm } from "../../shared/web/tooltips.js";
import TOOLTIPS from "../../../assets/tooltips.json" with { type: "json" };

export class LabTreePanel {
  static FOLD_ABOVE = 160; // nodes; larger trees show their best ones and fold the rest
  static DRAWN = 110;

  modes(host) {
    const box = el("span", { class: "sq-search" }, host);
    this.search = el(
      "input",
      {
        type: "search",
        class: "sq-input",
        placeholder: "Find: 17 or 1.2.1",
        "aria-label": "Find a node by number, or by the ranks on the way to it",
        spellcheck: "false",
        "data-part": "find",
      },
      box,
    );
    this.search.addEventListener("input", () => this.find());
    this.search.addEventListener(
      "keydown",
      (event) => event.key === "Enter" && this.goTo(this.hits()[0]),
    );
    this.found = el("span", { class: "sq-hits", "aria-live": "polite" }, box);
    this.fold = button(host, { text: "All nodes", hint: TOOLTIPS["button draw all nodes"] });
    this.fold.addEventListener("click", () => {
      this.all = !this.all;
      this.state.changed();
    });
    const zoom = el("span", { class: "sq-segments", role: "group", "aria-label": "Zoom" }, host);
    button(zoom, { icon: "minus", label: "Zoom out" }).addEventListener("click", () =>
      this.pan.zoomBy(0.8),
    );
    button(zoom, { icon: "fit", label: "Whole tree, or readable size" }).addEventListener(
      "click",
      () => this.pan.zoomFit(),
    );
    button(zoom, { icon: "plus", label: "Zoom in" }).addEventListener("click", () =>
      this.pan.zoomBy(1.25),
    );
  }

  budget(host) {
    const line = el("div", { class: "sq-lab-budget" }, host);
    const { state } = this;
    this.kinds = el(
      "span",
      { class: "sq-segments", role: "group", "aria-label": "Which tree" },
      line,
    );
    for (const [name, words] of [
      ["best", "Best tree"],
      ["hand", "By hand"],
      ["other", ""],
    ]) {
      const one = button(this.kinds, { text: words || " " });
      attr(one, "data-part", "show-" + name);
      if (name !== "other") one.addEventListener("click", () => this.choose(name));
      this["kind_" + name] = one;
    }
    const budget = el("span", { class: "sq-lab-n" }, line);
    addTerm(budget, "Nodes", "budget");
    this.slider = el(
      "input",
      {
        type: "range",
        min: "1",
        max: String(planner.MAX_NODES),
        step: "1",
        "data-part": "budget",
        "aria-label": "Budget in nodes",
      },
      budget,
    );
    this.slider.addEventListener("input", () => state.set({ n: Number(this.slider.value) }));
    this.count = this.numeric(line, "n", "Budget in nodes", (field) =>
      this.whole(field, 1, planner.MAX_NODES, "nodes", (n) => state.set({ n })),
    );
    const levels = el("span", { class: "sq-lab-field" }, line);
    addTerm(levels, "Levels ≤", "levels");
    this.levels = this.numeric(levels, "levels", "Level cap; empty for any", (field) =>
      ["", "any"].includes(field.value.trim())
        ? state.set({ levels: null })
        : this.whole(field, 2, planner.MAX_NODES, "levels", (cap) => state.set({ levels: cap })),
    );
    attr(this.levels, "placeholder", "any");
    this.hands = el("span", { class: "sq-lab-hands", hidden: "" }, line);
    for (const [words, hint, call] of [
      ["Undo", "Take back the last change (ctrl Z)", () => this.undo()],
      ["From best", "Start from the best tree of this budget", () => this.start()],
      [
        "Clear",
        "Start from the root alone",
        () => this.draw(this.hand.replace(this.state.hand, [-1])),
      ],
    ]) {
      button(this.hands, { text: words, hint }).addEventListener("click", call);
    }
  }

  /** What is said of the tree stands over it, where it is in sight however long the tree is. */
  says(host) {
    const box = (this.told = el("div", { class: "sq-lab-told" }, host)); // as tall for any words, so that no pill moves from under the pointer
    this.refusal = new Refusal(box, "refused");
    this.line = el(
      "p",
      { class: "sq-lab-explain", "data-part": "explain", "aria-live": "polite" },
      box,
    );
    this.drawing = el("p", { class: "sq-lab-gap", "data-part": "gap", hidden: "" }, box);
  }

  numeric(host, part, label, take) {
    const field = el(
      "input",
      {
        class: "sq-input sq-lab-number",
        type: "text",
        inputmode: "numeric",
        "aria-label": label,
        "data-part": part,
      },
      host,
    );
    field.addEventListener("change", () => take(field));
    return field;
  }

  whole(field, least, most, what, take) {
    const number = Number(field.value);
    if (Number.isInteger(number) && number >= least && number <= most) return take(number);
    this.refuse(
      `${what}: "${field.value.slice(0, 20)}" is not a whole number from ${least} to ${most}; nothing is changed`,
      field,
    );
  }

  controls() {
    const { state } = this;
    const hand = state.shown === "hand";
    const other = !hand && state.shown !== "best";
    attr(this.kind_best, "aria-pressed", String(state.shown === "best"));
    attr(this.kind_hand, "aria-pressed", String(hand));
    show(this.kind_other, other);
    attr(this.kind_other, "aria-pressed", String(other));
    if (other)
      text(this.kind_other.querySelector("span"), shapes.label(state.shown, state.n, state));
    if (this.slider.value !== String(state.n)) this.slider.value = String(state.n);
    attr(this.slider, "aria-valuetext", state.n + " nodes");
    if (!this.refusal.holds(this.count)) this.count.value = String(state.n);
    if (!this.refusal.holds(this.levels))
      this.levels.value = state.levels === null ? "" : String(state.levels);
    show(this.hands, hand);
    this.told.classList.toggle("is-drawing", hand);
    const size = state.shown === "hand" ? state.hand.length : state.n;
    show(this.fold, Boolean(this.foldable));
    attr(this.fold, "aria-pressed", String(this.all));
    this.search.classList.toggle("sq-none", Boolean(this.query) && !this.hits().length);
    text(
      this.word,
      size +
        (size === 1 ? " node" : " nodes") +
        (this.drawn?.items.length < size ? `, ${this.drawn.items.length} drawn` : ""),
    );
  }
}
