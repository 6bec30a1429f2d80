/* The Race view: the verdict, the lanes side by side, the steps of the chosen lane, charts and
   panels on one store. */
import { DistributionCheck } from "./distribution_check.js";
import { LaneView } from "./lane.js";
import { baseOf } from "./lane_places.js";
import { RaceCharts } from "./race_charts.js";
import { RaceHeader, presenterHead } from "./race_header.js";
import { RaceVerdict } from "./race_verdict.js";
import { WhereTimeWent } from "./where_time_went.js";
import { laneStyles } from "../../run/web/lane_style.js";
import { RunView } from "../../run/web/run_view.js";
import { el, show } from "../../shared/web/dom.js";

/**
 * @import { LaneRun } from "../../run/web/lane_run.js"
 * @import { Mounted } from "../../run/web/run_view.js"
 */

/**
 * Options of the view; each may be left out. `page`: the form beside the view.
 *
 * `trigger` is called with one of these names and objects:
 * "apply", {lane, parents}: put the tree `parents` into lane number `lane` of the form.
 * "more", {race}: make further runs of the race.
 * @typedef {{trigger?: (name: string, data?: object) => void,
 *   page?: import("../../shared/web/form_buttons.js").FormBeside}} Options
 */

const ABOUT =
  "A race decodes one or two prompts in different ways, in one to four lanes side by side. Each lane’s clock runs only during its own steps.";

/** The elements of the Race view. */
class RaceView extends RunView {
  /** @type {LaneView[]} */
  cards = [];
  /** @type {LaneRun[]} the lanes that the cards show */
  built = [];

  /**
   * @param {HTMLElement} root a `.sq-stage`
   * @param {Options} options
   */
  constructor(root, { trigger = null, page = {} }) {
    super(root, page);
    const { store, frame } = this;
    root.replaceChildren(frame);
    root.classList.add("race-stage");
    this.header = new RaceHeader(store, frame, page.follow);
    this.verdict = new RaceVerdict(store, frame, trigger, page);
    this.grid = el("div", { class: "race-lanes", "data-part": "lanes" }, frame);
    this.buildSteps(() => presenterHead(store), true);
    this.charts = new RaceCharts(store, frame);
    this.check = new DistributionCheck(store, frame);
    this.timeWent = new WhereTimeWent(store, frame, trigger);
    this.empty = el("div", { class: "sq-empty", "data-part": "empty" }, frame);
    el("p", { class: "sq-empty-title", text: "No race yet" }, this.empty);
    el("p", { class: "sq-empty-text", text: ABOUT }, this.empty);
    this.start();
  }

  paint() {
    const { store, root } = this;
    const some = store.lanes.length > 0;
    if (this.built !== store.lanes) this.buildLanes();
    for (const part of [this.grid, this.main, this.charts.root]) show(part, some);
    show(this.empty, !some && store.hasHeard);
    root.classList.toggle("is-empty", !some);
    root.dataset.state = store.state;
    for (const part of [this.header, this.verdict, this.charts]) part.paint();
    for (const card of this.cards) card.paint(baseOf(store, card.index));
    this.paintSteps();
    this.check.paint();
    this.timeWent.paint();
    this.settle();
  }

  buildLanes() {
    const { store, grid } = this;
    this.built = store.lanes;
    grid.replaceChildren();
    grid.dataset.lanes = String(store.lanes.length);
    const styles = laneStyles(store.lanes);
    const showTree = () => this.tree.panel.root.scrollIntoView({ block: "nearest" });
    this.cards = styles.map((style, i) => new LaneView(store, grid, i, { style, showTree }));
  }
}

/**
 * Build the Race view inside `root`.
 * @param {HTMLElement} root a `.sq-stage`
 * @param {Options} [options]
 * @returns {Mounted}
 */
export const mountRace = (root, options = {}) => new RaceView(root, options).mounted;
