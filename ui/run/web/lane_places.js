/* How the lanes of a run compare at a moment, in seconds of decode time, counted for each lane
   separately. Intervals and places come from the server, with the verdict. Independent of the
   DOM. */

/**
 * @import { LaneRun } from "./lane_run.js"
 * @import { RunStore } from "./run_store.js"
 * @typedef {import("../../shared/web/schema.js").LanePlace} Place
 */

const rate = (sum) => sum.tokens / sum.seconds;

/**
 * The ratio of tokens per second, `lane` over `other`, from the steps that have ended by t. NaN
 * while no step of `lane`, or none of `other`, has ended.
 * @param {LaneRun} lane
 * @param {LaneRun} other
 * @param {number} t
 * @returns {number}
 */
export const speedRatio = (lane, other, t) => rate(lane.sumAt(t)) / rate(other.sumAt(t));

/**
 * Index of the lane that `lane` is compared with at t, which may be `lane` itself. It is the plain
 * lane on the same prompt. If that prompt has no plain lane, it is the slowest lane on the prompt
 * so far, or -1 while no lane on the prompt has made a step.
 * @param {LaneRun[]} lanes
 * @param {number} t
 * @param {number} [lane] index of the lane
 * @returns {number}
 */
export function referenceLane(lanes, t, lane = 0) {
  const beside = lanesByPrompt(lanes).find((group) => group.includes(lane)) ?? [];
  const plain = beside.find((i) => lanes[i].about.plain);
  if (plain !== undefined) return plain;
  const moved = beside.filter((i) => lanes[i].sumAt(t).tokens);
  const slowest = Math.min(...moved.map((i) => rate(lanes[i].sumAt(t))));
  return moved.find((i) => rate(lanes[i].sumAt(t)) === slowest) ?? -1;
}

/**
 * For each prompt, the indexes of its lanes.
 * @param {LaneRun[]} lanes
 * @returns {number[][]}
 */
export function lanesByPrompt(lanes) {
  const names = new Set(lanes.map(({ about }) => about.prompt_name ?? ""));
  return [...names].map((name) =>
    [...lanes.keys()].filter((i) => (lanes[i].about.prompt_name ?? "") === name),
  );
}

/**
 * The lane that a lane is compared with: as in the verdict, or while there is none, as the lanes
 * stand at the time shown.
 * @param {RunStore} store
 * @param {number} lane its index
 * @returns {number} its index, which may be `lane` itself; -1 if there is none
 */
export function baseOf({ verdict, lanes, time }, lane) {
  if (!verdict) return referenceLane(lanes, time, lane);
  return verdict.speedups[lane]?.over ?? lane;
}

/**
 * The finish line: the token limit, or if that is not known, the most tokens of any lane.
 * @param {RunStore} store
 * @returns {number}
 */
export function goalOf({ meta, lanes }) {
  const most = meta.params?.max_new_tokens;
  return most > 0 ? most : Math.max(...lanes.map(({ sums }) => sums.at(-1).tokens), 1);
}

/**
 * The place of a lane in words: "1st", "tied for 1st", "2nd or 3rd"; "" if it has none. A lane is
 * "2nd or 3rd" if two lanes share the first place and it is clearly slower than only one of them.
 * @param {number} lane its index
 * @param {LaneRun[]} lanes
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
