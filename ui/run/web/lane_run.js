/* What has arrived of one lane (one decoder on one prompt), and what is counted of it. Times are in
   seconds of the lane's own decode time. Independent of the DOM. */
import { readable } from "../../shared/web/format.js";
import { Repeats } from "../../shared/web/repeats.js";
import { draftedOf, viewStep } from "../../shared/web/step_view.js";
import { SlotCounts } from "./slot_counts.js";

/**
 * @import { LaneShown } from "../../shared/web/schema.js"
 * @import { Meta } from "../../shared/web/run_facts.js"
 * @import { Step, StepView } from "../../shared/web/step_view.js"
 * @import { Topology } from "../../shared/web/tree_layout.js"
 */

/**
 * Sums over the first steps of a lane.
 * @typedef {object} Sum
 * @property {number} steps how many steps these are
 * @property {number} tokens how many tokens they emitted
 * @property {number} drafted how many of these are from the draft: fewer than were
 *   accepted if the run ended inside an accepted path
 * @property {number} nodes how many nodes the trees had, roots counted
 * @property {number} seconds their decode time, the sum of `draft`, `verify` and `overhead`
 * @property {number} draft
 * @property {number} verify
 * @property {number} overhead
 * @property {number} grams the number of 8-grams in the text
 * @property {number} repeats how many of these also occur earlier in the text
 */

/** @type {Readonly<Sum>} */
const START = Object.freeze({
  steps: 0,
  tokens: 0,
  drafted: 0,
  nodes: 0,
  seconds: 0,
  draft: 0,
  verify: 0,
  overhead: 0,
  grams: 0,
  repeats: 0,
});
/** Kinds of lanes whose trees have no branches. */
export const CHAINS = ["chain", "tuned_chain"];
export const CLOSE = 1e-9; // seconds; times that differ by less count as equal
const VIEWS_KEPT = 200;

/** A lane. */
export class LaneRun {
  /** @type {Step[]} */
  steps = [];
  /** @type {Sum[]} by number of steps, from 0 */
  sums = [START];
  slots = new SlotCounts();
  /** The most nodes, rows and levels of any tree. A layout that uses them does not change when a
   * step has a smaller tree. */
  largest = { n: 0, rows: 1, levels: 1 };
  // Number of the largest tree. The latest may be smaller, even in a lane with a fixed tree: a step
  // cuts the tree if it needs fewer levels.
  largestTree = -1;
  #eights = new Repeats();
  /** @type {Map<number, StepView>} */
  #views = new Map();

  /**
   * @param {Partial<LaneShown>} [about] what the server says of it
   * @param {number} [index]
   */
  constructor(about = {}, index = 0) {
    this.about = about;
    this.index = index;
    const name = about.name || `Lane ${index + 1}`;
    /** The lane's name on the page. In a run of two prompts it includes that of its prompt. */
    this.title = readable([name, about.prompt_name].filter(Boolean).join(" on "));
  }

  /**
   * @param {Step} step the next one
   * @param {Topology} topo its tree
   */
  add(step, topo) {
    const { largest } = this;
    if (topo.n > largest.n) this.largestTree = step.tree;
    for (const name of Object.keys(largest)) largest[name] = Math.max(largest[name], topo[name]);
    this.sums.push({ ...plus(this.sum, step, topo.n), ...this.#eights.add(step.emitted) });
    this.slots.add(step, topo);
    this.steps.push(step);
  }

  /** Decode time so far. */
  get seconds() {
    return this.sum.seconds;
  }

  /** Why the lane ended; null while it runs, or if it was stopped. */
  get finish() {
    return this.steps.at(-1)?.finish ?? null;
  }

  /**
   * @param {number} i
   * @returns {number} time at the end of step `i`; 0 before the first step
   */
  until(i) {
    return this.sums[i + 1]?.seconds ?? 0;
  }

  /**
   * @param {number} time
   * @returns {number} how many steps have ended by then, which is also the index of the step in
   *   progress
   */
  count(time) {
    let low = 0;
    let high = this.steps.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.until(middle) <= time + CLOSE) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /**
   * Sums of the steps that have ended by a moment.
   * @param {number} time
   * @returns {Sum}
   */
  sumAt(time) {
    return this.sums[this.count(time)];
  }

  /** Sums of all steps so far. */
  get sum() {
    return this.sums.at(-1);
  }

  /**
   * Step `i` as the panels need it.
   * @param {number} i
   * @param {{trees: Topology[], pieces: Map<string, string>, meta: Meta}} store
   * @returns {StepView | null} null if there is no such step
   */
  view(i, { trees, pieces, meta }) {
    const step = this.steps[i];
    if (!step) return null;
    const views = this.#views;
    if (!views.has(i)) {
      if (views.size > VIEWS_KEPT) views.clear();
      views.set(i, viewStep(step, trees[step.tree], pieces, { ...meta, ...this.about }));
    }
    return views.get(i);
  }
}

/** @type {(sum: Sum, step: Step, nodes: number) => Omit<Sum, "grams" | "repeats">} */
function plus(sum, step, nodes) {
  const { draft = 0, verify = 0, overhead = 0 } = step.seconds ?? {};
  const tokens = step.emitted.length;
  return {
    steps: sum.steps + 1,
    tokens: sum.tokens + tokens,
    drafted: sum.drafted + draftedOf(step),
    nodes: sum.nodes + nodes,
    seconds: sum.seconds + draft + verify + overhead,
    draft: sum.draft + draft,
    verify: sum.verify + verify,
    overhead: sum.overhead + overhead,
  };
}
