/* The Decode view: builds the panels around one store. The page uses only `mountDecode`. */
import { Headline, presenterHead } from "./headline.js";
import { RunHeader } from "./run_header.js";
import { PlainText, TextView } from "./text_view.js";
import { RunView } from "../../run/web/run_view.js";
import { el, show, svg, text } from "../../shared/web/dom.js";

/**
 * @import { FormBeside } from "../../shared/web/form_buttons.js"
 * @import { Meta } from "../../shared/web/run_facts.js"
 * @import { Mounted } from "../../run/web/run_view.js"
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

class DecodeView extends RunView {
  /**
   * @param {HTMLElement} root a `.sq-stage`
   * @param {Page} page
   */
  constructor(root, page) {
    super(root, page);
    const { store, frame } = this;
    /** @type {HTMLElement | null} shown until the first message */
    this.skeleton = root.querySelector(".sq-skeleton");
    root.replaceChildren(...(this.skeleton ? [this.skeleton] : []), frame);
    root.classList.toggle("is-waiting", Boolean(this.skeleton));
    store.isPaced = Boolean(page.isPaced);
    this.headline = new Headline(store, frame, page);
    this.texts = el("div", { class: "sq-texts" }, frame);
    this.plain = new PlainText(store, this.texts);
    this.text = new TextView(store, this.texts, page);
    this.buildSteps(() => presenterHead(store), false);
    this.header = new RunHeader(store, frame, page.follow);
    frame.prepend(this.header.banners.root);
    this.empty = this.makeEmpty(frame);
    this.start();
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
    const { store, root } = this;
    const some = store.steps.length > 0;
    const isWaiting = Boolean(this.skeleton) && !store.name && !store.error && !store.notice;
    const isOpening = Boolean(store.meta.opening);
    for (const part of [this.main, this.texts, this.headline.root]) show(part, some || isWaiting);
    show(this.empty, !some && !isWaiting);
    if (this.skeleton) show(this.skeleton, isWaiting);
    root.classList.toggle("is-waiting", isWaiting);
    root.classList.toggle("is-empty", !some && !isWaiting);
    root.classList.toggle("is-opening", isOpening && store.pin === null);
    if (!some) this.paintEmpty();
    this.headline.paint(isOpening);
    for (const panel of [this.header, this.plain, this.text]) panel.paint();
    this.paintSteps();
    for (const panel of [this.text, this.plain]) panel.settle();
    this.settle();
  }

  /** Show no run, and wait for none. */
  forget() {
    this.skeleton?.remove();
    this.skeleton = null;
    this.store.reset(null);
  }

  paintEmpty() {
    const { name, done, error } = this.store;
    const isRun = name && !error;
    const [title, words] = EMPTY[isRun ? (done ? "over" : "running") : "none"];
    text(this.emptyTitle, title);
    text(this.emptyText, words);
  }
}

/**
 * Build the view inside `root`.
 * @param {HTMLElement} root a `.sq-stage`
 * @param {{page?: Page}} [options]
 * @returns {Mounted}
 */
export const mountDecode = (root, { page = {} } = {}) => new DecodeView(root, page).mounted;
