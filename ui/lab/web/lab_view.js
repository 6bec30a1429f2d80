/* The Lab: builds its panels around one state, and passes the server's messages to them. */
import { AcceptanceCounts } from "./acceptance_counts.js";
import { AcceptanceEditor } from "./acceptance_editor.js";
import * as vectors from "./acceptance_vectors.js";
import { Curves, Margins } from "./curves.js";
import { Dp } from "./dp/dp_view.js";
import { Answer } from "./answer.js";
import { LabState } from "./lab_state.js";
import { LabTree } from "./lab_tree.js";
import { MachinePanel } from "./machine_panel.js";
import { ShapesTable } from "./shapes_table.js";
import { followTheme } from "../../shared/web/chart.js";
import { el, show, sized } from "../../shared/web/dom.js";
import { isSameTree } from "../../shared/web/planner.js";

// Temperature of the recorded vector that the Lab selects if the loaded models have no vectors.
const USUAL_TEMPERATURE = 0.6;
const STILL_MS = 140; // how long nothing must change before the figures are redrawn

/** @typedef {import("../../shared/web/planner.js").Profile} Profile */
/** @typedef {import("./acceptance_counting.js").Entry} Entry */

/**
 * A message from ui/lab/tab.py (`_known`, `count`, `not_running`). An absent property changes
 * nothing.
 * @typedef {object} LabMessage
 * @property {object} [survey] acceptance recorded with the loaded pair, or else the bundled one
 * @property {boolean} [surveyed] whether it is of the loaded pair
 * @property {{name: string, rates: number[], temperature: number}[]} [own] vectors
 *   measured with the loaded models
 * @property {number} [pair] a number that changes each time models are loaded
 * @property {boolean} [measurable] whether models are loaded
 * @property {boolean} [loading] whether models are being loaded; if so, another message follows
 * @property {Profile | null} [profile] of this machine
 * @property {import("./machine_panel.js").OtherProfile[]} [profiles]
 * @property {string} [clock] key of the profile that is chosen in Run; empty for this machine
 * @property {Entry[]} [ways] of measuring acceptance
 * @property {Entry[]} [prompts] to measure on
 * @property {number} [most] most nodes of a tree that may run here
 * @property {import("./acceptance_counting.js").CountMessage} [count]
 */

/**
 * @typedef {{trigger?: (name: string, data: object) => void, save?: (lab: Lab) => void,
 *   copy?: () => void, readTree?: (text: string) => Promise<import("./lab_tree.js").ReadTree>}}
 *   Options
 */

/** The properties of messages that `known` keeps. */
const KNOWN = ["survey", "surveyed", "profile", "profiles", "most"];

/** The panels and their state. */
export class Lab {
  open = false; // whether its tab is visible
  chosen = false; // whether the server's vectors have arrived
  loading = false; // whether models are being loaded
  /** @type {string | null} key of the vector that the Lab selected by itself; null if a link or
   * file chose one */
  usual = "paper";
  /** @type {number | undefined} */
  pair = undefined;
  timer = 0;
  /** @type {LabMessage} */
  known = {};

  /**
   * @param {HTMLElement} element
   * @param {Options} [options] `trigger`: sends a request to the server; without it, nothing can be
   *   run. `save`: saves the Lab as a web page. `copy`: copies its link. `readTree`: reads a
   *   pasted tree.
   */
  constructor(element, { trigger, save, copy, readTree } = {}) {
    this.trigger = trigger ?? (() => {});
    this.canRun = Boolean(trigger);
    this.state = new LabState();
    element.replaceChildren();
    this.build(element, { save, copy, readTree });
    this.state.watch(() => this.paint());
    this.size = sized(element, () => this.resized());
    followTheme([{ draw: () => this.later() }]);
    this.editor.choose(this.usual);
  }

  build(element, { save, copy, readTree = null }) {
    const { state, trigger } = this;
    const link = { trigger, count: (count) => this.counts.add(count) };
    const run = (parents, temperature) =>
      trigger("run", { parents, temperature, clock: this.machine.keyInRun });
    this.answer = new Answer(element, state, this.canRun ? run : null);
    const grid = el("div", { class: "sq-lab-grid" }, element);
    this.editor = new AcceptanceEditor(grid, state, link);
    const keeps = { savePage: save && (() => save(this)), copyLink: copy };
    this.tree = new LabTree(grid, state, keeps, readTree);
    this.machine = new MachinePanel(grid, state, this.canRun);
    this.dp = new Dp(element, {
      getState: () => ({ rates: state.even, n: state.n, levels: state.cap }),
      onSelect: (parents) =>
        state.set({ hand: state.past.replace(state.hand, parents), shown: "hand" }),
      isShown: (parents) => isSameTree(parents, state.parents),
    });
    const figures = el("div", { class: "sq-lab-figures" }, element);
    this.curves = new Curves(figures, state);
    this.margins = new Margins(figures, state);
    this.table = new ShapesTable(element, state);
    this.counts = new AcceptanceCounts(element, (rates, origin) => this.editor.take(rates, origin));
  }

  resized() {
    const visible = this.size.w > 0;
    // Other tabs may have loaded models or saved profiles in the meantime.
    if (visible && !this.open) this.trigger("select", {});
    this.open = visible;
    if (visible) this.state.changed();
  }

  paint() {
    if (!this.size.w) return; // the tab is not visible
    for (const part of [this.answer, this.editor, this.tree, this.machine, this.table])
      part.paint();
    this.dp.update();
    this.later();
  }

  // The figures are slow to draw, so they wait until nothing changes.
  later() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.settle(), STILL_MS);
  }

  settle() {
    if (!this.size.w) return;
    this.machine.settle();
    this.curves.paint();
    this.margins.paint();
  }

  /** Whether the vector in use is the one that the Lab selected by itself. */
  get isUntouched() {
    return this.editor.kind === this.usual;
  }

  // Whether the vector on screen must be replaced, because models were loaded since the last call.
  // At the first call with models, it is replaced only if the Lab itself selected it and the models
  // have vectors of their own.
  isOfOtherModels({ measurable, pair }, own) {
    if (!measurable || pair === this.pair) return false;
    const first = this.pair === undefined;
    this.pair = pair;
    return !first || (own.length > 0 && this.isUntouched);
  }

  /** @param {LabMessage} data */
  take(data) {
    const { profile, profiles, clock, most, count } = data;
    const { counting } = this.editor;
    for (const name of KNOWN) if (name in data) this.known[name] = data[name];
    if (data.loading !== undefined) this.loading = data.loading;
    if (data.survey) this.takeVectors(data);
    counting.offer(data.ways, data.prompts);
    if (data.measurable) show(counting.root, true);
    if (most) this.state.set({ most });
    if (profile !== undefined || profiles) this.machine.take(profile, profiles);
    if (clock !== undefined) this.machine.follow(clock);
    if (count) counting.take(count);
  }

  takeVectors(data) {
    const own = vectors.own(data.own);
    const known = vectors.recorded(data.survey, Boolean(data.surveyed));
    const usual = own[0] || known.find(({ origin }) => origin.on.temperature === USUAL_TEMPERATURE);
    const other = this.isOfOtherModels(data, own);
    const isFirst = !this.chosen && this.isUntouched;
    this.chosen = true;
    this.editor.add([...own, ...known]);
    if (other) this.counts.disown();
    if (!(isFirst || other) || !usual) return;
    this.usual = usual.key;
    this.editor.choose(usual.key);
  }
}
