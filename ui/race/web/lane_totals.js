/* The figures of a race at time t: totals of the steps of a lane (one decoder on one prompt), and
   its speed-up so far. t is in seconds of decode time, counted for each lane separately. Intervals
   and places come from the server, with the verdict. Independent of the DOM and of the state of the
   page. */
import { Repeats } from "../../shared/web/repeats.js";
import { draftedOf } from "../../shared/web/step_view.js";

/** @typedef {import("./race_store.js").Lane} Lane */
/** @typedef {import("../../shared/web/step_view.js").Step} Step */
/**
 * Totals of a lane after some of its steps. `drafted`: how many of its tokens are from the draft.
 * `nodes`: summed over the trees of the steps. `grams`: the number of 8-grams in its text.
 * `repeats`: how many of these also occur earlier in the text. `seconds`: its decode time, the sum
 * of `draft`, `verify` and `overhead`.
 * @typedef {{steps: number, tokens: number, grams: number, repeats: number, drafted: number,
 *   nodes: number, seconds: number, draft: number, verify: number, overhead: number}} Sum
 * @typedef {import("../../shared/web/schema.js").LanePlace} Place
 */

/** @type {Readonly<Sum>} */
const START = Object.freeze({
  steps: 0,
  tokens: 0,
  grams: 0,
  repeats: 0,
  drafted: 0,
  nodes: 0,
  seconds: 0,
  draft: 0,
  verify: 0,
  overhead: 0,
});

/**
 * How many leading items of `list` have `of(item) <= bound`; `of` never decreases along the list.
 * @template T
 * @param {T[]} list
 * @param {number} bound
 * @param {(item: T) => number} of
 * @returns {number}
 */
function upTo(list, bound, of) {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (of(list[middle]) <= bound) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** One lane's steps. `sums[k]`: the totals after k steps. */
export class LaneTotals {
  constructor() {
    /** @type {Step[]} */
    this.steps = [];
    /** @type {Sum[]} */
    this.sums = [START];
    this.eights = new Repeats();
    this.largest = 0; // nodes of the largest tree so far
    // The index of the largest tree in the race's `trees`. The latest tree may be smaller, even in
    // a lane with a fixed tree: a step cuts the tree if it needs fewer levels.
    this.largestTree = -1;
  }

  /**
   * @param {Step} step
   * @param {number} nodes number of nodes of the step's tree
   */
  add(step, nodes) {
    const last = this.sums[this.steps.length];
    const { text } = step;
    const { draft, verify, overhead } = step.seconds;
    this.steps.push(step);
    if (nodes > this.largest) this.largestTree = step.tree;
    this.largest = Math.max(this.largest, nodes);
    this.sums.push({
      ...this.eights.add(text),
      steps: last.steps + 1,
      tokens: last.tokens + text.length,
      drafted: last.drafted + draftedOf(step),
      nodes: last.nodes + nodes,
      seconds: last.seconds + draft + verify + overhead,
      draft: last.draft + draft,
      verify: last.verify + verify,
      overhead: last.overhead + overhead,
    });
  }

  /** The lane's decode time so far, in seconds. */
  get clock() {
    return this.sums.at(-1).seconds;
  }
  /** Why the lane ended. Null while it runs, or if it was stopped. */
  get finish() {
    return this.steps.at(-1)?.finish ?? null;
  }

  /** Index of the step that emitted the most tokens; the first one, if several did. */
  get best() {
    const counts = this.steps.map(({ text }) => text.length);
    return counts.indexOf(Math.max(...counts));
  }

  /**
   * The number of steps that have ended by t.
   * @param {number} t
   * @returns {number}
   */
  count(t) {
    return upTo(this.sums, t, (sum) => sum.seconds) - 1;
  }
  /**
   * @param {number} t
   * @returns {Sum}
   */
  at(t) {
    return t < 0 ? START : this.sums[this.count(t)];
  }
}

const rate = (sum) => sum.tokens / sum.seconds;

/**
 * The ratio of tokens per second, `lane` over `other`, from the steps that have ended by t. NaN
 * while no step of `lane`, or none of `other`, has ended.
 * @param {LaneTotals} lane
 * @param {LaneTotals} other
 * @param {number} t
 * @returns {number}
 */
export const speedRatio = (lane, other, t) => rate(lane.at(t)) / rate(other.at(t));

/**
 * Index of the lane that `lane` is compared with at t, which may be `lane` itself. It is the plain
 * lane on the same prompt. If that prompt has no plain lane, it is the slowest lane on the prompt
 * so far, or -1 while no lane on the prompt has made a step.
 * @param {Lane[]} lanes
 * @param {LaneTotals[]} totals
 * @param {number} t
 * @param {number} [lane] index of the lane
 * @returns {number}
 */
export function referenceLane(lanes, totals, t, lane = 0) {
  const beside = lanesByPrompt(lanes).find((group) => group.includes(lane)) ?? [];
  const plain = beside.find((i) => lanes[i].plain);
  if (plain !== undefined) return plain;
  const moved = beside.filter((i) => totals[i].at(t).tokens);
  const slowest = Math.min(...moved.map((i) => rate(totals[i].at(t))));
  return moved.find((i) => rate(totals[i].at(t)) === slowest) ?? -1;
}

/**
 * For each prompt, the indexes of its lanes.
 * @param {Lane[]} lanes
 * @returns {number[][]}
 */
export function lanesByPrompt(lanes) {
  const names = new Set(lanes.map((lane) => lane.prompt_name ?? ""));
  return [...names].map((name) =>
    [...lanes.keys()].filter((i) => (lanes[i].prompt_name ?? "") === name),
  );
}

/**
 * Index of the lane with the most tokens at t. If several lanes have the most, the one that reached
 * this number first. -1 while no lane has made a step.
 * @param {LaneTotals[]} totals
 * @param {number} t
 * @param {boolean} [isOver] whether all lanes have ended; the fastest leads then, as a text may be
 *   shorter than the others
 * @returns {number}
 */
export function leadingLane(totals, t, isOver = false) {
  const sums = totals.map((total) => total.at(t));
  const isAhead = (one, other) =>
    isOver
      ? one.tokens / one.seconds > other.tokens / other.seconds
      : one.tokens > other.tokens || (one.tokens === other.tokens && one.seconds < other.seconds);
  let leader = -1;
  sums.forEach((sum, i) => {
    if (sum.tokens && (leader < 0 || isAhead(sum, sums[leader]))) leader = i;
  });
  return leader;
}

/**
 * The place of a lane in words: "1st", "tied for 1st", "2nd or 3rd"; "" if it has none. A lane is
 * "2nd or 3rd" if two lanes share the first place and it is clearly slower than only one of them.
 * @param {number} lane its index
 * @param {Lane[]} lanes
 * @param {(Place | null)[]} places of all lanes
 * @returns {string}
 */
export function placeInWords(lane, lanes, places) {
  if (!places[lane]) return "";
  const { place, tied } = places[lane];
  if (tied) return `tied for ${ordinal(place)}`;
  const beside = lanesByPrompt(lanes).find((group) => group.includes(lane)) ?? [];
  const last = 1 + beside.filter((i) => (places[i]?.place ?? place) < place).length;
  if (last <= place) return ordinal(place);
  return `${ordinal(place)} ${last - place > 1 ? "to" : "or"} ${ordinal(last)}`;
}

/** @type {(n: number) => string} */
const ordinal = (n) => n + (["th", "st", "nd", "rd"][n] || "th");
