/* The pace (tokens per second) of the leading lane, divided by that of each lane that is compared
   with it. Each ratio has a 95% confidence interval and one dot per run. All are on one axis. Shown
   once further runs of the race have begun. */
import { laneName } from "./lane.js";
import { laneStyles } from "./lane_style.js";
import { lanesByPrompt } from "./lane_totals.js";
import { el, pool, show, text } from "../../shared/web/dom.js";
import { known, readable } from "../../shared/web/format.js";
import { addTerm } from "../../shared/web/tooltips.js";

/** @typedef {import("./race_store.js").RaceStore} RaceStore */
/**
 * A lane that the leader is compared with. `ratio`: the leader's pace over that of this lane, with
 * the interval `least` to `most`. `dots`: the ratio in each run in which both made steps.
 * @typedef {{lane: number, ratio: number, least: number, most: number, dots: number[]}} Compared
 * @typedef {ReturnType<typeof makeRow>} Row
 */

const LEAST_REACH = Math.log(1.1); // the axis goes at least this far on either side of 1

/** One row for each lane that is compared with the leader on its prompt. */
export class RaceIntervals {
  /**
   * @param {RaceStore} store
   * @param {HTMLElement} host
   */
  constructor(store, host) {
    this.store = store;
    /** @type {any} */
    this.shown = null;
    this.root = el("div", { class: "race-intervals", "data-part": "intervals" }, host);
    const head = el("p", { class: "race-intervals-head" }, this.root);
    this.leader = el("span", {}, head);
    const rows = el("div", { class: "race-intervals-rows" }, this.root);
    const key = el("p", { class: "race-intervals-key" }, this.root);
    el("span", { text: "Bar: " }, key);
    addTerm(key, "95% CI", "pooled range");
    this.key = el("span", {}, key);
    this.rows = pool(() => makeRow(rows));
  }

  paint() {
    const { pool: pooled, lanes } = this.store;
    const some = Boolean(pooled) && (pooled.runs.length > 1 || pooled.planned !== null);
    show(this.root, some);
    if (!some || this.shown === pooled) return;
    this.shown = pooled;
    const compared = this.compared();
    const [leader, other] = this.orders.map(([first]) => first);
    if (other !== undefined)
      text(this.leader, "Pace of the fastest lane on each prompt, relative to:");
    else if (leader !== undefined)
      text(this.leader, `Pace of ${laneName(lanes[leader], leader)} relative to:`);
    text(this.key, barsAndCircles(this.store.verdict.pairs) + " Dashed line: equal pace.");
    const ends = axisEnds(compared);
    const rows = this.rows.take(compared.length);
    compared.forEach((one, i) => this.paintRow(rows[i], one, ends));
  }

  /** For each prompt, the indexes of its lanes that made steps, fastest first. */
  get orders() {
    const { verdict, lanes } = this.store;
    const groups = lanesByPrompt(lanes);
    return groups.map((group) => verdict.order.filter((lane) => group.includes(lane)));
  }

  /** @returns {Compared[]} */
  compared() {
    return this.orders.flatMap(([leader, ...others]) => this.comparedWith(leader, others));
  }

  /**
   * @param {number} leader
   * @param {number[]} others
   * @returns {Compared[]}
   */
  comparedWith(leader, others) {
    const { verdict, pool: pooled } = this.store;
    return others.flatMap((lane) => {
      const pair = verdict.pairs.find(({ faster, slower }) => isPair(faster, slower, leader, lane));
      if (!pair) return [];
      const dots = pooled.runs.map(({ seconds }) => seconds[lane] / seconds[leader]);
      return [
        { lane, ...towards(pair, leader), dots: dots.filter((dot) => known(dot) && dot > 0) },
      ];
    });
  }

  /**
   * @param {Row} row
   * @param {Compared} compared
   * @param {[number, number]} ends of the axis, as natural logarithms
   */
  paintRow(row, { lane, ratio, least, most, dots }, ends) {
    const { lanes } = this.store;
    const at = (value) => `${(100 * (Math.log(value) - ends[0])) / (ends[1] - ends[0])}%`;
    row.node.style.setProperty("--race-lane", laneStyles(lanes)[lane].colour);
    text(row.name, laneName(lanes[lane], lane));
    text(row.value, readable(`${ratio.toFixed(2)}× (${least.toFixed(2)}–${most.toFixed(2)})`));
    row.one.style.left = at(1);
    row.range.style.left = at(least);
    row.range.style.right = `calc(100% - ${at(most)})`;
    row.middle.style.left = at(ratio);
    const made = row.dots.take(dots.length);
    dots.forEach((dot, i) => (made[i].style.left = at(dot)));
  }
}

// The words that explain the bars and circles. If the two lanes wrote different texts in every run,
// and it is known how many steps each is expected to need, the bar is for the expected ratio.
// Otherwise it is for the measured ratio.
function barsAndCircles(pairs) {
  if (!pairs.some(({ expected }) => expected)) return ". Circles: single runs.";
  const where = pairs.every(({ expected }) => expected) ? "" : ", where it can be computed";
  return ` of the expected ratio of paces${where}. Circles: the actual ratio in each run. Unlike the expected ratio, it depends on which tokens were drawn, so circles may lie outside the bar.`;
}

function makeRow(host) {
  const node = el("div", { class: "race-interval" }, host);
  const name = el("span", { class: "race-interval-name" }, node);
  const track = el("span", { class: "race-interval-track", "aria-hidden": "true" }, node);
  const one = el("i", { class: "race-interval-one" }, track);
  const range = el("i", { class: "race-interval-range" }, track);
  const middle = el("i", { class: "race-interval-middle" }, track);
  const dots = pool(() => el("i", { class: "race-interval-dot" }, track));
  const value = el("b", {}, node);
  return { node, name, one, dots, range, middle, value };
}

const isPair = (faster, slower, one, other) =>
  (faster === one && slower === other) || (faster === other && slower === one);

/**
 * The leader's pace over that of the other lane of a pair, with the interval.
 * @param {import("./race_store.js").Pair} pair
 * @param {number} leader
 * @returns {{ratio: number, least: number, most: number}}
 */
function towards({ faster, ratio, least, most }, leader) {
  if (faster === leader) return { ratio, least, most };
  return { ratio: 1 / ratio, least: 1 / most, most: 1 / least };
}

/**
 * The ends of the axis, which includes 1 and all intervals and dots.
 * @param {Compared[]} compared
 * @returns {[number, number]} as natural logarithms
 */
function axisEnds(compared) {
  const values = compared.flatMap(({ least, most, dots }) => [least, most, ...dots]);
  const logs = values.filter((value) => value > 0).map(Math.log);
  const low = Math.min(-LEAST_REACH, ...logs);
  const high = Math.max(LEAST_REACH, ...logs);
  const edge = (high - low) * 0.03;
  return [low - edge, high + edge];
}
