/* The panel "Token tree": the tree of the step on screen, what happens when a person points at a
   node, and the panel's menu "View" and note. */
import { lastFullStep } from "./steps_to_show.js";
import { treePicture } from "./tree_picture.js";
import { attr, button, el, segments, show, text } from "../../shared/web/dom.js";
import { readable } from "../../shared/web/format.js";
import { makeChoices, makePanel } from "../../shared/web/panel.js";
import { rove } from "../../shared/web/roving_focus.js";
import * as pictures from "../../shared/web/save_picture.js";
import { PhaseBar } from "../../shared/web/phase_bar.js";
import { canFold, nameOf } from "../../shared/web/step_pointer.js";
import { StepTree } from "../../shared/web/step_tree.js";
import { LEAST_PITCH } from "../../shared/web/tree_frame.js";
import { keysAbove, nodeOf } from "../../shared/web/tree_layout.js";
import { Legend } from "../../shared/web/tree_legend.js";
import TOOLTIPS from "../../../assets/tooltips.json" with { type: "json" };

/**
 * @import { StepLook } from "../../shared/web/step_tree.js"
 * @import { StepView } from "../../shared/web/step_view.js"
 * @import { NodeId } from "../../shared/web/tree_layout.js"
 * @import { Presenter } from "./presenter.js"
 * @import { RunKeys } from "./run_keys.js"
 * @import { RunStore } from "./run_store.js"
 */

const ABOVE = 480; // px that the page needs above and below the tree
const LEAST_ROOF = 300; // px; a large tree gets at least this height, however low the window is
const FLAT = 5; // rows; if all nodes are shown and no tree of the run has more, the box is low
const EASED = 0.4; // seconds per step; at this pace or faster, colours change without a transition

/** The panel "Token tree". */
export class TreePanel {
  // The step that was drawn first in the run on screen: its index, and the version of the run.
  /** @type {{version: number, index: number} | null} */
  opened = null;
  /** @type {unknown[]} the key of the last drawing */
  painted = [];

  /**
   * @param {RunStore} store
   * @param {Element} host
   * @param {Element | null} bar where the buttons of a step's phases are; null: above the tree
   */
  constructor(store, host, bar) {
    this.store = store;
    const panel = makePanel(host, { part: "tree", title: "Token tree", cls: "sq-tree" });
    this.panel = panel;
    this.title = panel.titleBox.firstElementChild;
    const phases = bar ?? el("span", {}, panel.tools);
    this.tools = new TreeTools(store, panel.tools, this);
    this.treeNote = new TreeNote(store, panel.body);
    this.pointer = new TreePointer(this);
    const step = el("div", { class: "sq-step" }, panel.body);
    this.phases = new PhaseBar(store.slow, phases, el("div", {}, step));
    this.drawing = new StepTree(store.slow, step, this.pointer);
  }

  get view() {
    return this.drawing.view;
  }

  /** The step that is drawn. In a run in progress, newer steps may have arrived meanwhile. */
  get drawn() {
    return this.drawing.drawn;
  }

  paint() {
    const { store } = this;
    const step = store.view();
    const { lanes, lane } = store;
    text(this.title, lanes.length > 1 ? `Tree: ${lane.title}` : "Token tree");
    this.tools.paint(step);
    this.treeNote.paint();
    const look = step ? this.look(step) : {};
    const key = step ? this.keyOf(step, look) : [];
    const isSame = step && key.every((part, i) => part === this.painted[i]);
    this.painted = key;
    if (isSame) return;
    this.phases.paint(store.word);
    show(this.phases.time, Boolean(step) && store.slow.shown !== null);
    this.drawing.paint(look);
  }

  // Everything that the drawing depends on. During a playback it changes about once a second, while
  // the panel is painted in every frame.
  /** @type {(step: StepView, look: StepLook) => unknown[]} */
  keyOf(step, { isFocused, opened, room, height, selected, pin, isMoving, reveal }) {
    const { store, view, drawing } = this;
    const { version, rate, word, query, heat, steps, slow } = store;
    return [
      ...[step, version, rate, word, query, heat && steps.length, slow.picture, slow.pace],
      ...[isFocused, [...opened].join(), room.rows, room.levels, height],
      ...[selected, pin, isMoving, reveal.node, reveal.key, drawing.next],
      ...[view.size.w, view.size.h, view.zoom, view.left, view.top, view.fonts],
    ];
  }

  /** @type {(step: StepView) => StepLook} */
  look(step) {
    const { store } = this;
    const { selected, pin, focused, opened } = store;
    const isEased =
      !store.moves || store.slow.picture !== null || store.duration(step.index) > EASED;
    return {
      isFocused: focused,
      opened,
      room: store.largest,
      height: this.height(store.largest.rows, focused),
      selected,
      pin,
      hits: store.query ? this.found(step) : [],
      share: store.heat ? (node) => store.lane.slots.share(step.step.tree, node) : null,
      isMoving: !isEased,
      reveal: this.reveal(step),
    };
  }

