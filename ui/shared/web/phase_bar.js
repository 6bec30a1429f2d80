/* Buttons for the four phases of the step on screen, a caption for its current picture (see
   step_motion.js), and the time that the current phase took. */
import { attr, button, el, show, text } from "./dom.js";
import { ms } from "./format.js";
import { rove } from "./roving_focus.js";
import { result } from "./step_words.js";
import { hasPhase } from "./step_motion.js";
import { sourced } from "./run_words.js";

/**
 * @import { Phase } from "./step_motion.js"
 * @import { StepMotion } from "./step_motion.js"
 */

/** @type {[Phase, string, string | null][]} phase, label, and the key in a step's `seconds` of the
 * phase's model passes; null if it has none */
const PHASES = [
  ["guess", "guess", "draft"],
  ["check", "check", "verify"],
  ["walk", "walk", null],
  ["result", "result", null],
];

/** The buttons, and the caption above the tree with the time beside it. */
export class PhaseBar {
  /**
   * @param {StepMotion} motion
   * @param {Element} host to which the buttons are appended
   * @param {Element} above to which the caption and the time are appended
   */
  constructor(motion, host, above) {
    this.motion = motion;
    this.root = el("div", { class: "sq-phases sq-wrap", "data-part": "phases" }, host);
    const look = { class: "sq-phase-tabs", role: "group", "aria-label": "Phases of the step" };
    const group = el("div", look, this.root);
    this.tabs = PHASES.map(([phase, label]) => {
      const act = () => this.motion.turnTo(phase);
      return button(group, { text: label, part: "phase-" + phase, act });
    });
    rove(group);
    const line = el("div", { class: "sq-caption-line" }, above);
    this.caption = el("p", { class: "sq-caption", "data-part": "caption" }, line);
    this.time = el("p", { class: "sq-dim", "data-part": "phase-time" }, line);
  }

  /** @param {string} source where the times come from, such as "measured" */
  paint(source) {
    const { step, shown } = this.motion;
    for (const part of [this.root, this.caption, this.time]) show(part, Boolean(step));
    if (!step) return;
    const phase = shown?.phase ?? "result";
    PHASES.forEach(([name], i) => {
      attr(this.tabs[i], "aria-pressed", String(name === phase));
      this.tabs[i].disabled = !hasPhase(step, name);
    });
    const { seconds } = step.step;
    text(this.time, seconds ? this.times(seconds, phase, source) : "");
    text(this.caption, shown ? shown.words : result(step));
  }

  // The time that a phase took, in words. For "walk", it is the time outside both models. For
  // "result", it is the time of the whole step.
  times(seconds, phase, source) {
    const key = PHASES.find(([name]) => name === phase)[2];
    const { draft = 0, verify = 0, overhead = 0 } = seconds;
    const time = { guess: draft, check: verify, walk: overhead, result: draft + verify + overhead };
    const what = { draft: "drafting", verify: "the verify pass" }[key];
    const name = what ?? (phase === "walk" ? "everything outside both models" : "the step");
    const pace = this.motion.picture === null ? "" : "; shown " + this.motion.pace;
    return `${name} took ${sourced(ms(time[phase]), source)}${pace}`;
  }
}
