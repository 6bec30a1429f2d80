/* The verdict on a race that is over: who won in large type, the ratios with their intervals, the
   figures behind it, and the button for further runs. */
import { PairTable } from "./pair_table.js";
import { headlineInWords } from "./race_headline.js";
import { RaceIntervals } from "./race_intervals.js";
import { RaceOn } from "./race_on.js";
import { RunTable } from "./run_table.js";
import { attr, el, pool, show, text } from "../../shared/web/dom.js";
import { count, readable } from "../../shared/web/format.js";
import { otherModelsWords } from "../../shared/web/loaded_models.js";
import { rove } from "../../shared/web/roving_focus.js";
import * as runWords from "../../shared/web/run_words.js";

/** @typedef {import("./lane.js").Trigger} Trigger */
/** @typedef {import("./race_store.js").Headline} Headline */
/** @typedef {import("./race_store.js").RaceStore} RaceStore */
/** @typedef {import("../../shared/web/form_buttons.js").FormBeside} FormBeside */

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
    const codes = new Set(headlines.map((headline) => codeOf(headline, store)));
    attr(this.root, "data-verdict", codes.size === 1 ? [...codes][0] : "no_clear_difference");
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

// The colour of a headline: that of a success only if a draft wins.
/** @type {(headline: Headline, store: RaceStore) => string} */
function codeOf({ code, winner }, { lanes }) {
  if (code !== "wins") return "no_clear_difference";
  return lanes[winner].plain ? "slower" : "win";
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
  const isOne = runs === 1;
  const length = isOne ? ` of ${count(verdict.tokens, "token")}` : "";
  const several = `${isOne ? "these" : "the"} ${verdict.prompts} prompts${isOne ? "" : " listed below"}`;
  const scope = verdict.prompts === 1 ? "this prompt" : several;
  return `The result applies to ${scope} (${made}${length}${times}); on other prompts it may differ.`;
}
