/* The card of one lane: its text and figures up to the time shown. */
import { onlySpeedup } from "./headline.js";
import { basisOf, countedIn } from "./lane_basis.js";
import { CHAINS } from "./lane_run.js";
import { laneMark } from "./lane_style.js";
import { LaneText } from "./lane_text.js";
import { goalOf, placeInWords, speedRatio } from "./lane_places.js";
import { attr, button, el, show, text } from "../../shared/web/dom.js";
import * as format from "../../shared/web/format.js";
import { known, ms, percent, rate, readable, grouped } from "../../shared/web/format.js";
import { progressBar } from "../../shared/web/panel.js";
import { repeatsInWords } from "../../shared/web/repeats.js";
import { rove } from "../../shared/web/roving_focus.js";
import * as runWords from "../../shared/web/run_words.js";
import { addTerm } from "../../shared/web/tooltips.js";
import { TreeThumbnail } from "../../shared/web/tree_thumbnail.js";
import { speedupWords, times as inWords } from "../../shared/web/verdict_words.js";

/**
 * @import { LanePlace, LaneShown, Result, SampleCount } from "../../shared/web/schema.js"
 * @import { LaneRun, Sum } from "./lane_run.js"
 * @import { LaneStyle } from "./lane_style.js"
 * @import { RunStore } from "./run_store.js"
 * @import { Verdict } from "./arrived.js"
 */

// Name of each figure, its label, and the name of its tooltip.
const FIGURES = [
  ["tokensPerStep", "tokens per step", "tokens per step"],
  ["perToken", "per token", "per token"],
  ["nodes", "avg. tree size", "mean nodes"],
  ["clock", "decode time", "clock"],
  ["drafted", "from the draft", "from the draft"],
  ["repeats", "repeated text", "repeats"],
];
/** @type {[number, number]} px */
const THUMBNAIL = [52, 24];
const EARLY = 8; // tokens; before, a speed-up says nothing
const PHASES = ["draft", "verify", "overhead"];
const VERDICTS = {
  exact: "exact",
  tie: "tie",
  bug: "bug",
  fits: "consistent",
  undecided: "undecided",
  poor: "poor fit",
  blind: "no information",
};

/** A lane's card. */
export class LaneCard {
  key = ""; // of what was painted last
  /** @type {Verdict | null} the verdict that the card shows */
  judged = null;
  wasMoving = false; // whether the time was moving at the last paint
  /** @type {Result | null} */
  result = null;

  /**
   * @param {RunStore} store
   * @param {HTMLElement} host
   * @param {number} index of the lane
   * @param {LaneStyle} style
   */
  constructor(store, host, index, style) {
    this.store = store;
    this.index = index;
    this.lane = store.lanes[index];
    const look = { class: "sq-panel run-lane", style: `--lane: ${style.colour}` };
    this.root = el("article", { ...look, "data-lane": index, "aria-label": this.lane.title }, host);
    this.root.addEventListener("click", (event) => this.press(event));
    this.makeHead(style);
    this.makeProgress();
    this.text = new LaneText(store, this.lane, this.root);
    this.makeSpeed();
    this.makeFigures();
    rove(this.root);
    this.paintLossless(null);
  }

  /** @param {LaneStyle} style */
  makeHead(style) {
    const { about, title } = this.lane;
    const line = el("div", { class: "run-name sq-line" }, this.root);
    line.append(laneMark(style));
    const act = () => this.store.choose(this.index);
    this.title = button(el("h3", {}, line), { text: title, cls: "run-title", act });
    const finish = el("span", { class: "run-finish sq-line" }, line);
    this.time = el("b", { "data-part": "time" }, finish);
    this.place = addTerm(finish, "", "place", "run-place");
    this.place.dataset.part = "place";
    const { description, rule } = about;
    const whole = [description, rule].filter(Boolean).join(", ");
    const how = described({ ...about, description: whole });
    const box = el("div", { class: "run-about sq-line" }, this.root);
    this.thumbnail = new TreeThumbnail(box, ...THUMBNAIL);
    el("p", { class: "run-how sq-dim", text: briefly(about), title: how }, box);
  }

