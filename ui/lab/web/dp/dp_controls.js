/* The panel with the table of the dynamic program (DP): the controls in the panel's head, and the
   legend below the picture of the table. */
import { AXES } from "./dp_grid.js";
import * as dpShade from "./dp_shade.js";
import { MAX_LEVELS, MAX_NODES } from "./dp_table.js";
import { attr, button, el, show, text } from "../../../shared/web/dom.js";
import { makeChoices } from "../../../shared/web/panel.js";
import { rove } from "../../../shared/web/roving_focus.js";
import * as pictures from "../../../shared/web/save_picture.js";
import { addTerm, markTerm } from "../../../shared/web/tooltips.js";
import TOOLTIPS from "../../../../assets/tooltips.json" with { type: "json" };

/** The table sizes that are offered: the most nodes that a tree can have. */
export const SIZES = [32, 128, MAX_NODES];
const LINE = 24; // px, height of the words below a saved picture
const KINDS = Object.keys(dpShade.KINDS);

/** @typedef {import("./dp_view.js").Dp} Dp */

/** The controls for levels, shade, table size, and saving the picture. */
export class DpControls {
  /**
   * @param {HTMLElement} host
   * @param {Dp} dp the view that the controls change
   */
  constructor(host, dp) {
    this.dp = dp;
    this.makeLevels(host);
    const shades = KINDS.map((kind) => ({
      text: dpShade.KINDS[kind].name,
      act: () => dp.set({ kind }),
    }));
    this.shades = makeChoices(host, "What the colour shows", shades);
    this.shades.buttons.forEach((one, i) => markTerm(one, KINDS[i]));
    const sizes = SIZES.map((size) => ({
      text: (size === SIZES[0] ? "n ≤ " : "") + size,
      hint: `Trees of up to ${size} nodes`,
      act: () => dp.resize(size),
    }));
    this.sizes = makeChoices(host, "Table size in nodes", sizes);
    this.makeSave(host);
    rove(host.parentElement);
  }

  makeLevels(host) {
    const { dp } = this;
    const levels = el("span", { class: "dp-levels" }, host);
    addTerm(el("span", { class: "sq-dim" }, levels), "levels", "levels");
    const look = { class: "dp-range", "data-part": "dp-levels", "aria-label": "Maximum levels" };
    this.slider = el("input", { type: "range", min: 1, step: 1, ...look }, levels);
    this.slider.addEventListener("input", () => dp.move({ levels: Number(this.slider.value) }));
    this.levelText = el("span", { class: "dp-level-text" }, levels);
  }

  makeSave(host) {
    const look = { text: "PNG", hint: TOOLTIPS["button save the table as png"] };
    const act = () => this.dp.table && savePicture(this.dp.grid);
    button(host, { ...look, act }).dataset.save = "png";
  }

  /** Show the current state. */
  paint() {
    const { table, kind, least } = this.dp;
    const { levels } = this.dp.shown().cell;
    attr(this.slider, "max", table.levels);
    if (Number(this.slider.value) !== levels) this.slider.value = String(levels);
    const any = levels === table.levels && table.settled;
    text(this.levelText, any ? "any" : "≤ " + levels);
    this.shades.press(KINDS.indexOf(kind));
    this.sizes.press(SIZES.indexOf(table.nodes));
    // a size that is too small for the Lab's node budget
    this.sizes.buttons.forEach((one, i) => (one.disabled = SIZES[i] < least));
  }
}

function savePicture({ base, over, words, wide, tall }) {
  const draw = (pen) => {
    pen.fillStyle = pictures.ground(words);
    pen.fillRect(0, 0, wide, tall + LINE);
    for (const layer of [base, over]) pen.drawImage(layer, 0, 0, wide, tall);
    const { color, font } = getComputedStyle(words);
    Object.assign(pen, { font, fillStyle: color });
    pen.fillText(AXES, 8, tall + LINE / 2);
  };
  pictures.canvas(wide, tall + LINE, draw, "sequoia-dp");
}

/** The meaning of the colours and marks, and where the table stops. */
export class DpLegend {
  /** @param {HTMLElement} host */
  constructor(host) {
    const foot = el("div", { class: "dp-legend" }, host);
    this.title = el("span", { class: "dp-legend-title sq-dim" }, foot);
    const ramp = el("span", { class: "dp-ramp-box" }, foot);
    el("span", { class: "dp-ramp" }, ramp);
    const marks = el("span", { class: "dp-marks" }, ramp);
    const places = [0, 25, 50, 75, 100];
    this.marks = places.map((at) => el("span", { style: `left:${at}%` }, marks));
    addTerm(entry(foot, "ridge"), "best b", "best b");
    el("span", { text: "no such tree" }, entry(foot, "none"));
    addTerm(entry(foot, "below"), "the last child’s subtree", "subtree of a cell");
    addTerm(entry(foot, "rest"), "the rest of the tree", "rest of a cell");
    this.start = entry(foot, "home");
    addTerm(this.start, "start of the traceback", "start of a traceback");
    rove(foot);
    const words = `The table stops at ${MAX_NODES} nodes and ${MAX_LEVELS} levels.`;
    this.limit = el("span", { class: "dp-limit", text: words }, foot);
  }

  /** @param {boolean} isMarked whether the start of the traceback has a mark in the picture */
  showStart(isMarked) {
    show(this.start, isMarked);
  }

  /**
   * @param {string} kind of shade
   * @param {import("./dp_shade.js").Range} range
   */
  paint(kind, range) {
    text(this.title, dpShade.KINDS[kind].title);
    dpShade.marks(kind, range).forEach((mark, i) => text(this.marks[i], mark));
  }
}

function entry(foot, kind) {
  const made = el("span", { class: "sq-legend-entry sq-dim" }, foot);
  el("span", { class: "dp-swatch", "data-k": kind }, made);
  return made;
}
