/* The verdict on a race that is over: its words, the prompts it holds for, the figures behind it,
   and the button for further runs. */
import { PairTable } from "./pair_table.js";
import { RaceIntervals } from "./race_intervals.js";
import { RaceOn } from "./race_on.js";
import { RunTable } from "./run_table.js";
import { el, pool, show, text } from "../../shared/web/dom.js";
import { count, readable } from "../../shared/web/format.js";
import { rove } from "../../shared/web/roving_focus.js";

/** @typedef {import("./lane.js").Trigger} Trigger */
/** @typedef {import("./race_store.js").RaceStore} RaceStore */
/** @typedef {import("../../shared/web/form_buttons.js").FormBeside} FormBeside */

// Added for a single run if the verdict is about expected tokens.
const COUNTED =
  " The result is based on expected tokens per step and on step times. The lanes below show the tokens drawn in this run, so their figures may differ and are usually less certain.";

/** The banner over the lanes. */
export class RaceVerdict {
  /**
   * @param {RaceStore} store
   * @param {HTMLElement} host
   * @param {Trigger | null} trigger
   * @param {FormBeside} page
   */
  constructor(store, host, trigger, page) {
    this.store = store;
    const look = { class: "sq-panel race-verdict", "data-part": "verdict" };
    this.root = el("section", { ...look, "aria-label": "Verdict" }, host);
    this.sentence = el(
      "p",
      { class: "race-verdict-words", "data-part": "verdict-words" },
      this.root,
    );
    const scope = { class: "race-verdict-scope", "data-part": "verdict-scope" };
    this.scope = el("p", scope, this.root);
    this.intervals = new RaceIntervals(store, this.root);
    this.on = new RaceOn(store, this.root, trigger, page);
    this.makeMore();
  }

  makeMore() {
    this.more = el("details", { class: "race-verdict-more" }, this.root);
    el("summary", { text: "How sure?" }, this.more);
    this.pairs = new PairTable(this.store, this.more);
    const list = el("ul", {}, this.more);
    this.lines = pool(() => el("li", {}, list));
    this.runs = new RunTable(this.store, this.more);
    rove(this.pairs.root);
  }

  paint() {
    const { verdict, isOver } = this.store;
    show(this.root, Boolean(verdict) && isOver);
    if (!verdict || !isOver) return;
    text(this.sentence, unbroken(readable(verdict.sentence)));
    show(this.scope, verdict.pairs.length > 0); // without a pair, the verdict compares no lanes
    text(this.scope, scopeInWords(this.store));
    const lines = this.lines.take(verdict.details.length);
    verdict.details.forEach((line, i) => text(lines[i], readable(line)));
    for (const part of [this.intervals, this.on, this.pairs, this.runs]) part.paint();
  }
}

/**
 * The prompts and runs that the verdict holds for, in words.
 * @param {RaceStore} store
 * @returns {string}
 */
function scopeInWords({ verdict, pool: pooled, word }) {
  const runs = pooled?.runs.length ?? 1;
  const isSimulated = word === "simulated";
  const own = isSimulated ? "" : word;
  const times = isSimulated ? " with simulated step times" : "";
  const made = count(runs, [own, "run"].filter(Boolean).join(" "));
  const isExpected = verdict.pairs.some(({ expected }) => expected);
  if (runs === 1) {
    const about = `${made} of ${count(verdict.tokens, "token")}${times}`;
    return readable(
      `The result applies to ${verdict.scope} (${about}).${isExpected ? COUNTED : ""}`,
    );
  }
  const how = isExpected ? "expected values, averaged" : "averages";
  const source = isExpected
    ? ": they are computed from the models’ probabilities, not from the tokens that happened to be drawn"
    : "";
  const scope = verdict.scope.replace(/^these (\d+ prompts)$/, "the $1 listed under “How sure?”");
  return readable(
    `These figures are ${how} over ${made}${times}${source}. They hold for ${scope}; the lanes below show only the first run, so their figures may differ.`,
  );
}

// Keeps lines from breaking within "p < 0.001".
const unbroken = (sentence) => sentence.replace(/\bp ([<=]) (?=\d)/g, "p\u00a0$1\u00a0");
