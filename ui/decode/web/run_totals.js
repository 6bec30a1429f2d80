/* What is counted of a run: totals at the end of each of its steps, how often each slot (a position
   in a tree) was accepted, and when plain decoding emitted its tokens. Independent of the DOM. */
import { draftedOf, secondsOf } from "../../shared/web/step_view.js";

/**
 * @import { Meta } from "../../shared/web/run_facts.js"
 * @import { Step } from "../../shared/web/step_view.js"
 * @import { Topology } from "../../shared/web/tree_layout.js"
 */

/**
 * Sums over the steps up to a certain one.
 * @typedef {object} Sums
 * @property {number} steps how many steps arrived
 * @property {number} tokens how many tokens were emitted
 * @property {number} seconds
 * @property {number} nodes how many nodes were accepted, roots not counted
 * @property {number} proposed how many nodes the trees had, roots not counted
 * @property {number} drafted how many emitted tokens are from the draft: fewer than `nodes` if the
 *   run ended inside an accepted path
 * @property {number} most the most tokens that one step emitted
 */

/**
 * Totals up to a step: the sums, and ratios of them, which are NaN where they are undefined.
 * @typedef {object} Ratios
 * @property {number} tokensPerStep
 * @property {number} tokensPerSecond
 * @property {number} draftShare
 * @property {number} acceptedPerStep
 * @property {number} proposedPerStep
 * @property {boolean} whole whether these are the totals of all steps received so far
 * @typedef {Sums & Ratios} Totals
 */

/** @type {Readonly<Sums>} */
const NOTHING = Object.freeze({
  steps: 0,
  tokens: 0,
  seconds: 0,
  nodes: 0,
  proposed: 0,
  drafted: 0,
  most: 0,
});

/** The sums up to each step. */
export class RunTotals {
  /** @type {Sums[]} */
  sums = [];

  /** @param {Step} step the next one */
  add(step) {
    this.sums.push(plus(this.sums.at(-1) ?? NOTHING, step));
  }

  /**
   * Time on the run's own clock at the end of step `i`; 0 before the first step.
   * @param {number} i
   * @returns {number} seconds
   */
  seconds(i) {
    return this.sums[i]?.seconds || 0;
  }

  /**
   * @param {number} time on the run's own clock, in seconds
   * @returns {number} index of the step in progress at that time; -1 after the last
   */
  stepAt(time) {
    return this.sums.findIndex(({ seconds }) => seconds >= time);
  }

  /**
   * Totals at the end of step `i`.
   * @param {number} i
   * @returns {Totals}
   */
  upTo(i) {
    const sum = this.sums[i] || NOTHING;
    const { steps, tokens, seconds } = sum;
    return {
      ...sum,
      tokensPerStep: ratio(tokens, steps),
      tokensPerSecond: ratio(tokens, seconds),
      draftShare: ratio(sum.drafted, tokens),
      acceptedPerStep: ratio(sum.nodes, steps),
      proposedPerStep: ratio(sum.proposed, steps),
      whole: i === this.sums.length - 1,
    };
  }
}

const ratio = (a, b) => (b ? a / b : NaN);

/** @type {(sums: Sums, step: Step) => Sums} */
const plus = (sums, step) => ({
  steps: sums.steps + 1,
  tokens: sums.tokens + step.emitted.length,
  seconds: sums.seconds + secondsOf(step),
  nodes: sums.nodes + step.verdict.path.length - 1,
  proposed: sums.proposed + step.tokens.length - 1,
  drafted: sums.drafted + draftedOf(step),
  most: Math.max(sums.most, step.emitted.length),
});

/** The counts of one run. */
export class SlotCounts {
  /** @type {Uint32Array[]} by tree, then by node: in how many steps it was accepted */
  accepted = [];
  /** @type {number[]} by tree: how many steps had it */
  seen = [];

  /**
   * @param {Step} step
   * @param {Topology} topo its tree
   */
  add(step, topo) {
    const slots = (this.accepted[step.tree] ||= new Uint32Array(topo.n));
    for (const node of step.verdict.path) slots[node]++;
    this.seen[step.tree] = (this.seen[step.tree] || 0) + 1;
  }

  /**
   * In how many steps a slot was accepted.
   * @param {number} tree
   * @param {number} node
   * @returns {[number, number]} the number of steps that accepted it, and of steps with this tree
   */
  counts(tree, node) {
    return [this.accepted[tree]?.[node] ?? 0, this.seen[tree] ?? 0];
  }

  /**
   * How often a slot was accepted.
   * @param {number} tree
   * @param {number} node
   * @returns {number} the share of the steps with this tree, 0 to 1
   */
  share(tree, node) {
    const [accepted, seen] = this.counts(tree, node);
    return seen ? accepted / seen : 0;
  }
}

const CLOSE = 1e-9; // seconds; times that differ by less count as equal

/** When plain decoding emitted each of its tokens. */
export class PlainClock {
  /** @type {Meta | null} the meta from which `#ends` was computed */
  #meta = null;
  /** @type {number[]} the cached value of `ends` */
  #ends = [];

  /** @param {{meta: Meta}} store */
  constructor(store) {
    this.store = store;
  }

  /**
   * @returns {number[]} seconds from the start of plain decoding to each of its tokens; empty if
   *   the times of its tokens are not known
   */
  get ends() {
    const { meta } = this.store;
    if (this.#meta !== meta) this.#ends = runningSums(meta.plain?.seconds ?? []);
    this.#meta = meta;
    return this.#ends;
  }

  /**
   * How many tokens plain decoding has emitted by a moment.
   * @param {number} time seconds from the start of plain decoding
   * @returns {number}
   */
  tokens(time) {
    const found = this.ends.findIndex((end) => end > time + CLOSE);
    return found < 0 ? this.ends.length : found;
  }
}

function runningSums(values) {
  let sum = 0;
  return values.map((value) => {
    sum += value;
    return sum;
  });
}
