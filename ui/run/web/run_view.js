/* What the views of a run and of a race have in common: one store, the playback bar, and the panels
   about the steps of the chosen lane. */
import { Inspector } from "./inspector.js";
import { Presenter } from "./presenter.js";
import { RunKeys } from "./run_keys.js";
import { RunStore } from "./run_store.js";
import { Scrubber } from "./scrubber.js";
import { StepBars } from "./step_bars.js";
import { TreePanel } from "./tree_panel.js";
import { button, el } from "../../shared/web/dom.js";
import TOOLTIPS from "../../../assets/tooltips.json" with { type: "json" };

/**
 * @import { FormBeside } from "../../shared/web/form_buttons.js"
 * @import { Message } from "./arrived.js"
 * @import { PresenterHead } from "./presenter.js"
 */

/**
 * What the page and tests may call.
 * @typedef {object} Mounted
 * @property {(message: Message) => void} ingest
 * @property {(i: number) => void} seek goes to a step of the chosen lane
 * @property {RunStore} store
 * @property {any} stage the view
 */

/** The view. A subclass defines `paint`. */
export class RunView {
  /**
   * @param {HTMLElement} root a `.sq-stage`
   * @param {FormBeside} page
   */
  constructor(root, page) {
    this.root = root;
    this.page = page;
    this.store = new RunStore();
    this.frame = el("div", { class: "sq-frame" });
  }

  /**
   * Build the playback bar and the panels.
   * @param {() => PresenterHead} head the line on top of presenter mode
   * @param {boolean} hasLanes whether it can show more than one lane
   */
  buildSteps(head, hasLanes) {
    const { store, frame, root } = this;
    this.scrubber = new Scrubber(store, frame);
    this.main = el("div", { class: "sq-main" }, frame);
    const left = el("div", { class: "sq-left" }, this.main);
    const right = el("div", { class: "sq-right" }, this.main);
    this.tree = new TreePanel(store, left, this.scrubber.root);
    this.bars = new StepBars(store, left, this.scrubber);
    this.inspector = new Inspector(store, right);
    this.presenter = new Presenter(store, root, head);
    const hint = TOOLTIPS["button present"];
    const look = { icon: "present", label: "Presenter mode (P)", part: "present", hint };
    this.present = button(this.scrubber.root, { ...look, act: () => this.presenter.open() });
    this.scrubber.help.before(this.present);
    this.keys = new RunKeys(store, this, this.page, hasLanes);
  }

  /** Paint from now on. */
  start() {
    this.store.onPaint(() => this.paint());
    this.store.changed();
  }

  paint() {
    throw new Error("a subclass must define paint()");
  }

  paintSteps() {
    const { store, root } = this;
    const some = store.steps.length > 0;
    root.classList.toggle("is-live", store.live && !store.done);
    root.dataset.step = String(store.at);
    root.dataset.steps = String(store.arrived.length);
    for (const panel of [this.bars, this.scrubber, this.tree]) panel.paint();
    if (!root.classList.contains("is-opening")) this.inspector.paint(); // hidden in the opening
    this.present.disabled = !some;
    this.presenter.paint();
  }

  /** Scroll the panels. This needs the finished layout. Called after all painting, it costs one
   * layout per frame. */
  settle() {
    for (const panel of [this.inspector.story, this.tree]) panel.settle();
  }

  /** @returns {Mounted} */
  get mounted() {
    const { store } = this;
    return {
      ingest: (message) => store.ingest(message),
      seek: (i) => store.seek(i),
      store,
      stage: this,
    };
  }
}
