/* The controls of the Lab's tree: zoom, which tree, budget and level cap. */
import { numberField } from "./number_field.js";
import * as planner from "../../shared/web/planner.js";
import * as shapes from "./tree_shapes.js";
import { attr, button, el, segments, show, text } from "../../shared/web/dom.js";
import { textArea } from "../../shared/web/fields.js";
import * as format from "../../shared/web/format.js";
import { makeChoices } from "../../shared/web/panel.js";
import { rove } from "../../shared/web/roving_focus.js";
import { addTerm } from "../../shared/web/tooltips.js";
import TOOLTIPS from "../../../assets/tooltips.json" with { type: "json" };

/** @typedef {import("./lab_tree.js").LabTree} LabTree */

/** The controls. */
export class LabTreeControls {
  isPasting = false; // whether the field for a pasted tree is open

  /**
   * @param {ReturnType<typeof import("../../shared/web/panel.js").makePanel>} panel
   * @param {LabTree} tree the tree that the controls change
   */
  constructor(panel, tree) {
    this.tree = tree;
    this.state = tree.state;
    this.word = el("span", { class: "sq-word sq-dim" }, panel.titleBox);
    const label = { role: "group", "aria-label": "The tree to show, and its size" };
    const line = el("div", { class: "sq-lab-budget", ...label }, panel.body);
    this.makeKinds(line);
    this.makeBudget(line);
    this.makeLevels(line);
    this.makeHands(line);
    rove(line);
    this.makePasting(panel.body);
  }

  /**
   * The zoom, and the button that draws all nodes.
   * @param {HTMLElement} host
   */
  makeView(host) {
    const { tree } = this;
    const look = { class: "sq-lab-hands", role: "toolbar", "aria-label": "Tree view" };
    const line = el("div", look, host);
    this.fold = button(line, {
      text: "All nodes",
      hint: TOOLTIPS["button draw all nodes"],
      act: () => tree.toggleAll(),
    });
    const zoom = segments(line, "Zoom");
    for (const [icon, label, call] of /** @type {[string, string, () => void][]} */ ([
      ["minus", "Zoom out", () => tree.view.pan.zoomBy(0.8)],
      ["fit", "Switch between the whole tree and a readable size", () => tree.view.pan.zoomFit()],
      ["plus", "Zoom in", () => tree.view.pan.zoomBy(1.25)],
    ]))
      button(zoom, { icon, label, act: call });
    rove(line);
  }

  makeKinds(host) {
    this.kinds = makeChoices(host, "Which tree", [
      { text: "Best tree", part: "show-best", act: () => this.tree.choosePlanned() },
      { text: "By hand", part: "show-hand", act: () => this.tree.choose("hand") },
      { text: " ", part: "show-other" },
    ]);
    this.other = this.kinds.buttons[2];
  }

  makeBudget(host) {
    const { state } = this;
    const most = planner.MAX_NODES;
    const budget = el("span", { class: "sq-lab-n sq-dim" }, host);
    const slider = { type: "range", min: "1", max: String(most), step: "1", "data-part": "budget" };
    addTerm(budget, "Nodes", "budget");
    this.slider = el("input", { ...slider, "aria-label": "Budget in nodes" }, budget);
    this.slider.addEventListener("input", () => state.set({ n: Number(this.slider.value) }));
    this.count = this.numeric(budget, "n", "Budget in nodes", (field) =>
      this.whole(field, 1, most, "nodes", (n) => state.set({ n })),
    );
  }

  makeLevels(host) {
    const { state } = this;
    const levels = el("span", { class: "sq-lab-field sq-unbroken sq-dim" }, host);
    addTerm(levels, "Levels ≤", "levels");
    this.levels = this.numeric(levels, "levels", "Level cap; empty for none", (field) => {
      if (["", "any"].includes(field.value.trim())) return state.set({ levels: null });
      this.whole(field, 2, planner.MAX_NODES, "levels", (cap) => state.set({ levels: cap }));
    });
  }

