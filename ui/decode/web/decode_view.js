/* The stage: builds the panels, joins them to one store, and is all that the page outside has to know. */
import { Inspector } from "./inspector.js";
import { RunHeader } from "./run_header.js";
import { RunStore } from "./run_store.js";
import { Scrubber } from "./scrubber.js";
import { StepBars } from "./step_bars.js";
import { TextView } from "./text_view.js";
import { TreeView } from "./tree_view.js";
import * as dom from "../../shared/web/dom.js";
import { el, show, svg } from "../../shared/web/dom.js";
import { PlaybackKeys } from "../../shared/web/playback_keys.js";

const MARK = [
  ["untested", "M20 8V52H46M20 30H64M64 30V44H90"],
  ["rejected", "M64 8H90"],
  ["accepted", "M2 8H64V8"],
  ["own", "M64 8C84 22 104 22 128 22"],
];

class Stage {
  constructor(element, { server, page = {} } = {}) {
    this.root = element.matches?.(".sq-stage")
      ? element
      : element.querySelector(".sq-stage") || el("div", { class: "sq-stage" }, element);
    this.root.replaceChildren();
    const store = (this.store = new RunStore(server));
    const frame = el("div", { class: "sq-frame" }, this.root);
    this.header = new RunHeader(store, frame);
    this.scrubber = new Scrubber(store, frame);
    const main = (this.main = el("div", { class: "sq-main" }, frame));
    const left = el("div", { class: "sq-left" }, main);
    const right = el("div", { class: "sq-right" }, main);
    this.tree = new TreeView(store, left, (flat) => this.arrange(flat));
    this.bars = new StepBars(store, left, this.scrubber);
    this.text = new TextView(store, right, page);
    this.inspector = new Inspector(store, right);
    this.empty = this.makeEmpty(frame);
    this.keys = new PlaybackKeys(store, this, page);
    store.onPaint(() => this.paint());
    store.changed();
  }

  /** The text stands over the inspector, or below a tree that needs little height. */
  arrange(flat) {
    if (this.flat === flat) return;
    this.flat = flat;
    this.main.classList.toggle("is-flat", flat);
    if (flat) this.bars.root.before(this.text.root);
    else this.inspector.root.before(this.text.root);
    this.text.current = -1;
  }

  makeEmpty(frame) {
    const box = el("div", { class: "sq-empty", "data-part": "empty" }, frame);
    const mark = svg(
      "svg",
      { class: "sq-empty-mark", viewBox: "0 0 132 60", "aria-hidden": "true" },
      box,
    );
    for (const [s, d] of MARK) svg("path", { class: "sq-edge", "data-s": s, d }, mark);
    this.emptyTitle = el("p", { class: "sq-empty-title" }, box);
    this.emptyText = el("p", { class: "sq-empty-text" }, box);
    return box;
  }

  paint() {
    const { store } = this;
    const some = store.steps.length > 0;
    show(this.main, some);
    show(this.empty, !some);
    this.root.classList.toggle("is-empty", !some);
    this.root.classList.toggle("is-live", store.live && !store.done);
    this.root.dataset.step = store.at;
    this.root.dataset.steps = store.steps.length;
    if (!some) this.paintEmpty();
    for (const part of [
      this.header,
      this.bars,
      this.scrubber,
      this.tree,
      this.text,
      this.inspector,
    ])
      part.paint(store);
    this.text.settle(); // what has to ask for a layout comes last, so that there is one layout a frame
    this.inspector.story.settle();
  }

  paintEmpty() {
    const { store } = this;
    const running = store.run && !store.done && !store.error;
    const said =
      !store.run || store.error
        ? [
            "Press Run",
            "The draft will propose a tree of tokens, the target will check it, and every step is shown here.",
          ]
        : running
          ? ["Starting", "The prompt is being read; the first step comes next."]
          : ["No steps", "This run ended before its first step."];
    dom.text(this.emptyTitle, said[0]);
    dom.text(this.emptyText, said[1]);
  }

  destroy() {
    this.keys.off.abort();
    this.root.replaceChildren();
  }
}

/**
 * Build the stage inside `element` (its `.sq-stage`, or a new one). `server.get_steps(run, from)` may answer gaps;
 * `page` says what the page around it can do: `prompt()` its form's text, `run()`, `stop()`, true where it stopped a run, and
 * `take(meta)`, which fills its form with the settings of the run that has this meta.
 * Answers {ingest, seek, play, pause, live, setRate, setMode, store, destroy}.
 */
export function mountDecode(element, options) {
  const stage = new Stage(element, options);
  const { store } = stage;
  return {
    ingest: (message) => store.ingest(message),
    seek: (i) => store.seek(i),
    play: () => store.play(),
    pause: () => store.pause(),
    live: () => store.goLive(),
    setRate: (rate) => store.set({ rate, clock: 0 }),
    setMode: (mode) => store.set({ mode }),
    destroy: () => stage.destroy(),
    store,
    stage,
  };
}
