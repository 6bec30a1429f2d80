/* The verdict on a race that is over: who won in large type, the ratios with their intervals, the
   figures behind it, and the button for further runs. */
import { codeOf, codeOfAll, headlineInWords } from "./race_headline.js";
import { RaceIntervals } from "./race_intervals.js";
import { RaceOn } from "./race_on.js";
import { attr, el, pool, scrollBox, show, text } from "../../shared/web/dom.js";
import { count, known, readable, short } from "../../shared/web/format.js";
import { otherModelsWords } from "../../shared/web/between_tabs.js";
import { rove } from "../../shared/web/roving_focus.js";
import * as runWords from "../../shared/web/run_words.js";
import { headed } from "../../shared/web/tooltips.js";

/** @typedef {(name: string, data: object) => void} Trigger */
/** @typedef {import("../../shared/web/schema.js").Headline} Headline */
/** @typedef {import("../../run/web/run_store.js").RunStore} RunStore */
/** @typedef {import("../../shared/web/form_buttons.js").FormBeside} FormBeside */
/** @typedef {import("../../shared/web/schema.js").PairVerdict} Pair */
/** @typedef {import("../../run/web/arrived.js").Verdict} Verdict */
/** @typedef {import("../../shared/web/schema.js").PoolShown} Pool */

/** The banner over the lanes. */
export class RaceVerdict {
  /**
   * @param {RunStore} store
   * @param {HTMLElement} host
   * @param {Trigger | null} trigger
   * @param {FormBeside} page
   */
  constructor(store, host, trigger, page) {
    this.store = store;
    const look = { class: "sq-panel race-verdict", "data-part": "verdict" };
    this.root = el("section", { ...look, "aria-label": "Verdict" }, host);
    const earlier = "An earlier race: the form has changed since.";
    this.earlier = el("p", { class: "race-earlier", text: earlier }, this.root);
    const head = el("div", { class: "race-headlines" }, this.root);
    this.headlines = pool(() => makeHeadline(head));
    const marks = el("p", { class: "race-headline-marks" }, this.root);
    this.flag = el("span", { class: "sq-flag", text: "hypothetical", "data-part": "flag" }, marks);
    this.badge = el("span", { class: "sq-badge" }, marks);
    this.mixture = el("span", { "data-part": "mixture" }, marks);
    this.intervals = new RaceIntervals(store, this.root);
    this.on = new RaceOn(store, this.root, trigger, page);
    this.makeMore();
  }

  makeMore() {
    this.more = el("details", { class: "race-verdict-more" }, this.root);
    el("summary", { text: "How sure?" }, this.more);
    this.scope = el("p", { "data-part": "verdict-scope" }, this.more);
    const list = el("ul", {}, this.more);
    this.lines = pool(() => el("li", {}, list));
    this.pairs = new PairTable(this.store, this.more);
    this.runs = new RunTable(this.store, this.more);
    rove(this.pairs.root);
  }

  paint() {
    const { store } = this;
    const { verdict, isOver } = store;
    show(this.root, Boolean(verdict) && isOver);
    if (!verdict || !isOver) return;
    show(this.earlier, store.isEarlier);
    this.paintHeadlines();
    this.paintMarks();
    text(this.scope, scopeInWords(store));
    show(this.scope, verdict.pairs.length > 0); // without a pair, the verdict compares no lanes
    const words = [...verdict.reasons, ...verdict.details];
    const lines = this.lines.take(words.length);
    words.forEach((line, i) => text(lines[i], readable(line)));
    for (const part of [this.intervals, this.on, this.pairs, this.runs]) part.paint();
  }

  paintHeadlines() {
    const { store } = this;
    const { headlines } = store.verdict;
    const nodes = this.headlines.take(headlines.length);
    headlines.forEach((headline, i) => {
      const { node, prompt, words } = nodes[i];
      text(prompt, readable(headline.prompt_name));
      show(prompt, Boolean(headline.prompt_name));
      text(words, headlineInWords(headline, store));
      attr(node, "data-verdict", codeOf(headline, store));
    });
    attr(this.root, "data-verdict", codeOfAll(store));
  }

  paintMarks() {
    const { meta } = this.store;
    const isSimulated = runWords.isSimulated(meta);
    show(this.flag, runWords.isHypothetical(meta));
    show(this.badge, isSimulated);
    if (isSimulated) runWords.paintSimulated(this.badge, meta);
    const words = [otherModelsWords(meta), runWords.mixtureWords(meta)];
    text(this.mixture, words.filter(Boolean).join(" "));
  }
}

function makeHeadline(host) {
  const node = el("p", { class: "race-headline", "data-part": "headline" }, host);
  const prompt = el("span", { class: "race-headline-prompt" }, node);
  return { node, prompt, words: el("span", { "data-part": "headline-words" }, node) };
}

/**
 * The prompts and runs that the verdict holds for, in words.
 * @param {RunStore} store
 * @returns {string}
 */
function scopeInWords({ verdict, pool: pooled, word }) {
  const runs = pooled?.runs.length ?? 1;
  const isSimulated = word === "simulated";
  const own = isSimulated ? "" : word;
  const times = isSimulated ? " with simulated step times" : "";
  const made = count(runs, [own, "run"].filter(Boolean).join(" "));
  const isOne = runs === 1;
  const length = isOne ? ` of ${count(verdict.tokens, "token")}` : "";
  const several = `${isOne ? "these" : "the"} ${verdict.prompts} prompts${isOne ? "" : " listed below"}`;
  const scope = verdict.prompts === 1 ? "this prompt" : several;
  return `The result applies to ${scope} (${made}${length}${times}); on other prompts it may differ.`;
}

/** @type {[string, string][]} heading of each column, and the name of its tooltip */
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
   * @param {RunStore} store
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
    const body = headed(table, ["lanes", ...COLUMNS]);
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
    const names = [faster, slower].map((lane) => lanes[lane].title);
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

const FIRST = 40; // how many characters of a prompt's first line are shown

/** The table of runs. It is hidden for a single run. */
export class RunTable {
  /** @type {Pool | null} */
  shown = null;

  /**
   * @param {RunStore} store
   * @param {HTMLElement} host
   */
  constructor(store, host) {
    this.store = store;
    const look = { class: "race-counts-box race-runs sq-more-below", "data-part": "runs" };
    this.root = scrollBox(host, "Pooled runs", look);
  }

  paint() {
    const { pool: pooled, lanes } = this.store;
    const some = (pooled?.runs.length ?? 0) > 1;
    show(this.root, some);
    if (!some || this.shown === pooled) return;
    this.shown = pooled;
    const table = el("table", { class: "sq-table race-counts" });
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
 * @param {import("../../shared/web/schema.js").RunShown} run
 */
function paintRun(body, { prompt, seed, seconds }) {
  const row = el("tr", {}, body);
  const start = el("th", { scope: "row" }, row);
  el("code", { text: startOf(prompt) }, start);
  el("td", { text: known(seed) ? String(seed) : "–" }, row);
  for (const one of seconds) el("td", { text: one > 0 ? (1 / one).toFixed(1) : "–" }, row);
}
