/* The microscope's panel: its controls, and what they show of the present state. What they do is dp.js's, which builds on this. */
import { makePanel } from "../../../shared/web/panel.js";
import * as dpWords from "./dp_explain.js";
import { DpExplain } from "./dp_explain.js";
import { DpGrid } from "./dp_grid.js";
import * as dpShade from "./dp_shade.js";
import { DpTree } from "./dp_tree.js";
import { DpWalk } from "./dp_walk.js";
import { attr, button, el, text } from "../../../shared/web/dom.js";
import * as pictures from "../../../shared/web/save_picture.js";
import { addTerm, markTerm } from "../../../shared/web/tooltips.js";
import TOOLTIPS from "../../../../assets/tooltips.json" with { type: "json" };

const SIZES = [128, 256, 512, 1024];
const USED = "Now the lab’s tree";

export class DpPanel {
  static SIZES = SIZES;

  build(element) {
    this.root = el(
      "div",
      { class: "dp-root" + (element.closest(".sq-stage") ? "" : " sq-stage") },
      element,
    );
    const panel = (this.panel = makePanel(this.root, {
      part: "dp",
      title: "DP table",
      term: "DP table",
      cls: "dp-panel",
    }));
    el("span", { class: "sq-badge", text: "predicted" }, panel.titleBox);
    this.tools(panel.tools);
    this.error = el(
      "p",
      { class: "sq-banner sq-banner-error", role: "alert", hidden: "", "data-part": "dp-error" },
      panel.body,
    );
    const split = el("div", { class: "dp-split" }, panel.body);
    const left = el("div", { class: "dp-left" }, split);
    const right = el("div", { class: "dp-right" }, split);
    this.buildGrid(left);
    this.explain = new DpExplain(left);
    this.buildTree(right);
    this.walk = new DpWalk(right, (i) => this.goTo(i));
  }

  tools(host) {
    const levels = el("span", { class: "dp-levels" }, host);
    addTerm(el("span", { class: "dp-small" }, levels), "levels", "levels");
    this.slider = el(
      "input",
      {
        type: "range",
        class: "dp-range",
        min: 1,
        step: 1,
        "aria-label": "Most levels of the tree",
        "data-part": "dp-levels",
      },
      levels,
    );
    this.slider.addEventListener("input", () => this.move({ levels: Number(this.slider.value) }));
    this.levelText = el("span", { class: "dp-level-text" }, levels);
    this.shades = this.segments(
      host,
      "What the colour shows",
      Object.entries(dpShade.KINDS).map(([kind, { name }]) => ({ key: kind, label: name })),
      (kind) => this.set({ kind }),
    );
    for (const one of this.shades) markTerm(one, one.dataset.key);
    this.sizes = this.segments(
      host,
      "Nodes of the table",
      SIZES.map((size) => ({
        key: size,
        label: (size === SIZES[0] ? "n ≤ " : "") + size.toLocaleString("en-US"),
        hint: "Trees of up to " + size + " nodes",
      })),
      (size) => this.resize(Number(size)),
    );
    const zoom = el("span", { class: "sq-segments", role: "group", "aria-label": "Zoom" }, host);
    const by = (factor) => () => this.table && this.grid.zoom(factor, this.shown().cell.n);
    button(zoom, {
      icon: "minus",
      label: "Show more columns",
      hint: TOOLTIPS["button more columns"],
    }).addEventListener("click", by(0.5));
    button(zoom, {
      icon: "plus",
      label: "Show fewer columns",
      hint: TOOLTIPS["button fewer columns"],
    }).addEventListener("click", by(2));
    const png = button(host, { text: "PNG", hint: TOOLTIPS["button save the table as png"] });
    png.dataset.save = "png";
    png.addEventListener("click", () => this.table && this.savePicture());
  }

