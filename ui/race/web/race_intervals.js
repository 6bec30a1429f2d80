/* The pace (tokens per second) of the leading lane, divided by that of each lane that is compared
   with it. Each ratio has a confidence interval and, if there are several runs, one dot per run.
   All are on one axis. */
import { laneStyles } from "../../run/web/lane_style.js";
import { lanesByPrompt } from "./lane_places.js";
import { el, pool, show, text } from "../../shared/web/dom.js";
import { known } from "../../shared/web/format.js";
import { IntervalBar, axisEnds } from "../../shared/web/interval_bar.js";
import { addTerm } from "../../shared/web/tooltips.js";
import { speedupWords } from "../../shared/web/verdict_words.js";

/** @typedef {import("../../run/web/run_store.js").RunStore} RunStore */
/**
 * A lane that the leader is compared with. `ratio`: the leader's pace over that of this lane, with
 * the interval `low` to `high`. `dots`: the ratio in each of several runs in which both made steps.
 * @typedef {{lane: number, code: import("../../shared/web/verdict_words.js").Code, ratio: number,
 *   low: number, high: number, dots: number[]}} Compared
 * @typedef {ReturnType<typeof makeRow>} Row
 */

/** One row for each lane that is compared with the leader on its prompt. */
export class RaceIntervals {
  /**
   * @param {RunStore} store
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
    const { verdict, lanes } = this.store;
    show(this.root, verdict.pairs.length > 0);
    if (this.shown === verdict) return;
    this.shown = verdict;
    const compared = this.compared();
    const [leader, other] = this.orders.map(([first]) => first);
    if (other !== undefined)
      text(this.leader, "Pace of the fastest lane on each prompt, relative to:");
    else if (leader !== undefined) text(this.leader, `Pace of ${lanes[leader].title} relative to:`);
    text(this.key, barsAndCircles(this.store) + " Dashed line: equal pace.");
    const ends = axisEnds(compared);
    const rows = this.rows.take(compared.length);
    compared.forEach((one, i) => this.paintRow(rows[i], one, ends));
  }

  /** For each prompt, the indexes of its lanes that are long enough to compare, fastest first. */
  get orders() {
    const { verdict, lanes } = this.store;
    const isPaired = (lane) => verdict.pairs.some((pair) => isOf(pair, lane));
    const order = verdict.order.filter(isPaired);
    return lanesByPrompt(lanes).map((group) => order.filter((lane) => group.includes(lane)));
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
      const pair = verdict.pairs.find((one) => isOf(one, leader) && isOf(one, lane));
      if (!pair) return [];
      const runs = pooled && pooled.runs.length > 1 ? pooled.runs : [];
      const dots = runs.map(({ seconds }) => seconds[lane] / seconds[leader]);
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
  paintRow(row, compared, ends) {
    const { lanes } = this.store;
    const { lane } = compared;
    const { times, range } = speedupWords(compared);
    row.node.style.setProperty("--race-lane", laneStyles(lanes)[lane].colour);
    text(row.name, lanes[lane].title);
    const isUnclear = compared.code === "no_clear_difference";
    text(row.value, `${times} (${range})${isUnclear ? ": no clear difference" : ""}`);
    row.bar.paint(compared, ends);
  }
}

// The words that explain the bars and circles. If two lanes wrote different texts in every run, and
// it is known how many steps each is expected to need, their bar is for the expected ratio.
function barsAndCircles({ verdict, pool: pooled }) {
  const isExpected = verdict.pairs.some(({ expected }) => expected);
  const bar = isExpected
    ? " of the expected ratio of paces, without the luck of the draws."
    : " of the ratio of paces.";
  return bar + (pooled?.runs.length > 1 ? " Circles: the actual ratio in each run." : "");
}

function makeRow(host) {
  const node = el("div", { class: "race-interval" }, host);
  const name = el("span", { class: "race-interval-name" }, node);
  const bar = new IntervalBar(node);
  return { node, name, bar, value: el("b", {}, node) };
}

/** @type {(pair: import("../../shared/web/schema.js").PairVerdict, lane: number) => boolean} */
const isOf = ({ faster, slower }, lane) => faster === lane || slower === lane;

/**
 * The leader's pace over that of the other lane of a pair, with the interval.
 * @param {import("../../shared/web/schema.js").PairVerdict} pair
 * @param {number} leader
 * @returns {Omit<Compared, "lane" | "dots">}
 */
function towards({ faster, ratio, least, most, apart }, leader) {
  if (faster === leader)
    return { code: apart ? "win" : "no_clear_difference", ratio, low: least, high: most };
  const code = apart ? "slower" : "no_clear_difference";
  return { code, ratio: 1 / ratio, low: 1 / most, high: 1 / least };
}