  // Preferred height of the tree in px. In the focus layout it depends on the window only. If all
  // nodes are shown, it depends on the rows, and for more than FLAT rows also on the window. rows:
  // the most rows of any tree of the run.
  height(rows, focused) {
    const isFlat = rows <= FLAT && !focused;
    const least = Math.min(rows * LEAST_PITCH + 14, 690);
    const roof = Math.max(LEAST_ROOF, Math.min(window.innerHeight - ABOVE, 780));
    const wish = focused ? roof : Math.max(Math.min(rows * 42 + 14, roof), least, 230);
    return Math.round(isFlat ? Math.max(rows * 46 + 30, 104) : wish + 22);
  }

  // The node to scroll into view: the root in the step that was drawn first (see `opened`), and the
  // end of the accepted path in all others.
  reveal({ index, path }) {
    const { version } = this.store;
    if (this.opened?.version !== version && this.view.size.w) this.opened = { version, index };
    const isFirst = this.opened?.version === version && this.opened.index === index;
    return { node: isFirst ? 0 : path.at(-1), key: version + ":" + index };
  }

  /**
   * Nodes whose text contains the query. The token from the target, if there is one, is searched
   * too; its id is "bonus".
   * @param {StepView} step
   * @returns {NodeId[]}
   */
  found(step) {
    const query = this.store.query.toLowerCase();
    const holds = (node) =>
      [step.piece(node), step.label(node)].some((word) => word.toLowerCase().includes(query));
    /** @type {NodeId[]} */
    const nodes = [...step.topo.parents.keys()];
    if (step.kind !== "none") nodes.push("bonus");
    return nodes.filter(holds);
  }

  /** Scroll the node of `reveal` into view. This forces a layout, so call it after painting. */
  settle() {
    this.drawing.settle();
  }
}

/** The actions of the step's tree. */
class TreePointer {
  /** @param {TreePanel} tree */
  constructor(tree) {
    this.tree = tree;
    this.store = tree.store;
  }

  changed() {
    this.store.changed();
  }

  scrolled() {
    if (!this.tree.drawing.mini.root.hidden) this.store.changed();
  }

  /** @param {string | null} key */
  hover(key) {
    const node = nodeOf(key);
    if (this.store.hover !== node) this.store.set({ hover: node });
  }

  /**
   * A press on a cell of folded siblings unfolds the cell. A press on a node pins or unpins the
   * node, unless its children can be folded (in the focus layout). Then the first press pins it and
   * unfolds its children. While the node is pinned, further presses fold or unfold its children.
   * @param {string} key of the cell
   */
  press(key) {
    const { store } = this;
    const node = nodeOf(key);
    const isPinned = store.pin === node;
    const isFold = store.focused && canFold(store.view(), node);
    if (node === null || (isFold && (isPinned || !store.opened.has(key)))) store.unfold(key);
    if (node !== null) store.set({ pin: isPinned && !isFold ? null : node });
  }

  /**
   * Pin a node and scroll it into view. In the focus layout, unfold every cell that may hide it.
   * @param {number} node
   */
  pick(node) {
    const { store } = this;
    const hiding = store.focused ? keysAbove(store.view().topo, node) : [];
    for (const key of hiding) store.opened.add(key);
    this.tree.drawing.revealNext(node);
    store.set({ pin: node, hover: null });
  }

  /**
   * Explain the node of the cell that received the keyboard focus.
   * @param {string} key
   */
  focus(key) {
    const node = nodeOf(key);
    if (node !== null && this.store.view()) this.store.set({ hover: node });
  }

  /** @type {(key: string) => string | null} see `nameOf` */
  name(key) {
    return nameOf(this.store.view(), key);
  }
}

const SEARCH = {
  type: "search",
  class: "sq-input",
  placeholder: "Find a token  /",
  "aria-label": "Find a token in this tree",
  spellcheck: "false",
  autocomplete: "off",
  "data-part": "search",
};

/** The menu "View": what the tree shows, how large, and for whom. It opens below the title. */
class TreeTools {
  /**
   * @param {RunStore} store
   * @param {HTMLElement} host
   * @param {TreePanel} tree
   */
  constructor(store, host, tree) {
    this.store = store;
    this.tree = tree;
    this.root = el("details", { class: "sq-view", "data-part": "view" }, host);
    el("summary", { class: "sq-btn", text: "View" }, this.root);
    this.bar = el("div", { class: "sq-view-tools" }, this.root);
    const box = el("span", { class: "sq-search" }, this.bar);
    this.search = el("input", SEARCH, box);
    this.hits = el("span", { class: "sq-hits", "aria-live": "polite" }, box);
    this.search.addEventListener("input", () => store.set({ query: this.search.value }));
    this.search.addEventListener("keydown", (event) => this.key(event));
    this.makeModes(this.bar);
    this.makeZoom(this.bar);
    const save = (format) => this.save(format);
    this.saves = pictures.formats(this.bar, "picture of this step", save);
    this.legend = new Legend(this.root);
  }