  savePicture() {
    const { base, over, box } = this.grid;
    const { clientWidth: width, clientHeight: height } = box;
    pictures.canvas(
      width,
      height,
      (pen) => {
        pen.fillStyle = pictures.ground(box);
        pen.fillRect(0, 0, width, height);
        for (const layer of [base, over]) pen.drawImage(layer, 0, 0, width, height);
      },
      "sequoia-dp",
    );
  }

  segments(host, label, entries, onPick) {
    const group = el("span", { class: "sq-segments", role: "group", "aria-label": label }, host);
    return entries.map(({ key, label, hint }) => {
      const one = button(group, { text: label, hint });
      one.dataset.key = key;
      one.addEventListener("click", () => onPick(key));
      return one;
    });
  }

  buildGrid(host) {
    this.grid = new DpGrid(host, {
      point: (cell) => !this.pinned && this.move(cell, true),
      press: (cell) => this.press(cell),
      leave: () => {},
      redraw: () => this.changed(),
    });
    this.grid.box.addEventListener("keydown", (event) => this.key(event));
    const foot = el("div", { class: "dp-legend" }, host);
    this.legendTitle = el("span", { class: "dp-small dp-legend-title" }, foot);
    const ramp = el("span", { class: "dp-ramp-box" }, foot);
    el("span", { class: "dp-ramp" }, ramp);
    const marks = el("span", { class: "dp-marks" }, ramp);
    this.marks = [0, 0.25, 0.5, 0.75, 1].map((at) =>
      el("span", { style: `left:${at * 100}%` }, marks),
    );
    for (const [kind, words, term] of [
      ["ridge", "best b", "best b"],
      ["none", "no such tree"],
    ]) {
      const entry = el("span", { class: "dp-small dp-key" }, foot);
      el("span", { class: "dp-swatch", "data-k": kind }, entry);
      if (term) addTerm(entry, words, term);
      else el("span", { text: words }, entry);
    }
    this.state = el("span", { class: "dp-small dp-state", "data-part": "dp-state" }, foot);
  }

  buildTree(host) {
    const head = el("div", { class: "dp-tree-head" }, host);
    this.treeTitle = el("p", { class: "dp-tree-title", "data-part": "dp-tree-title" }, head);
    this.pin = button(head, {
      icon: "pin",
      label: "Hold this cell",
      hint: TOOLTIPS["button hold a cell"],
      cls: "dp-pin",
    });
    this.pin.addEventListener("click", () => this.set({ pinned: !this.pinned }));
    this.use = button(head, { text: "Use this tree", cls: "dp-use" });
    this.use.dataset.part = "dp-use";
    this.use.addEventListener("click", () => {
      this.select();
      this.tellUsed();
    });
    this.tree = new DpTree(host, () => this.changed());
  }

  /** What the press did may be out of sight: the lab's tree stands further up. */
  tellUsed() {
    const words = this.use.textContent;
    if (words === USED) return;
    text(this.use, USED);
    setTimeout(() => text(this.use, words), 2500);
  }

  paintTools(levels) {
    const { table, cell } = this;
    attr(this.slider, "max", table.levels);
    if (Number(this.slider.value) !== levels) this.slider.value = levels;
    text(
      this.levelText,
      levels === table.levels && table.settled ? levels + ", or any" : "≤ " + levels,
    );
    for (const one of this.shades) attr(one, "aria-pressed", String(one.dataset.key === this.kind));
    for (const one of this.sizes) {
      attr(one, "aria-pressed", String(Number(one.dataset.key) === table.nodes));
      one.disabled = Number(one.dataset.key) < this.least; // the lab's own tree has to fit
    }
    attr(this.pin, "aria-pressed", String(this.pinned));
    const value = table.value(cell.n, cell.levels, cell.b);
    const { plural, tokens, name } = dpWords;
    text(
      this.treeTitle,
      this.topo
        ? `${plural(this.topo.n, "node")} on ${plural(this.topo.levels, "level")}, ${tokens(value)} tokens a step`
        : name(cell),
    );
    this.use.disabled = !this.parents;
  }
}
