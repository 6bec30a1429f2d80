/* The verdict on a run: the result in large type with its intervals, what it is compared with, the
   time of a step and where the numbers come from. Below it, further runs and "How sure?". */
import { advice, basis, claim, price } from "./claim.js";
import { FurtherRuns } from "./further_runs.js";
import { codeOfAll, onlySpeedup, results } from "./headline.js";
import { Intervals } from "./intervals.js";
import { PairTable, RunTable } from "./verdict_tables.js";
import { attr, el, pool, show, tell, text } from "../../shared/web/dom.js";
import { count, readable } from "../../shared/web/format.js";
import { rove } from "../../shared/web/roving_focus.js";
import * as runWords from "../../shared/web/run_words.js";

/**
 * @import { Page } from "./run_view.js"
 * @import { RunStore } from "./run_store.js"
 */

/** The band above the lanes. */
export class RunVerdict {
  /**
   * @param {RunStore} store
   * @param {HTMLElement} host
   * @param {Page} page
   */
  constructor(store, host, page) {
    this.store = store;
    const look = { class: "run-verdict", "data-part": "verdict", "aria-label": "Verdict" };
    this.root = el("section", look, host);
    const earlier = "An earlier run: the form has changed since.";
    this.earlier = el("p", { class: "run-earlier", text: earlier }, this.root);
    const band = el("div", { class: "run-band" }, this.root);
    this.makeResult(el("div", { class: "run-result" }, band));
    this.makeWords(el("div", { class: "run-words" }, band));
    this.acts = el("div", { class: "run-acts sq-stack" }, band);
    this.makeMore(el("div", { class: "run-sure sq-wrap" }, this.root), page);
  }

  makeResult(host) {
    const head = el("div", {}, host);
    this.headlines = pool(() => makeHeadline(head));
    this.flag = el("p", { class: "sq-flag", text: "hypothetical", "data-part": "flag" }, host);
    this.intervals = new Intervals(this.store, host);
  }

  makeWords(host) {
    this.claim = el("p", { class: "run-claim", "data-part": "claim" }, host);
    this.price = el("p", { class: "run-price", "data-part": "price" }, host);
    const line = el("p", { class: "run-basis sq-dim", "data-part": "basis" }, host);
    this.badge = el("span", { class: "sq-badge", "data-part": "simulated" }, line);
    this.basis = el("span", {}, line);
  }

  makeMore(host, page) {
    this.sure = host;
    this.more = el("details", { class: "run-more" }, host);
    el("summary", { text: "How sure?" }, this.more);
    this.more.append(this.intervals.about);
    this.scope = el("p", { "data-part": "verdict-scope" }, this.more);
    const list = el("ul", {}, this.more);
    this.lines = pool(() => el("li", {}, list));
    this.further = new FurtherRuns(this.store, host, this.more, page);
    this.pairs = new PairTable(this.store, this.more);
    this.runs = new RunTable(this.store, this.more);
    rove(this.pairs.root);
  }

  paint() {
    const { store } = this;
    const { verdict, meta } = store;
    const isSimulated = runWords.isSimulated(meta);
    show(this.earlier, store.isEarlier);
    this.root.classList.toggle("is-pair", Boolean(onlySpeedup(store)));
    this.paintResults();
    show(this.flag, runWords.isHypothetical(meta));
    text(this.claim, claim(store));
    text(this.price, price(store));
    text(this.basis, [advice(store), basis(meta)].filter(Boolean).join(" "));
    show(this.badge, isSimulated);
    if (isSimulated) runWords.paintSimulated(this.badge, meta);
    this.intervals.paint();
    show(this.sure, Boolean(verdict));
    if (verdict) this.paintMore();
  }

  paintResults() {
    const found = results(this.store);
    const nodes = this.headlines.take(found.length);
    found.forEach((result, i) => {
      const { node, prompt, words } = nodes[i];
      tell(prompt, result.prompt);
      text(words, result.words);
      attr(node, "data-verdict", result.code);
    });
    attr(this.root, "data-verdict", codeOfAll(this.store));
  }

  paintMore() {
    const { verdict } = this.store;
    text(this.scope, scopeInWords(this.store));
    show(this.scope, verdict.pairs.length > 0); // without a pair, the verdict compares no lanes
    const words = [...verdict.reasons, ...verdict.details];
    const lines = this.lines.take(words.length);
    words.forEach((line, i) => text(lines[i], readable(line)));
    for (const part of [this.further, this.pairs, this.runs]) part.paint();
  }
}

function makeHeadline(host) {
  const node = el("h2", { class: "run-headline", "data-part": "headline" }, host);
  const prompt = el("span", { class: "run-headline-prompt sq-dim" }, node);
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
  return (
    `The result applies to ${scope} (${made}${length}${times}); on other prompts it may ` +
    "differ."
  );
}