  /**
   * Show the lane's tree, or nothing for plain decoding. A tree that changes is shown as it was in
   * the last step shown.
   * @param {number} done number of steps shown
   */
  paintTree(done) {
    const { steps, about, largestTree } = this.lane;
    const { plain, changes } = about;
    const number = changes ? steps[done - 1]?.tree : largestTree;
    this.thumbnail.show((!plain && this.store.trees[number]?.parents) || null);
  }

  // A press on the card, but not on its controls or while text is selected, chooses the lane.
  press({ target }) {
    if (!target.closest("button, summary") && !String(window.getSelection()))
      this.store.choose(this.index);
  }

  makeProgress() {
    const line = el("div", { class: "run-progress sq-line" }, this.root);
    const label = "Progress to the finish line, in tokens";
    const attributes = { role: "progressbar", "aria-label": label, "aria-valuemin": "0" };
    this.bar = el("div", { class: "run-bar", ...attributes }, line);
    this.fill = el("i", {}, this.bar);
    this.tokens = el("span", { class: "run-tokens sq-dim", "data-part": "tokens" }, line);
  }

  makeSpeed() {
    const line = el("div", { class: "run-foot sq-ends" }, this.root);
    this.speed = el("p", { class: "run-speed", "data-part": "speed" }, line);
    this.ratio = el("b", { "data-part": "ratio" }, this.speed);
    this.unit = el("span", {}, this.speed);
    this.range = addTerm(this.speed, "", "range");
    this.range.dataset.part = "spread";
    this.verdict = el("span", { class: "sq-badge run-badge", "data-part": "lossless" }, line);
    this.counting = progressBar(this.root, "Progress of the losslessness check");
  }

  makeFigures() {
    const { store } = this;
    this.figures = el("details", { class: "run-more", "data-part": "figures" }, this.root);
    el("summary", { text: "Figures" }, this.figures);
    this.figures.addEventListener("toggle", ({ target }) =>
      store.set({ showsFigures: /** @type {HTMLDetailsElement} */ (target).open }),
    );
    this.counted = el("p", { "data-part": "counted" }, this.figures);
    const list = el("dl", { class: "run-figures" }, this.figures);
    /** @type {Record<string, HTMLElement>} */
    this.values = {};
    for (const [name, label, term] of FIGURES) {
      const box = el("div", {}, list);
      addTerm(el("dt", {}, box), label, term);
      this.values[name] = el("dd", { "data-figure": name }, box);
    }
    this.makePhases();
    this.words = el("p", { class: "run-check sq-dim", "data-part": "check" }, this.figures);
  }

  makePhases() {
    const bar = el("div", { class: "run-split", "aria-hidden": "true" }, this.figures);
    const legend = el("div", { class: "run-phases sq-dim", "data-part": "split" }, this.figures);
    /** @type {Record<string, {part: HTMLElement, value: HTMLElement}>} */
    this.phases = {};
    for (const phase of PHASES) {
      const entry = el("span", { class: "run-phase sq-wrap" }, legend);
      el("i", { class: "sq-swatch", "data-phase": phase }, entry);
      addTerm(entry, phase);
      this.phases[phase] = {
        part: el("i", { class: "sq-swatch", "data-phase": phase }, bar),
        value: el("b", { "data-phase": phase }, entry),
      };
    }
  }

  /**
   * Paint the lane if anything it shows has changed.
   * @param {number} reference index of the lane that this one is compared with
   */
  paint(reference) {
    const { store, index, lane } = this;
    const verdict = store.isOver ? store.verdict : null;
    const places = verdict?.places ?? [];
    const other = store.lanes[reference];
    const placed = placeInWords(index, store.lanes, places);
    const result = store.results?.[index] ?? null;
    if (this.result !== result) this.paintLossless(result);
    this.root.classList.toggle("is-chosen", lane === store.lane);
    attr(this.title, "aria-pressed", String(lane === store.lane));
    this.figures.open = store.showsFigures;
    const wasMoving = this.wasMoving;
    this.wasMoving = store.moves;
    const done = store.shown(lane);
    const goal = goalOf(store);
    const { state, reason } = store;
    const key = [done, other && store.shown(other), reference, placed, goal, state, reason].join();
    if (this.key !== key || this.judged !== verdict) {
      this.key = key;
      this.judged = verdict;
      this.paintUpTo(done, wasMoving);
      this.paintProgress(lane.sums[done], goal, places[index] ?? null, placed);
      if (verdict?.speedups[index]) this.paintVerdict(verdict);
      else this.paintSpeed(other, reference);
      text(this.counted, verdict ? countedIn(verdict) : "Up to the step shown:");
    }
    this.text.mark();
  }

