/* The Decode view: builds the panels around one store. The page uses only `mountDecode`. */
import { Headline } from "./headline.js";
import { Inspector } from "./inspector.js";
import { PlainText, TextView } from "./text_view.js";
import { Presenter } from "./presenter.js";
import { RunHeader } from "./run_header.js";
import { RunStore } from "./run_store.js";
import { Scrubber } from "./scrubber.js";
import { StepBars } from "./step_bars.js";
import { TreePanel } from "./tree_panel.js";
import { el, show, svg } from "../../shared/web/dom.js";
import * as dom from "../../shared/web/dom.js";
import { PlaybackKeys } from "../../shared/web/playback_keys.js";
import TOOLTIPS from "../../../assets/tooltips.json" with { type: "json" };

/**
 * @import { FormBeside } from "../../shared/web/form_buttons.js"
 * @import { Meta } from "../../shared/web/run_facts.js"
 * @import { RunMessage } from "./run_store.js"
 */

/**
 * What the page around the view can do.
 * @typedef {object} ForRuns
 * @property {(meta: Meta) => void} [take] copies the settings of a run to the page's form
 * @property {(run: string) => void} [again] runs a finished run a few more times
 * @property {() => void} [follow] asks for the current run of another visitor
 * @property {boolean} [isPaced] whether a run made on this page is played from its first step;
 *   otherwise its newest step is shown, until the visitor chooses another step
 * @typedef {FormBeside & ForRuns} Page
 */

/**
 * What the page and tests may call.
 * @typedef {object} Mounted
 * @property {(message: RunMessage | string) => void} ingest
 * @property {(i: number) => void} seek
 * @property {RunStore} store
 * @property {DecodeView} stage
 */

const MARK = [
  ["untested", "M20 8V52H46M20 30H64M64 30V44H90"],
  ["rejected", "M64 8H90"],
  ["accepted", "M2 8H64V8"],
  ["own", "M64 8C84 22 104 22 128 22"],
];
/** @type {Record<string, [string, string]>} title and text if there is no step */
const EMPTY = {
  none: [
    "Press Run",
    "The draft model proposes a tree of tokens, the target model checks it, and every step is shown here.",
  ],
  running: ["Starting", "The models are processing the prompt; the first step comes next."],
  over: ["No steps", "This run ended before its first step."],
};

class DecodeView {
  /**
   * @param {HTMLElement} root a `.sq-stage`
   * @param {{page?: Page}} options
   */
  constructor(root, { page = {} }) {
    this.root = root;
    /** @type {HTMLElement | null} shown until the first message */
    this.skeleton = this.root.querySelector(".sq-skeleton");
    this.root.replaceChildren(...(this.skeleton ? [this.skeleton] : []));
    this.root.classList.toggle("is-waiting", Boolean(this.skeleton));
    this.store = new RunStore();
    const { store } = this;
    store.isPaced = Boolean(page.isPaced);
    const frame = el("div", { class: "sq-frame" }, this.root);
    this.headline = new Headline(store, frame, page);
    this.texts = el("div", { class: "sq-texts" }, frame);
    this.plain = new PlainText(store, this.texts);
    this.text = new TextView(store, this.texts, page);
    this.scrubber = new Scrubber(store, frame);
    this.main = el("div", { class: "sq-main" }, frame);
    const left = el("div", { class: "sq-left" }, this.main);
    const right = el("div", { class: "sq-right" }, this.main);
    this.tree = new TreePanel(store, left, this.scrubber.root);
    this.bars = new StepBars(store, left, this.scrubber);
    this.inspector = new Inspector(store, right);
    this.header = new RunHeader(store, frame, page.follow);
    frame.prepend(this.header.banners.root);
    this.empty = this.makeEmpty(frame);
    this.presenter = this.makePresenter();
    this.keys = new DecodeKeys(store, this, page);
    store.onPaint(() => this.paint());
    store.changed();
  }

  makePresenter() {
    const presenter = new Presenter(this.store, this.root);
    const hint = TOOLTIPS["button present"];
    const look = { icon: "present", label: "Presenter mode (P)", part: "present", hint };
    this.present = dom.button(this.scrubber.root, { ...look, act: () => presenter.open() });
    this.scrubber.help.before(this.present);
    return presenter;
  }

  makeEmpty(frame) {
    const box = el("div", { class: "sq-empty", "data-part": "empty" }, frame);
    const look = { class: "sq-empty-mark", viewBox: "0 0 132 60", "aria-hidden": "true" };
    const mark = svg("svg", look, box);
    for (const [s, d] of MARK) svg("path", { class: "sq-edge", "data-s": s, d }, mark);
    this.emptyTitle = el("p", { class: "sq-empty-title" }, box);
    this.emptyText = el("p", { class: "sq-empty-text" }, box);
    return box;
  }

