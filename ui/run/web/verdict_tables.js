/* The tables under "How sure?": the pairs of lanes, and the further runs. */
import { el, scrollBox, show } from "../../shared/web/dom.js";
import { known, readable, short } from "../../shared/web/format.js";
import { headed } from "../../shared/web/tooltips.js";
import { rounded, times } from "../../shared/web/verdict_words.js";

/**
 * @import { PairVerdict, PoolShown, RunShown } from "../../shared/web/schema.js"
 * @import { RunStore } from "./run_store.js"
 * @import { Verdict } from "./arrived.js"
 */

/** @type {[string, string][]} heading of each column, and the name of its tooltip */
const COLUMNS = [
  ["tokens per step (ratio)", "tokens per step"],
  ["step time (ratio)", "step time ratio"],
  ["pace (ratio)", "pace ratio"],
  ["p-value", "p of a pair"],
];

/** The table of pairs. */
export class PairTable {
  /** @type {Verdict | null} */
  shown = null;

  /**
   * @param {RunStore} store
   * @param {HTMLElement} host
   */
  constructor(store, host) {
    this.store = store;
    const look = { class: "sq-wide sq-more-right", "data-part": "pairs" };
    this.root = scrollBox(host, "Pairs of lanes", look);
  }

  paint() {
    const { verdict } = this.store;
    if (this.shown === verdict) return;
    this.shown = verdict;
    show(this.root, verdict.pairs.length > 0);
    const table = el("table", { class: "sq-table run-counts" });
    const body = headed(table, ["lanes", ...COLUMNS]);
    for (const pair of verdict.pairs) this.row(body, pair);
    this.root.replaceChildren(table);
  }

  /**
   * @param {HTMLElement} body
   * @param {PairVerdict} pair
   */
  row(body, pair) {
    const { lanes } = this.store;
    const { faster, slower, p } = pair;
    const row = el("tr", {}, body);
    const names = [faster, slower].map((lane) => lanes[lane].title);
    el("th", { scope: "row", text: names.join(" vs. ") }, row);
    ratioCell(row, pair.per_step, pair.per_step_range);
    ratioCell(row, pair.step_time, pair.step_time_range);
    ratioCell(row, pair.ratio, [pair.least, pair.most]);
    el("td", { class: "sq-unbroken", text: p === null ? "–" : pInWords(p) }, row);
  }
}

// In a narrow table, the line can break between the ratio and its interval, but nowhere else.
function ratioCell(row, value, [least, most]) {
  const cell = el("td", { text: times(value) + " " }, row);
  const interval = `(${rounded(least)}–${rounded(most)})`;
  el("span", { class: "sq-unbroken", text: interval }, cell);
}

const pInWords = (p) => (p < 0.001 ? "< 0.001" : short(p));

const FIRST = 40; // how many characters of a prompt's first line are shown

/** The table of runs. It is hidden for a single run. */
export class RunTable {
  /** @type {PoolShown | null} */
  shown = null;

  /**
   * @param {RunStore} store
   * @param {HTMLElement} host
   */
  constructor(store, host) {
    this.store = store;
    const look = { class: "sq-wide run-runs sq-more-below", "data-part": "runs" };
    this.root = scrollBox(host, "Pooled runs", look);
  }

  paint() {
    const { pool: pooled, lanes } = this.store;
    const some = (pooled?.runs.length ?? 0) > 1;
    show(this.root, some);
    if (!some || this.shown === pooled) return;
    this.shown = pooled;
    const table = el("table", { class: "sq-table run-counts" });
    el("caption", { text: "Tokens per second of each lane, run by run" }, table);
    const body = headed(table, ["prompt", "seed", ...lanes.map(({ title }) => title)]);
    for (const run of pooled.runs) paintRun(body, run);
    this.root.replaceChildren(table);
  }
}

/**
 * The start of a prompt's first line, with "…" if anything follows it.
 * @param {string} prompt
 * @returns {string}
 */
export function startOf(prompt) {
  const start = prompt.split("\n")[0].slice(0, FIRST);
  return readable(start) + (start === prompt ? "" : "…");
}

/**
 * @param {HTMLElement} body
 * @param {RunShown} run
 */
function paintRun(body, { prompt, seed, seconds }) {
  const row = el("tr", {}, body);
  const start = el("th", { scope: "row" }, row);
  el("code", { text: startOf(prompt) }, start);
  el("td", { text: known(seed) ? String(seed) : "–" }, row);
  for (const one of seconds) el("td", { text: one > 0 ? (1 / one).toFixed(1) : "–" }, row);
}