  /**
   * @param {number} done number of steps shown
   * @param {boolean} wasMoving
   */
  paintUpTo(done, wasMoving) {
    const { lane } = this;
    const sum = lane.sums[done];
    const isOver = done === lane.steps.length;
    // plain decoding drafts nothing
    this.text.paint(
      done,
      isOver ? this.ending : "",
      isOver && !lane.about.plain ? repeatsInWords(sum) : "",
    );
    this.paintTree(done);
    this.paintFinish(isOver && Boolean(lane.finish), wasMoving);
    this.paintFigures(sum);
    attr(this.root, "data-tokens", sum.tokens);
    attr(this.root, "data-steps", sum.steps);
  }

  /** Why the lane ended before the finish line, in words; empty until it has ended. */
  get ending() {
    const { done, reason: end } = this.store;
    const reason = this.lane.finish || (done ? (end ?? "stopped") : "");
    return reason === "length" ? "" : readable(runWords.finish(reason));
  }

  /**
   * Show the decode time of a lane that has finished. It is animated if the time was moving.
   * @param {boolean} isOver
   * @param {boolean} wasMoving
   */
  paintFinish(isOver, wasMoving) {
    const isNew = wasMoving && !this.root.dataset.finish;
    show(this.time, isOver);
    const { tokens, seconds } = this.lane.sum;
    const isShort = tokens < goalOf(this.store);
    const ended = (isShort ? `${tokens} tokens in ` : "") + format.seconds(seconds);
    text(this.time, isOver ? ended : "");
    if (!isOver) attr(this.root, "data-finish", null);
    else if (!this.root.dataset.finish) attr(this.root, "data-finish", isNew ? "new" : "seen");
  }

  /**
   * @param {Sum} sum
   * @param {number} goal the finish line, in tokens
   * @param {LanePlace | null} place
   * @param {string} placed the place in words
   */
  paintProgress(sum, goal, place, placed) {
    const reached = Math.min(sum.tokens, goal);
    show(this.place, Boolean(place));
    const isCertain = !placed.includes(" "); // not "tied for 1st" or "2nd or 3rd"
    text(this.place, placed);
    attr(this.place, "data-place", place && isCertain ? place.place : null);
    this.fill.style.transform = `scaleX(${reached / goal})`;
    attr(this.bar, "aria-valuemax", goal);
    attr(this.bar, "aria-valuenow", reached);
    text(this.tokens, `${grouped(sum.tokens)}/${grouped(goal)} tokens`);
  }

  /** @param {Sum} sum */
  paintFigures(sum) {
    const { values } = this;
    const some = sum.steps > 0;
    text(values.tokensPerStep, rate(sum.tokens / sum.steps));
    text(values.perToken, ms(sum.seconds / sum.tokens));
    text(values.nodes, rate(sum.nodes / sum.steps));
    text(values.clock, some ? format.seconds(sum.seconds) : "–");
    text(values.drafted, percent(sum.drafted / sum.tokens));
    text(values.repeats, percent(sum.repeats / sum.grams));
    for (const phase of PHASES) {
      const { part, value } = this.phases[phase];
      const share = sum[phase] / sum.seconds;
      part.style.flexGrow = String(known(share) ? share : 0);
      text(value, some ? percent(share) + " · " + ms(sum[phase] / sum.steps) : "–");
    }
  }

