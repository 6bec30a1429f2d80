/* The four phases of the step on screen, with their real times, and what happens in the picture
   that is shown. */
import { attr, button, el, show, text } from "../../shared/web/dom.js";
import { ms } from "../../shared/web/format.js";
import { rove } from "../../shared/web/roving_focus.js";
import { result } from "../../shared/web/step_captions.js";
import { hasPhase } from "../../shared/web/step_frames.js";
import { sourced } from "../../shared/web/run_words.js";

/**
 * @import { RunStore } from "./run_store.js"
 * @import { Phase } from "../../shared/web/step_frames.js"
 */

/** @type {[Phase, string, string | null][]} phase, label, key of a step's seconds */
const PHASES = [
  ["guess", "1 guess", "draft"],
  ["check", "2 check", "verify"],
  ["walk", "3 walk", null],
  ["result", "4 result", null],
];

/** Buttons for the phases, among the playback's controls, and the caption above the tree. */
export class PhaseBar {
  /**
   * @param {RunStore} store
   * @param {Element} host of the buttons
   * @param {Element} above host of the caption
   */
  constructor(store, host, above) {
    this.store = store;
    this.root = el("div", { class: "sq-phases", "data-part": "phases" }, host);
    const look = { class: "sq-phase-tabs", role: "group", "aria-label": "Phases of the step" };
    const group = el("div", look, this.root);
    this.tabs = PHASES.map(([phase, label]) => {
      const tab = button(group, { text: label, part: "phase-" + phase });
      tab.addEventListener("click", () => store.slow.turnTo(phase));
      return tab;
    });
    rove(group);
    this.next = button(this.root, { icon: "next", label: "Next picture of the step (.)" });
    this.next.addEventListener("click", () => store.slow.turn(1));
    const line = el("div", { class: "sq-caption-line" }, above);
    this.caption = el("p", { class: "sq-caption", "data-part": "caption" }, line);
    this.time = el("p", { class: "sq-phase-time", "data-part": "phase-time" }, line);
  }

  paint() {
    const { store } = this;
    const view = store.view();
    show(this.root, Boolean(view));
    show(this.caption, Boolean(view));
    if (!view) return;
    const { shown } = store.slow;
    const phase = shown?.phase ?? "result";
    PHASES.forEach(([name], i) => {
      attr(this.tabs[i], "aria-pressed", String(name === phase));
      this.tabs[i].disabled = !hasPhase(view, name);
    });
    text(this.time, this.times(view.step.seconds ?? {}, phase));
    text(this.caption, shown ? shown.words : result(view));
  }

  // The real time of the phase, or of the step.
  times(seconds, phase) {
    const key = PHASES.find(([name]) => name === phase)[2];
    const { draft = 0, verify = 0, overhead = 0 } = seconds;
    const time = { guess: draft, check: verify, walk: overhead, result: draft + verify + overhead };
    const what = { draft: "drafting", verify: "the pass" }[key];
    const name = what ?? (phase === "walk" ? "the walk and the rest" : "the step");
    const isSlow = this.store.slow.picture !== null ? "; slowed, not to scale" : "";
    return `${name} took ${sourced(ms(time[phase]), this.store.word)}${isSlow}`;
  }
}
