/* A lane's text. Its style shows which tokens come from the draft and which from the target. The
   elements of a step are made once, and then only shown or hidden. */
import { el, show, text } from "../../shared/web/dom.js";
import { readable } from "../../shared/web/format.js";
import { draftedOf } from "../../shared/web/step_view.js";
import { addTerm } from "../../shared/web/tooltips.js";

/** @typedef {import("../../run/web/lane_run.js").LaneRun} LaneRun */
/** @typedef {import("../../shared/web/step_view.js").Step} Step */

/** The text box of a lane. */
export class LaneText {
  /**
   * @param {HTMLElement} host
   * @param {string} name of the lane
   */
  constructor(host, name) {
    // The box has flex-direction: column-reverse, so it stays scrolled to its end as text grows.
    // Scrolling by script would cost a layout.
    const label = "Text of " + name;
    const attributes = { tabindex: "0", role: "region", "aria-label": label };
    this.box = el("div", { class: "sq-text-box race-text", ...attributes }, host);
    const page = el("div", { class: "race-page" }, this.box);
    this.flow = el("span", { "data-part": "flow" }, page);
    this.end = el("span", { class: "sq-end" }, page);
    const foot = el("p", { class: "race-loops" }, host);
    this.loops = addTerm(foot, "", "repeats", "sq-loops");
    this.shown = 0;
  }

  /**
   * @param {LaneRun} lane
   * @param {number} count how many of the lane's steps to show
   * @param {string} ending why the lane ended; empty while steps are still to come
   * @param {string} loops in words, how much of the text is repeated
   */
  paint(lane, count, ending, loops) {
    const all = /** @type {HTMLCollectionOf<HTMLElement>} */ (this.flow.children);
    for (let i = all.length; i < count; i++) this.append(lane.steps[i]);
    const last = Math.max(count, this.shown);
    for (let i = Math.min(count, this.shown); i < last; i++) all[i].hidden = i >= count;
    this.shown = count;
    text(this.end, ending);
    show(this.loops, Boolean(loops));
    text(this.loops, loops);
  }

  /** @param {Step} step */
  append(step) {
    const { text: pieces } = step;
    const drafted = draftedOf(step);
    const group = el("span", { class: "race-step" }, this.flow);
    this.part(group, pieces.slice(0, drafted), "sq-tok-draft");
    this.part(group, pieces.slice(drafted), "sq-tok-own");
  }

  /**
   * Append tokens that all come from the draft, or all from the target. Leading spaces are not
   * underlined. Text that is only white space is underlined as a whole.
   * @param {HTMLElement} group
   * @param {string[]} pieces
   * @param {string} cls
   */
  part(group, pieces, cls) {
    const whole = pieces.join("");
    const rest = whole.trimStart() ? whole.replace(/^ +/, "") : whole;
    if (!whole) return;
    group.append(whole.slice(0, whole.length - rest.length));
    el("span", { class: "sq-tok " + cls, text: readable(rest).replaceAll("⏎", "⏎\n") }, group);
  }
}
