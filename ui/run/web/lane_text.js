/* A lane's text. The style of each token shows which model it came from. The elements of a step are
   made once, and then only shown or hidden. */
import { writePrompt, writeToken } from "./written_text.js";
import { el, scrollBox, tell, text } from "../../shared/web/dom.js";
import { addTerm } from "../../shared/web/tooltips.js";

/**
 * @import { LaneRun } from "./lane_run.js"
 * @import { NodeId } from "../../shared/web/tree_layout.js"
 * @import { RunStore } from "./run_store.js"
 */

/** The text box of a lane. */
export class LaneText {
  shown = 0; // how many steps
  /** @type {Element[]} the elements that are marked as the step shown and as the selected node */
  marked = [];

  /**
   * @param {RunStore} store
   * @param {LaneRun} lane
   * @param {HTMLElement} host
   */
  constructor(store, lane, host) {
    this.store = store;
    this.lane = lane;
    // The box has flex-direction: column-reverse, so it stays scrolled to its end as text grows.
    // Scrolling by script would cost a layout.
    this.box = scrollBox(host, "Text of " + lane.title, { class: "sq-text-box" });
    const page = el("div", { class: "run-page" }, this.box);
    writePrompt(el("span", { class: "sq-prompt" }, page), store, lane);
    this.flow = el("span", { "data-part": "flow" }, page);
    this.end = el("span", { class: "sq-end", "data-part": "end" }, page);
    this.loops = addTerm(page, "", "repeats", "sq-loops");
    this.box.addEventListener("click", (event) => this.click(event));
    this.box.addEventListener("pointerover", (event) => this.over(event));
    this.box.addEventListener("pointerleave", () => this.over(null));
  }

  /**
   * @param {number} count how many of the lane's steps to show
   * @param {string} ending why the lane ended; empty while steps are still to come
   * @param {string} loops in words, how much of the text is repeated
   */
  paint(count, ending, loops) {
    const all = /** @type {HTMLCollectionOf<HTMLElement>} */ (this.flow.children);
    for (let i = all.length; i < count; i++) this.append(i);
    const last = Math.max(count, this.shown);
    for (let i = Math.min(count, this.shown); i < last; i++) all[i].hidden = i >= count;
    this.shown = count;
    text(this.end, ending);
    tell(this.loops, loops);
  }

  append(i) {
    const group = el("span", { class: "run-step", "data-step": i }, this.flow);
    const step = this.lane.steps[i];
    step.emitted.forEach((_id, k) => writeToken(group, k, step));
  }

  /** In the chosen lane, mark the step shown and the token of the selected node. */
  mark() {
    const { store, lane } = this;
    const view = lane === store.lane && store.written >= store.at ? store.view() : null;
    const group = view && this.flow.children[store.at];
    const { selected } = store;
    const isBonus = selected === "bonus";
    const k = view && (isBonus ? view.step.emitted.length : view.path.indexOf(selected)) - 1;
    const token = group && k >= 0 ? group.querySelector(`[data-k="${k}"]`) : null;
    const marked = [group, token];
    if (marked.every((node, i) => node === this.marked[i])) return;
    ["sq-now", "sq-linked"].forEach((cls, i) => {
      this.marked[i]?.classList.remove(cls);
      marked[i]?.classList.add(cls);
    });
    this.marked = marked;
  }

  /** @type {(event: any) => {i: number, node: NodeId} | null} step and node of the event's token */
  place(event) {
    const token = event?.target.closest?.(".sq-tok");
    const group = token?.closest(".run-step");
    if (!group) return null;
    const i = Number(group.dataset.step);
    const { path } = this.lane.steps[i].verdict;
    return { i, node: path[Number(token.dataset.k) + 1] ?? "bonus" };
  }

  click(event) {
    const { store, lane } = this;
    const place = this.place(event);
    if (!place || String(window.getSelection())) return;
    store.choose(lane.index);
    store.seek(place.i, { pin: place.node });
  }

  over(event) {
    const { store, lane } = this;
    const place = lane === store.lane ? this.place(event) : null;
    const node = place?.i === store.at ? place.node : null;
    if (store.hover !== node) store.set({ hover: node });
  }
}
