/* The table of pooled runs below "How sure?". */
import { laneName } from "./lane.js";
import { el, headed, scrollBox, show } from "../../shared/web/dom.js";
import { known, readable } from "../../shared/web/format.js";

/** @typedef {import("./race_store.js").Pool} Pool */
/** @typedef {import("./race_store.js").RaceStore} RaceStore */

const FIRST = 40; // how many characters of a prompt's first line are shown

/** The table of runs. It is hidden for a single run. */
export class RunTable {
  /** @type {Pool | null} */
  shown = null;

  /**
   * @param {RaceStore} store
   * @param {HTMLElement} host
   */
  constructor(store, host) {
    this.store = store;
    const look = { class: "race-counts-box race-runs sq-more-below", "data-part": "runs" };
    this.root = scrollBox(host, "Pooled runs", look);
  }

  paint() {
    const { pool, lanes } = this.store;
    const some = (pool?.runs.length ?? 0) > 1;
    show(this.root, some);
    if (!some || this.shown === pool) return;
    this.shown = pool;
    const table = el("table", { class: "sq-table race-counts" });
    el("caption", { text: "Tokens per second of each lane, run by run" }, table);
    const body = headed(table, ["prompt", "seed", ...lanes.map(laneName)]);
    for (const run of pool.runs) paintRun(body, run);
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
 * @param {import("./race_store.js").PooledRun} run
 */
function paintRun(body, { prompt, seed, seconds }) {
  const row = el("tr", {}, body);
  const start = el("th", { scope: "row" }, row);
  el("code", { text: startOf(prompt) }, start);
  el("td", { text: known(seed) ? String(seed) : "–" }, row);
  for (const one of seconds) el("td", { text: one > 0 ? (1 / one).toFixed(1) : "–" }, row);
}