  /**
   * The speed-up so far, without an interval: the run is not over.
   * @param {LaneRun | undefined} other the lane that this one is compared with
   * @param {number} reference the index of that lane
   */
  paintSpeed(other, reference) {
    const { time, lanes, isOver } = this.store;
    const self = reference === this.index;
    const isEarly = [this.lane, other].some((lane) => lane?.sumAt(time).tokens < EARLY);
    const ratio = other && !self && !isEarly ? speedRatio(this.lane, other, time) : NaN;
    show(this.speed, known(ratio) && !onlySpeedup(this.store)); // else the headline has it
    text(this.ratio, known(ratio) ? inWords(ratio) : "");
    text(this.unit, baseline(lanes[reference]) + (isOver ? "" : " so far"));
    show(this.range, false);
    attr(this.root, "data-verdict", null);
  }

  /** @param {Verdict} verdict of the run, which is over */
  paintVerdict(verdict) {
    const { lanes, meta, word } = this.store;
    const speedup = verdict.speedups[this.index];
    const { word: how, times, interval } = speedupWords(speedup);
    const isUnclear = speedup.code === "no_clear_difference";
    const name = baseline(lanes[speedup.over]);
    show(this.speed, !onlySpeedup(this.store));
    text(this.ratio, times);
    text(this.unit, isUnclear ? `${name}: ${how}` : `${how} than ${name}`);
    text(this.range, interval);
    show(this.range, true);
    attr(this.speed, "title", basisOf(verdict, this.index, word));
    attr(this.root, "data-verdict", runWords.verdictColour(meta, speedup.code));
  }

  /** @param {Result | null} result */
  paintLossless(result) {
    this.result = result;
    const { kind, match, count, label } = result?.lossless || {};
    const words = this.store.analysis[this.index]?.lossless;
    const index = match?.index;
    show(this.verdict, Boolean(kind) && (kind !== "none" || Boolean(count)));
    show(this.words, Boolean(kind));
    attr(this.verdict, "data-kind", kind);
    text(this.verdict, kind === "none" ? "too few samples" : VERDICTS[kind] || "");
    this.paintCounting(count);
    const where = known(index) ? ` First difference: token ${index + 1}.` : "";
    // the counts have a panel of their own, with the label
    const source = label && !count && kind !== "none" ? ` (${readable(label)})` : "";
    const said = readable(words) + where + source;
    text(this.words, said);
    attr(this.verdict, "title", said);
  }

  /** @param {SampleCount | null | undefined} count */
  paintCounting(count) {
    this.counting(count?.going ? count.draws / count.wanted : null);
    if (count?.going) text(this.verdict, `sampling, ${count.draws} / ${count.wanted}`);
  }
}

/** @type {(lane: LaneRun | undefined) => string} the name of the lane that a speed-up is over */
const baseline = (lane) => (lane?.about.plain ? lane.title.toLowerCase() : (lane?.title ?? ""));

// The size of the tree, and the verifier if it is not the usual one. The tooltip has all.
/** @type {(lane: Partial<LaneShown>) => string} */
const briefly = ({ verifier, most, changes, kind, plain }) =>
  described({ verifier: verifier === "sequoia" ? "" : verifier, most, changes, kind, plain });

/**
 * How a lane decodes. The most important parts come first, because the page may cut the end.
 * @param {Partial<LaneShown>} lane
 * @returns {string}
 */
function described({ description, verifier, plain, most, changes, kind, rates }) {
  const parts = [];
  if (most > 1) parts.push((changes ? "at most " : "") + format.count(most, "node"));
  if (verifier && !plain) parts.push(ruleOf(verifier, kind));
  if (changes) parts.push("new tree every step");
  return [...parts, runWords.sourced(description ?? "", rates)]
    .filter(Boolean)
    .map(readable)
    .join(", ");
}

// On a chain, nothing is left to sample without replacement.
/** @type {(verifier: string, kind: string | null) => string} */
const ruleOf = (verifier, kind) =>
  verifier === "sequoia" && CHAINS.includes(kind)
    ? "Sequoia verifier (the standard one on a chain)"
    : runWords.verifier(verifier) + " verifier";