  /**
   * Add the buttons that open presenter mode and the list of keys.
   * @param {Presenter} presenter
   * @param {RunKeys} keys
   */
  makeView(presenter, keys) {
    const hint = TOOLTIPS["button present"];
    this.present = button(this.bar, { text: "Presenter", part: "present", hint });
    const help = button(this.bar, { text: "Keys", part: "keys" });
    const open = (opener, act) =>
      opener.addEventListener("click", (event) => {
        keys.release(event); // otherwise closing the dialog would focus the button again
        act();
      });
    open(this.present, () => presenter.open());
    open(help, () => keys.help());
    rove(this.bar);
  }

  /** Open the menu, and go to its search field. */
  find() {
    this.root.open = true;
    this.search.focus();
  }

  makeModes(host) {
    const { store } = this;
    const setMode = (mode) => () => store.set({ mode });
    const focus = { text: "Focus", part: "focus", hint: TOOLTIPS["button focus"] };
    const all = { text: "All nodes", part: "all", hint: TOOLTIPS["button all nodes"] };
    this.modes = makeChoices(host, "Nodes to draw", [
      { ...focus, act: setMode("focus") },
      { ...all, act: setMode("all") },
    ]);
    const heat = { text: "Heat", part: "heat", hint: TOOLTIPS["button heat"] };
    this.heat = button(host, { ...heat, act: () => store.set({ heat: !store.heat }) });
  }

  makeZoom(host) {
    const zoom = segments(host, "Zoom");
    const make = (icon, label, hint, act) => button(zoom, { icon, label, hint, act });
    const by = (factor) => () => this.tree.view.pan.zoomBy(factor);
    const fit = () => this.tree.view.pan.zoomFit();
    make("minus", "Zoom out", TOOLTIPS["button zoom out"], by(0.8));
    make("fit", "Fit the whole tree", TOOLTIPS["button fit"], fit);
    make("plus", "Zoom in", TOOLTIPS["button zoom in"], by(1.25));
  }

  save(format) {
    const { drawn } = this.tree;
    if (!drawn) return;
    const name = "sequoia-step-" + (drawn.index + 1);
    pictures.drawing(treePicture(this.store, this.tree), format, name);
  }

  /** @param {StepView | null} view */
  paint(view) {
    const { store, search } = this;
    this.legend.paint(view, store.heat);
    this.present.disabled = !view;
    this.modes.press(store.focused ? 0 : 1);
    attr(this.heat, "aria-pressed", String(store.heat));
    for (const one of this.saves) one.disabled = !view;
    if (search.value !== store.query) search.value = store.query;
    const found = view && store.query ? this.tree.found(view).length : null;
    text(this.hits, found === null ? "" : found + " of " + tokensOf(view));
    search.classList.toggle("sq-none", found === 0);
  }

  key(event) {
    event.stopPropagation();
    if (event.key === "Enter") this.next();
    if (event.key !== "Escape") return;
    this.store.set({ query: "" });
    this.search.blur();
  }

  next() {
    const { store, tree } = this;
    const view = store.view();
    const hits = view && store.query ? tree.found(view) : [];
    if (!hits.length) return;
    const next = hits[(hits.indexOf(store.pin) + 1) % hits.length];
    if (next === "bonus") store.set({ pin: next });
    else tree.pointer.pick(next);
  }
}

/** @type {(view: StepView) => number} how many tokens a search looks at */
const tokensOf = ({ topo, kind }) => topo.n + (kind === "none" ? 0 : 1);

/**
 * The note that says why the planned tree is a chain, or that the last tree is small. For a
 * small last tree, a button shows the last full tree. If the tree changes from step to step, it
 * has no full size, and there is no note about the last tree.
 */
export class TreeNote {
  /**
   * @param {RunStore} store
   * @param {Element} host
   */
  constructor(store, host) {
    this.store = store;
    const look = { class: "sq-stump sq-wrap sq-dim", "data-part": "stump", role: "status" };
    this.root = el("p", { ...look, hidden: "" }, host);
    this.words = el("span", {}, this.root);
    const hint = TOOLTIPS["button last full tree"];
    this.back = button(this.root, { text: "Last full tree", hint });
    this.back.addEventListener("click", () => store.seek(lastFullStep(store)));
  }

  paint() {
    const { store } = this;
    const hasEnded = store.done && store.at === store.last && !store.playing;
    const { changes, why: reason } = store.lane.about;
    const full = hasEnded && !changes ? lastFullStep(store) : -1;
    const isSmall = full >= 0 && full < store.at;
    const why = readable(reason);
    const limit = { length: "token", context: "context" }[store.ending];
    const cut = limit
      ? limited(limit, store.view()?.topo.n)
      : "The last tree is smaller than usual.";
    show(this.root, isSmall || Boolean(why));
    show(this.back, isSmall);
    text(this.words, isSmall ? cut : why);
  }
}

/** @type {(limit: string, nodes: number) => string} why the last tree has only `nodes` nodes */
const limited = (limit, nodes) =>
  nodes === 1
    ? `The ${limit} limit left room for one token, so the last step drafted nothing.`
    : `The last tree is smaller because of the ${limit} limit.`;
