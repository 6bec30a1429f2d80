/* The tree panel's own controls and legend: search, focus or all, heat, zoom, and the counts of the step. */
import { treePicture } from "./tree_picture.js";
import { attr, button, el, show, svg, text } from "../../shared/web/dom.js";
import { readable } from "../../shared/web/format.js";
import * as pictures from "../../shared/web/save_picture.js";
import TOOLTIPS from "../../../assets/tooltips.json" with { type: "json" };

export class TreeTools {
  constructor(store, host, tree) {
    this.store = store;
    this.tree = tree;
    const box = el("span", { class: "sq-search" }, host);
    this.search = el(
      "input",
      {
        type: "search",
        class: "sq-input",
        placeholder: "Find a token  /",
        "aria-label": "Find a token in this tree",
        spellcheck: "false",
        autocomplete: "off",
        "data-part": "search",
      },
      box,
    );
    this.hits = el("span", { class: "sq-hits", "aria-live": "polite" }, box);
    this.search.addEventListener("input", () => store.set({ query: this.search.value }));
    this.search.addEventListener("keydown", (event) => this.key(event));
    const modes = el(
      "span",
      { class: "sq-segments", role: "group", "aria-label": "What is drawn" },
      host,
    );
    this.focus = button(modes, { text: "Focus", hint: TOOLTIPS["button focus"] });
    this.all = button(modes, { text: "All nodes", hint: TOOLTIPS["button all nodes"] });
    this.focus.dataset.part = "focus";
    this.all.dataset.part = "all";
    this.focus.addEventListener("click", () => store.set({ mode: "focus" }));
    this.all.addEventListener("click", () => store.set({ mode: "all" }));
    this.heat = button(host, { text: "Heat", hint: TOOLTIPS["button heat"] });
    this.heat.dataset.part = "heat";
    this.heat.addEventListener("click", () => store.set({ heat: !store.heat }));
    const zoom = el("span", { class: "sq-segments", role: "group", "aria-label": "Zoom" }, host);
    button(zoom, {
      icon: "minus",
      label: "Zoom out",
      hint: TOOLTIPS["button zoom out"],
    }).addEventListener("click", () => tree.hands.zoomBy(0.8));
    button(zoom, {
      icon: "fit",
      label: "Fit the whole tree",
      hint: TOOLTIPS["button fit"],
    }).addEventListener("click", () => tree.hands.zoomFit());
    button(zoom, {
      icon: "plus",
      label: "Zoom in",
      hint: TOOLTIPS["button zoom in"],
    }).addEventListener("click", () => tree.hands.zoomBy(1.25));
    this.saves = pictures.formats(host, "picture of this step", (format) => this.save(format));
  }

  /** Keep the step that is drawn, which in a live run may not be the newest any more. */
  save(format) {
    const { drawn } = this.tree;
    if (drawn)
      pictures.drawing(
        treePicture(this.store, this.tree),
        format,
        "sequoia-step-" + (drawn.view.i + 1),
      );
  }

  paint(view) {
    const { store } = this;
    attr(this.focus, "aria-pressed", String(store.focused));
    attr(this.all, "aria-pressed", String(!store.focused));
    attr(this.heat, "aria-pressed", String(store.heat));
    for (const one of this.saves) one.disabled = !view;
    if (this.search.value !== store.query) this.search.value = store.query;
    const found = view && store.query ? this.tree.found(view).length : null;
    text(this.hits, found === null ? "" : found + " of " + view.topo.n);
    this.search.classList.toggle("sq-none", found === 0);
  }

  key(event) {
    const { store, tree } = this;
    const view = store.view();
    event.stopPropagation();
    if (event.key === "Escape") {
      store.set({ query: "" });
      this.search.blur();
    }
    if (event.key !== "Enter" || !view || !store.query) return;
    const hits = tree.found(view);
    if (!hits.length) return;
    const next = hits[(hits.indexOf(store.pin) + 1) % hits.length];
    if (next === "bonus") store.set({ pin: next });
    else tree.hands.pick(next);
  }
}

/** Why a planned tree has no branch; where the view rests on a last step with a small tree, why it is small, and the way back to the
      last full one. */
export class Stump {
  constructor(store, host) {
    this.store = store;
    this.root = el(
      "p",
      { class: "sq-stump", "data-part": "stump", role: "status", hidden: "" },
      host,
    );
    this.words = el("span", {}, this.root);
    this.back = button(this.root, {
      text: "Last full tree",
      hint: TOOLTIPS["button last full tree"],
    });
    this.back.addEventListener("click", () => store.seek(store.lastFull));
  }

  paint() {
    const { store } = this;
    const full = store.done && store.at === store.last ? store.lastFull : -1;
    const stump = full >= 0 && full < store.at;
    const why = store.meta.tree?.why || "";
    show(this.root, stump || Boolean(why));
    show(this.back, stump);
    if (!stump) return void text(this.words, readable(why));
    const cut = store.ending === "length" || store.ending === "context";
    text(
      this.words,
      "The run’s last step has a smaller tree than the others" +
        (cut ? ": few tokens were left to emit." : "."),
    );
  }
}

const SHADES = [
  [0, "0 %"],
  [0.05, "to 5 %"],
  [0.2, "to 20 %"],
  [0.5, "to 50 %"],
  [1, "to 100 % of the steps received"],
];

/** Which of five shades shows a share from 0 to 1: few enough to be told apart. */
export const heatShade = (share) => SHADES.findIndex(([most]) => share <= most + 1e-9);

const KEYS = [
  ["accepted", "accepted"],
  ["rejected", "rejected"],
  ["untested", "not tried"],
  ["never", "never reached"],
  ["own", "target’s own"],
];

export class Legend {
  constructor(host) {
    this.states = el("div", { class: "sq-legend", "data-part": "legend" }, host);
    this.counts = {};
    for (const [key, label] of KEYS) {
      const entry = el("span", { class: "sq-legend-entry", "data-s": key }, this.states);
      const sample = svg(
        "svg",
        { class: "sq-sample", viewBox: "0 0 22 10", "aria-hidden": "true" },
        entry,
      );
      svg("path", { class: "sq-edge", "data-s": key, d: "M1 5H21" }, sample);
      this.counts[key] = el("b", { "data-count": key }, entry);
      el("span", { text: label }, entry);
    }
    this.heat = el("div", { class: "sq-legend sq-heat-key", hidden: "" }, host);
    el("span", { text: "accepted in" }, this.heat);
    SHADES.forEach(([, label], shade) => {
      const entry = el("span", { class: "sq-legend-entry" }, this.heat);
      el("i", { class: "sq-shade", "data-heat": shade }, entry);
      el("span", { text: label }, entry);
    });
  }

  paint(store, view) {
    show(this.heat, store.heat && Boolean(view));
    show(this.states, !store.heat && Boolean(view));
    for (const [key] of KEYS) text(this.counts[key], view ? String(view.counts[key]) : "");
  }
}