  // While the page waits for its first message, the panels are laid out behind the skeleton, so
  // that their sizes are known when the first step arrives.
  paint() {
    const { store, root, text, inspector } = this;
    const some = store.steps.length > 0;
    const isWaiting = Boolean(this.skeleton) && !store.run && !store.error && !store.notice;
    show(this.main, some || isWaiting);
    show(this.empty, !some && !isWaiting);
    root.classList.toggle("is-waiting", isWaiting);
    if (this.skeleton) show(this.skeleton, isWaiting);
    root.classList.toggle("is-empty", !some && !isWaiting);
    root.classList.toggle("is-live", store.live && !store.done);
    root.dataset.step = String(store.at);
    root.dataset.steps = String(store.steps.length);
    if (!some) this.paintEmpty();
    const isOpening = Boolean(store.meta.opening);
    root.classList.toggle("is-opening", isOpening && store.pin === null);
    show(this.texts, some || isWaiting);
    show(this.headline.root, some || isWaiting);
    this.headline.paint(isOpening);
    const panels = [this.header, this.bars, this.plain, this.scrubber, this.tree, text];
    for (const panel of panels) panel.paint();
    if (!root.classList.contains("is-opening")) inspector.paint(); // hidden in the opening
    this.present.disabled = !some;
    this.presenter.paint();
    // `settle` needs the finished layout. Called after all painting, it costs one layout per frame.
    for (const panel of [text, this.plain, inspector.story, this.tree]) panel.settle();
  }

  /** Show no run, and wait for none. */
  forget() {
    this.skeleton?.remove();
    this.skeleton = null;
    this.store.reset(null);
  }

  paintEmpty() {
    const { run, done, error } = this.store;
    const isRun = run && !error;
    const [title, words] = EMPTY[isRun ? (done ? "over" : "running") : "none"];
    dom.text(this.emptyTitle, title);
    dom.text(this.emptyText, words);
  }
}

/**
 * Build the view inside `root`.
 * @param {HTMLElement} root a `.sq-stage`
 * @param {{page?: Page}} [options]
 * @returns {Mounted}
 */
export function mountDecode(root, options = {}) {
  const stage = new DecodeView(root, options);
  const { store } = stage;
  return {
    ingest: (message) => store.ingest(message),
    seek: (i) => store.seek(i),
    store,
    stage,
  };
}

/** @type {[string, string]} */
const RUN = ["Ctrl Enter", "run, also while you type in the form; on a Mac also ⌘ Enter"];

/** The keys of a run's playback and of its tree. */
class DecodeKeys extends PlaybackKeys {
  /** @returns {[string, string][]} */
  get listed() {
    const { run } = this.page; // missing in a saved page, which has no form
    const stops = run ? "; otherwise stop the run" : "";
    return [
      ...(run ? [RUN] : []),
      ["space", "play or pause"],
      ["← →", "one step back or forward"],
      [". ,", "slow motion: next or previous frame of the step"],
      ["Home End", "first or last step"],
      ["L", "follow the newest step"],
      ["F", "show only the accepted path with its neighbours, or all nodes"],
      ["H", "heat: show how often each slot was accepted"],
      ["+ − 0", "zoom the tree; 0 fits it"],
      ["Ctrl wheel", "zoom at the pointer; drag to move"],
      ["/", "find a token in the tree"],
      ["Enter", "next match; in the tree: pin, unfold"],
      ["arrows", "in the tree or a group of buttons: move the focus"],
      ["Esc", "unpin, clear the search, close this list" + stops],
      ["P", "presenter mode: large type for a lecture hall; Esc leaves it"],
      ["?", "show or hide this list"],
    ];
  }

  escape() {
    const { store } = this;
    const { presenter } = this.stage;
    if (presenter.isOpen) return presenter.close();
    const canClear = store.pin !== null || store.query;
    store.set({ pin: null, hover: null, query: "" });
    if (!canClear) this.page.stop?.();
  }

  /**
   * Do what a key does.
   * @param {string} key
   * @returns {boolean} whether the key has a meaning
   */
  act(key) {
    const { store } = this;
    const { view, tools } = this.stage.tree;
    /** @type {Record<string, () => void>} */
    const acts = {
      " ": () => store.toggle(),
      ArrowLeft: () => store.step(-1),
      ArrowRight: () => store.step(1),
      ".": () => store.slow.turn(1),
      ",": () => store.slow.turn(-1),
      Home: () => store.seek(0),
      End: () => (store.done ? store.seek(store.last) : store.goLive()),
      l: () => store.goLive(),
      f: () => store.set({ mode: store.focused ? "all" : "focus" }),
      h: () => store.set({ heat: !store.heat }),
      "+": () => view.pan.zoomBy(1.25),
      "=": () => view.pan.zoomBy(1.25),
      "-": () => view.pan.zoomBy(0.8),
      0: () => view.pan.zoomFit(),
      "/": () => tools.search.focus(),
      p: () => this.stage.presenter.toggle(),
      "?": () => this.stage.presenter.isOpen || this.help(),
      Escape: () => this.escape(),
    };
    if (!Object.hasOwn(acts, key)) return false;
    acts[key]();
    return true;
  }
}
