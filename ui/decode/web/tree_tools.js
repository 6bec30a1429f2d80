/* The controls of the tree panel (search, focus or all nodes, heat, zoom, save) and its note. */
import { lastFullStep } from "./steps_to_show.js";
import { treePicture } from "./tree_picture.js";
import { attr, button, el, show, text } from "../../shared/web/dom.js";
import { readable } from "../../shared/web/format.js";
import { rove } from "../../shared/web/roving_focus.js";
import * as pictures from "../../shared/web/save_picture.js";
import TOOLTIPS from "../../../assets/tooltips.json" with { type: "json" };

/**
 * @import { RunStore } from "./run_store.js"
 * @import { StepView } from "../../shared/web/step_view.js"
 * @import { TreePanel } from "./tree_panel.js"
 */

const SEARCH = {
  type: "search",
  class: "sq-input",
  placeholder: "Find a token  /",
  "aria-label": "Find a token in this tree",
  spellcheck: "false",
  autocomplete: "off",
  "data-part": "search",
};

/** The search field and the buttons. */
export class TreeTools {
  /**
   * @param {RunStore} store
   * @param {HTMLElement} host
   * @param {TreePanel} tree
   */
  constructor(store, host, tree) {
    this.store = store;
    this.tree = tree;
    const box = el("span", { class: "sq-search" }, host);
    this.search = el("input", SEARCH, box);
    this.hits = el("span", { class: "sq-hits", "aria-live": "polite" }, box);
    this.search.addEventListener("input", () => store.set({ query: this.search.value }));
    this.search.addEventListener("keydown", (event) => this.key(event));
    this.makeModes(host);
    this.makeZoom(host);
    this.saves = pictures.formats(host, "picture of this step", (format) => this.save(format));
    rove(host);
  }

  makeModes(host) {
    const { store } = this;
    const make = (parent, part, words, hint, act) => {
      const made = button(parent, { text: words, hint });
      made.dataset.part = part;
      made.addEventListener("click", act);
      return made;
    };
    const modes = segments(host, "Nodes to draw");
    const setMode = (mode) => () => store.set({ mode });
    this.focus = make(modes, "focus", "Focus", TOOLTIPS["button focus"], setMode("focus"));
    this.all = make(modes, "all", "All nodes", TOOLTIPS["button all nodes"], setMode("all"));
    const toggleHeat = () => store.set({ heat: !store.heat });
    this.heat = make(host, "heat", "Heat", TOOLTIPS["button heat"], toggleHeat);
  }

  makeZoom(host) {
    const zoom = segments(host, "Zoom");
    const make = (icon, label, hint, act) =>
      button(zoom, { icon, label, hint }).addEventListener("click", act);
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
    attr(this.focus, "aria-pressed", String(store.focused));
    attr(this.all, "aria-pressed", String(!store.focused));
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

const segments = (host, label) =>
  el("span", { class: "sq-segments", role: "group", "aria-label": label }, host);

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
    const look = { class: "sq-stump", "data-part": "stump", role: "status", hidden: "" };
    this.root = el("p", look, host);
    this.words = el("span", {}, this.root);
    const hint = TOOLTIPS["button last full tree"];
    this.back = button(this.root, { text: "Last full tree", hint });
    this.back.addEventListener("click", () => store.seek(lastFullStep(store)));
  }

  paint() {
    const { store } = this;
    const hasEnded = store.done && store.at === store.last;
    const isFixed = Boolean(store.meta.tree?.nodes); // else the tree changes from step to step
    const full = hasEnded && isFixed ? lastFullStep(store) : -1;
    const isSmall = full >= 0 && full < store.at;
    const why = readable(store.meta.tree?.why);
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