  makeHands(host) {
    const { tree } = this;
    const label = { role: "group", "aria-label": "Tree drawn by hand" };
    this.hands = el("span", { class: "sq-lab-hands", hidden: "", ...label }, host);
    for (const [words, hint, call] of /** @type {[string, string, () => void][]} */ ([
      ["Undo", "Undo the last change (Ctrl+Z)", () => tree.undo()],
      ["From best", "Start from the best tree of this budget", () => tree.copyBestTree()],
      ["Clear", "Start from the root alone", () => tree.clear()],
    ]))
      button(this.hands, { text: words, hint, act: call });
    this.paste = button(this.hands, {
      text: "Paste",
      hint: TOOLTIPS["button paste a tree"],
      part: "paste-tree",
      act: () => this.togglePasting(),
    });
    show(this.paste, Boolean(tree.readTree));
  }

  makePasting(host) {
    this.pasting = el("div", { class: "sq-lab-paste", hidden: "" }, host);
    this.sheet = textArea(this.pasting, "tree-sheet", {
      rows: "3",
      "aria-label": "A tree",
      placeholder: "for example, the parent of each node: -1 0 0 1",
    });
    button(this.pasting, { text: "Read it", part: "use-tree", act: () => this.read() });
  }

  togglePasting() {
    this.isPasting = !this.isPasting;
    this.paint();
    if (this.isPasting) this.sheet.focus();
  }

  async read() {
    const { tree, sheet } = this;
    const lost = { parents: null, refused: "the server did not answer" };
    const { parents, refused } = await tree.readTree(sheet.value).catch(() => lost);
    if (refused) return tree.refuse(`${refused}; nothing was changed`, sheet);
    tree.use(parents);
    this.togglePasting();
  }

  numeric(host, part, label, take) {
    const field = numberField(host, part, { inputmode: "numeric", "aria-label": label });
    field.addEventListener("change", () => take(field));
    return field;
  }

  whole(field, least, most, what, take) {
    const number = Number(field.value);
    if (Number.isInteger(number) && number >= least && number <= most) return take(number);
    const typed = field.value.slice(0, 20);
    this.tree.refuse(
      `${what}: "${typed}" is not a whole number from ${least} to ${most}; nothing was changed`,
      field,
    );
  }

  /** Show the current state. */
  paint() {
    const { state, tree } = this;
    const { shown, n } = state;
    const { refusal } = tree.caption;
    const isPlanned = shown === "best" && state.isPlanned;
    const other = shown !== "hand" && !isPlanned;
    this.kinds.press([isPlanned, shown === "hand", other].indexOf(true));
    show(this.other, other);
    if (other) text(this.other.querySelector("span"), this.nameOf(shown, n));
    if (this.slider.value !== String(n)) this.slider.value = String(n);
    attr(this.slider, "aria-valuetext", format.count(n, "node"));
    if (!refusal.holds(this.count)) this.count.value = String(n);
    const { isPlanned: isChosen, levels } = state; // by the program, which may change it
    attr(this.levels, "placeholder", isChosen ? "auto" : "any");
    if (!refusal.holds(this.levels)) this.levels.value = isChosen ? "" : String(levels ?? "");
    show(this.hands, shown === "hand");
    show(this.pasting, shown === "hand" && this.isPasting);
    attr(this.paste, "aria-pressed", String(this.isPasting));
    show(this.fold, tree.foldable);
    attr(this.fold, "aria-pressed", String(tree.all));
    text(this.word, this.size());
  }

  nameOf(shown, n) {
    return shown === "best"
      ? `Best of ${format.count(n, "node")}`
      : shapes.label(shown, n, this.state);
  }

  size() {
    const { topo, drawn } = this.tree;
    if (!topo) return "";
    const nodes = format.count(topo.n, "node");
    const shown = drawn.items.length < topo.n ? `${drawn.items.length} of ${nodes} shown` : nodes;
    return `${shown}, ${format.count(topo.levels, "level")}`;
  }
}
