/* The pace (tokens per second) of the leading lane, divided by that of each lane that is compared
   with it. Each ratio has a confidence interval and, if there are several runs, one dot per run.
   All are on one axis. */
import { onlySpeedup } from "./headline.js";
import { lanesByPrompt } from "./lane_places.js";
import { laneStyles } from "./lane_style.js";
import { el, pool, show, text } from "../../shared/web/dom.js";
import { known } from "../../shared/web/format.js";
import { IntervalBar, axisEnds } from "../../shared/web/interval_bar.js";
import { addTerm } from "../../shared/web/tooltips.js";
import { speedupWords } from "../../shared/web/verdict_words.js";

/**
 * @import { PairVerdict } from "../../shared/web/schema.js"
 * @import { RunStore } from "./run_store.js"
 * @import { Speedup } from "../../shared/web/verdict_words.js"
 */
/**
 * A lane that the leader is compared with. `ratio`: the leader's pace over that of this lane, with
 * the interval `low` to `high`. `dots`: the ratio in each of several runs in which both made steps.
 * @typedef {Speedup & {lane: number, dots: number[]}} Compared
 * @typedef {ReturnType<typeof makeRow>} Row
 */

/** One row for each lane that is compared with the leader on its prompt. */
export class Intervals {
  /**
   * @param {RunStore} store
   * @param {HTMLElement} host
   */
  constructor(store, host) {
    this.store = store;
    /** @type {any} */
    this.shown = null;
    this.root = el("div", { class: "run-intervals", "data-part": "intervals" }, host);
    this.leader = el("p", { class: "sq-dim" }, this.root);
    const rows = el("div", { class: "run-intervals-rows" }, this.root);
    /** @type {HTMLElement} what the bars mean; the verdict puts it into its place */
    this.about = el("p", { "data-part": "intervals-key" });
    el("span", { text: "Bar: " }, this.about);
    addTerm(this.about, "95% CI", "pooled range");
    this.key = el("span", {}, this.about);
    this.rows = pool(() => makeRow(rows));
  }

  paint() {
    const { store } = this;
    const { verdict } = store;
    const only = onlySpeedup(store);
    show(this.root, Boolean(only) || verdict?.pairs.length > 0);
    if (!verdict || this.shown === verdict) return;
    this.shown = verdict;
    text(this.key, barsAndCircles(store) + " Dashed line: equal pace.");
    show(this.leader, !only);
    if (only) return this.paintOnly(only);
    this.paintLeader();
    const compared = this.compared();
    const ends = axisEnds(compared);
    const rows = this.rows.take(compared.length);
    compared.forEach((one, i) => this.paintRow(rows[i], one, ends));
  }

  // The headline has the ratio.
  /** @param {Speedup & {over: number}} speedup */
  paintOnly(speedup) {
    const { times, interval } = speedupWords(speedup);
    const [{ node, name, value, bar }] = this.rows.take(1);
    node.style.removeProperty("--lane");
    show(name, false);
    text(value, speedup.code === "no_clear_difference" ? `${times} (${interval})` : interval);
    bar.paint({ ...speedup, dots: this.dots(this.store.first, speedup.over) });
  }

  paintLeader() {
    const { lanes } = this.store;
    const [leader, other] = this.orders.map(([first]) => first);
    if (other !== undefined)
      text(this.leader, "Pace of the fastest lane on each prompt, relative to:");
    else if (leader !== undefined) text(this.leader, `Pace of ${lanes[leader].title} relative to:`);
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
    const { pairs } = this.store.verdict;
    return others.flatMap((lane) => {
      const pair = pairs.find((one) => isOf(one, leader) && isOf(one, lane));
      return pair ? [{ lane, ...towards(pair, leader), dots: this.dots(leader, lane) }] : [];
    });
  }

  /**
   * The ratio of the paces of two lanes in each run, if there are several.
   * @param {number} leader
   * @param {number} lane
   * @returns {number[]}
   */
  dots(leader, lane) {
    const { runs } = this.store.pool ?? { runs: [] };
    const dots = runs.map(({ seconds }) => seconds[lane] / seconds[leader]);
    return runs.length > 1 ? dots.filter((dot) => known(dot) && dot > 0) : [];
  }

  /**
   * @param {Row} row
   * @param {Compared} compared
   * @param {[number, number]} ends of the axis, as natural logarithms
   */
  paintRow({ node, name, value, bar }, compared, ends) {
    const { lanes } = this.store;
    const { lane } = compared;
    const { times, range } = speedupWords(compared);
    node.style.setProperty("--lane", laneStyles(lanes)[lane].colour);
    show(name, true);
    text(name, lanes[lane].title);
    const isUnclear = compared.code === "no_clear_difference";
    text(value, `${times} (${range})${isUnclear ? ": no clear difference" : ""}`);
    bar.paint(compared, ends);
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
  const node = el("div", { class: "run-interval" }, host);
  const name = el("span", { class: "run-interval-name" }, node);
  const bar = new IntervalBar(node);
  return { node, name, bar, value: el("b", { "data-part": "interval" }, node) };
}

/** @type {(pair: PairVerdict, lane: number) => boolean} */
const isOf = ({ faster, slower }, lane) => faster === lane || slower === lane;

/**
 * The leader's pace over that of the other lane of a pair, with the interval.
 * @param {PairVerdict} pair
 * @param {number} leader
 * @returns {Speedup}
 */
function towards({ faster, ratio, least, most, apart }, leader) {
  if (faster === leader)
    return { code: apart ? "win" : "no_clear_difference", ratio, low: least, high: most };
  const code = apart ? "slower" : "no_clear_difference";
  return { code, ratio: 1 / ratio, low: 1 / most, high: 1 / least };
}
