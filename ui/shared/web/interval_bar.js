/* A ratio with its confidence interval as a bar on a logarithmic axis. A dashed line marks 1. */
import { el, pool, show } from "./dom.js";

const LEAST_REACH = Math.log(1.1); // the axis goes at least this far on either side of 1

/**
 * `low`, `high`: the ends of the interval; null if there is none. `dots`: ratios of single runs.
 * @typedef {{ratio: number, low: number | null, high: number | null, dots?: number[]}} Interval
 */

/** One bar. */
export class IntervalBar {
  /** @param {Element} host */
  constructor(host) {
    this.root = el("span", { class: "sq-interval", "aria-hidden": "true" }, host);
    this.one = el("i", { class: "sq-interval-one" }, this.root);
    this.range = el("i", { class: "sq-interval-range" }, this.root);
    this.middle = el("i", { class: "sq-interval-middle" }, this.root);
    this.dots = pool(() => el("i", { class: "sq-interval-dot" }, this.root));
  }

  /**
   * @param {Interval} interval
   * @param {[number, number]} [ends] of the axis, as natural logarithms
   */
  paint(interval, ends = axisEnds([interval])) {
    const { ratio, low, high, dots = [] } = interval;
    const at = (value) => `${(100 * (Math.log(value) - ends[0])) / (ends[1] - ends[0])}%`;
    show(this.range, low !== null && high !== null);
    this.one.style.left = at(1);
    this.range.style.left = at(low ?? ratio);
    this.range.style.right = `calc(100% - ${at(high ?? ratio)})`;
    this.middle.style.left = at(ratio);
    const made = this.dots.take(dots.length);
    dots.forEach((dot, i) => (made[i].style.left = at(dot)));
  }
}

/**
 * The ends of an axis that includes 1 and all of `intervals`.
 * @param {Interval[]} intervals
 * @returns {[number, number]} as natural logarithms
 */
export function axisEnds(intervals) {
  const values = intervals.flatMap(({ ratio, low, high, dots = [] }) => [
    ratio,
    low ?? ratio,
    high ?? ratio,
    ...dots,
  ]);
  const logs = values.filter((value) => value > 0).map(Math.log);
  const least = Math.min(-LEAST_REACH, ...logs);
  const most = Math.max(LEAST_REACH, ...logs);
  const edge = (most - least) * 0.03;
  return [least - edge, most + edge];
}
