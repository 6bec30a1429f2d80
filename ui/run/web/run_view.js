/* The view of runs: the verdict, the lanes side by side, the playback and the panels about the
   steps of the chosen lane, facts, and the analysis. The page uses only `mountRun`. */
import { Analysis } from "./analysis.js";
import { presenterHead } from "./headline.js";
import { Inspector } from "./inspector.js";
import { LaneCard } from "./lane_card.js";
import { baseOf } from "./lane_places.js";
import { laneStyles } from "./lane_style.js";
import { Presenter } from "./presenter.js";
import { PromptLines } from "./prompt_lines.js";
import { RunAbout, notesOf } from "./run_about.js";
import { RunKeys } from "./run_keys.js";
import { RunStore } from "./run_store.js";
import { Scrubber } from "./scrubber.js";
import { StepBars } from "./step_bars.js";
import { TreePanel } from "./tree_panel.js";
import { RunVerdict } from "./verdict.js";
import { Banners } from "../../shared/web/banners.js";
import { button, el, show, tell } from "../../shared/web/dom.js";
import { readable } from "../../shared/web/format.js";
import { openView } from "../../shared/web/navigation.js";

/**
 * @import { FormBeside } from "../../shared/web/form_buttons.js"
 * @import { LaneRun } from "./lane_run.js"
 * @import { Message } from "./arrived.js"
 */

/**
 * What the page around the view can do.
 *
 * `trigger` is called with one of these names and objects:
 * "apply", {lane, parents}: put the tree `parents` into lane number `lane` of the form.
 * "more", {run}: make further runs of a run.
 * @typedef {object} ForRuns
 * @property {(name: string, data?: object) => void} [trigger]
 * @property {(run: string) => void} [take] copies the settings of a run to the page's form
 * @property {() => void} [follow] asks for the current run of another visitor
 * @property {boolean} [isPaced] whether a run made on this page is played from its first step;
 *   otherwise its newest step is shown, until the visitor chooses another step
 * @typedef {FormBeside & ForRuns} Page
 */

/**
 * What the page and tests may call.
 * @typedef {object} Mounted
 * @property {(message: Message) => void} ingest
 * @property {(i: number) => void} seek goes to a step of the chosen lane
 * @property {RunStore} store
 * @property {RunView} stage the view
 */

/** The elements of the view. */
export class RunView {
  /** @type {LaneCard[]} */
  cards = [];
  /** @type {LaneRun[]} the lanes that the cards show */
  built = [];

  /**
   * @param {HTMLElement} root a `.sq-stage`
   * @param {Page} page
   */
  constructor(root, page) {
    this.root = root;
    const store = new RunStore();
    this.store = store;
    store.isPaced = Boolean(page.isPaced);
    /** @type {HTMLElement | null} shown until the first message */
    this.skeleton = root.querySelector(".sq-skeleton");
    const frame = el("div", { class: "sq-frame" });
    root.replaceChildren(...(this.skeleton ? [this.skeleton] : []), frame);
    root.classList.add("run-stage");
    root.classList.toggle("is-waiting", Boolean(this.skeleton));
    this.banners = new Banners(store, frame, page.follow);
    const back = () => openView("tour");
    button(frame, { text: "Back to the tour", part: "back-to-tour", cls: "run-back", act: back });
    this.verdict = new RunVerdict(store, frame, page);
    this.leftOut = el("p", { class: "run-note sq-dim", "data-part": "left-out" }, frame);
    this.grid = el("div", { class: "run-lanes sq-cells", "data-part": "lanes" }, frame);
    this.prompts = new PromptLines(store, frame, page);
    this.buildSteps(frame, page);
    this.about = new RunAbout(store, frame, page);
    this.analysis = new Analysis(store, frame, page);
    this.empty = el("div", { class: "sq-empty", "data-part": "empty" }, frame);
    el("p", { class: "sq-empty-title", text: "Press Run" }, this.empty);
    store.onPaint(() => this.paint());
    store.changed();
  }

  buildSteps(frame, page) {
    const { store, root } = this;
    this.scrubber = new Scrubber(store, frame);
    this.main = el("div", { class: "sq-main sq-cells" }, frame);
    const left = el("div", { class: "sq-left sq-stack" }, this.main);
    const right = el("div", { class: "sq-right sq-stack" }, this.main);
    // without a form beside it, the bar has room for the phases of a step
    this.tree = new TreePanel(store, left, page.run ? null : this.scrubber.root);
    this.bars = new StepBars(store, left, this.scrubber);
    this.inspector = new Inspector(store, right);
    this.presenter = new Presenter(store, root, () => presenterHead(store));
    this.keys = new RunKeys(store, this, page);
    this.tree.tools.makeView(this.presenter, this.keys);
  }

  // While the page waits for its first message, the panels are laid out behind the skeleton, so
  // that their sizes are known when the first step arrives.
  paint() {
    const { store, root } = this;
    const some = store.lanes.length > 0;
    const isWaiting = Boolean(this.skeleton) && !store.name && !store.error && !store.notice;
    const isOpening = Boolean(store.meta.opening) && store.pin === null;
    if (this.built !== store.lanes) this.buildLanes();
    for (const { root: part } of [this.verdict, this.prompts, this.scrubber, this.about])
      show(part, some || isWaiting);
    for (const part of [this.grid, this.main]) show(part, some || isWaiting);
    show(this.analysis.root, some);
    show(this.empty, !some && !isWaiting && (store.hasHeard || Boolean(this.skeleton)));
    if (this.skeleton) show(this.skeleton, isWaiting);
    root.classList.toggle("is-waiting", isWaiting);
    root.classList.toggle("is-empty", !some && !isWaiting);
    root.classList.toggle("is-opening", isOpening);
    root.classList.toggle("is-live", store.live && !store.done);
    root.dataset.state = store.state;
    root.dataset.step = String(store.at);
    root.dataset.steps = String(store.arrived.length);
    for (const panel of [this.banners, this.verdict, this.prompts]) panel.paint();
    const missing = some ? notesOf(store).leftOut.map(readable).join(" ") : "";
    tell(this.leftOut, missing);
    for (const card of this.cards) card.paint(baseOf(store, card.index));
    for (const panel of [this.bars, this.scrubber, this.tree]) panel.paint();
    if (!isOpening) this.inspector.paint(); // hidden in the opening
    for (const panel of [this.presenter, this.about, this.analysis]) panel.paint();
    this.settle();
  }

  buildLanes() {
    const { store, grid } = this;
    this.built = store.lanes;
    grid.replaceChildren();
    grid.dataset.lanes = String(store.lanes.length);
    const styles = laneStyles(store.lanes);
    this.cards = styles.map((style, i) => new LaneCard(store, grid, i, style));
  }

  // Scroll the panels. This needs the finished layout. Called after all painting, it costs one
  // layout per frame.
  settle() {
    for (const panel of [this.inspector.story, this.tree]) panel.settle();
  }

  /** Show no run, and wait for none. */
  forget() {
    this.skeleton?.remove();
    this.skeleton = null;
    this.store.reset(null);
  }
}

/**
 * Build the view inside `root`.
 * @param {HTMLElement} root a `.sq-stage`
 * @param {Page} [page]
 * @returns {Mounted}
 */
export function mountRun(root, page = {}) {
  const stage = new RunView(root, page);
  const { store } = stage;
  return {
    ingest: (message) => store.ingest(message),
    seek: (i) => store.seek(i),
    store,
    stage,
  };
}
