/* The table below "How sure?". It has a row for each pair of lanes (decoders in the race) that the
   verdict compares: the ratios of their tokens per step, step time and pace (tokens per second),
   and the p-value. */
import { laneName } from "./lane.js";
import { el, scrollBox, show } from "../../shared/web/dom.js";
import { short } from "../../shared/web/format.js";
import { addTerm } from "../../shared/web/tooltips.js";

/** @typedef {import("./race_store.js").Pair} Pair */
/** @typedef {import("./race_store.js").RaceStore} RaceStore */
/** @typedef {import("./race_store.js").Verdict} Verdict */

// Heading of each column, and the name of its tooltip.
const COLUMNS = [
  ["tokens per step (ratio)", "tokens per step"],
  ["step time (ratio)", "step time ratio"],
  ["pace (ratio)", "pace ratio"],
  ["p", "race p"],
];

/** The table of pairs. */
export class PairTable {
  /** @type {Verdict | null} */
  shown = null;

  /**
   * @param {RaceStore} store
   * @param {HTMLElement} host
   */
  constructor(store, host) {
    this.store = store;
    const look = { class: "race-counts-box sq-more-right", "data-part": "pairs" };
    this.root = scrollBox(host, "Pairs of lanes", look);
  }

  paint() {
    const { verdict } = this.store;
    if (this.shown === verdict) return;
    this.shown = verdict;
    show(this.root, verdict.pairs.length > 0);
    const table = el("table", { class: "sq-table race-counts" });
    const head = el("tr", {}, el("thead", {}, table));
    el("th", { scope: "col", text: "lanes" }, head);
    for (const [name, term] of COLUMNS) addTerm(el("th", { scope: "col" }, head), name, term);
    const body = el("tbody", {}, table);
    for (const pair of verdict.pairs) this.row(body, pair);
    this.root.replaceChildren(table);
  }

  /**
   * @param {HTMLElement} body
   * @param {Pair} pair
   */
  row(body, pair) {
    const { lanes } = this.store;
    const { faster, slower, p } = pair;
    const row = el("tr", {}, body);
    const names = [faster, slower].map((lane) => laneName(lanes[lane], lane));
    el("th", { scope: "row", text: names.join(" vs. ") }, row);
    ratioCell(row, pair.per_step, pair.per_step_range);
    ratioCell(row, pair.step_time, pair.step_time_range);
    ratioCell(row, pair.ratio, [pair.least, pair.most]);
    el("td", { class: "race-unbroken", text: p === null ? "–" : pInWords(p) }, row);
  }
}

// In a narrow table, the line can break between the ratio and its interval, but nowhere else.
function ratioCell(row, value, [least, most]) {
  const cell = el("td", { text: `${value.toFixed(2)}× ` }, row);
  const interval = `(${least.toFixed(2)}–${most.toFixed(2)})`;
  el("span", { class: "race-unbroken", text: interval }, cell);
}

const pInWords = (p) => (p < 0.001 ? "< 0.001" : short(p));
