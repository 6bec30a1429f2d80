/* The card of one lane of a race: the lane's text and figures up to the race time shown. */
import { basisOf, countedIn } from "./lane_basis.js";
import { CHAINS } from "../../run/web/lane_run.js";
import { laneMark } from "../../run/web/lane_style.js";
import { LaneText } from "./lane_text.js";
import { goalOf, placeInWords, speedRatio } from "./lane_places.js";
import { attr, button, el, show, text } from "../../shared/web/dom.js";
import * as format from "../../shared/web/format.js";
import { known, ms, percent, rate, readable, grouped } from "../../shared/web/format.js";
import { repeatsInWords } from "../../shared/web/repeats.js";
import { rove } from "../../shared/web/roving_focus.js";
import * as runWords from "../../shared/web/run_words.js";
import { addTerm } from "../../shared/web/tooltips.js";
import { TreeThumbnail } from "../../shared/web/tree_thumbnail.js";
import { speedupWords } from "../../shared/web/verdict_words.js";
import TOOLTIPS from "../../../assets/tooltips.json" with { type: "json" };

/** @typedef {import("../../run/web/lane_style.js").LaneStyle} LaneStyle */
/** @typedef {import("../../run/web/lane_run.js").LaneRun} LaneRun */
/** @typedef {import("./lane_places.js").Place} Place */
/** @typedef {import("../../run/web/lane_run.js").Sum} Sum */
/** @typedef {import("../../shared/web/schema.js").SampleCount} Count */
/** @typedef {import("../../run/web/run_store.js").RunStore} RunStore */
/** @typedef {import("../../shared/web/schema.js").Result} Result */
/** @typedef {import("../../run/web/arrived.js").Verdict} Verdict */

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
const THUMBNAIL = [72, 34];
const PHASES = ["draft", "verify", "overhead"];
const VERDICTS = {
  exact: "exact",
  tie: "tie",
  bug: "bug",
  fits: "consistent with the target",
  undecided: "undecided",
  poor: "poor fit",
  blind: "no information",
  none: "not checked",
};

/** A lane's card. */
export class LaneView {
  /**
   * @param {RunStore} store
   * @param {HTMLElement} host
   * @param {number} index of the lane
   * @param {{style: LaneStyle, showTree: () => void}} options showTree: brings the tree of the
   *   chosen lane into view
   */
  constructor(store, host, index, { style, showTree }) {
    this.store = store;
    this.index = index;
    this.lane = store.lanes[index];
    const look = { class: "sq-panel race-lane", style: `--race-lane: ${style.colour}` };
    this.root = el("article", { ...look, "data-lane": index, "aria-label": this.lane.title }, host);
    this.root.addEventListener("click", (event) => this.press(event));
    this.makeHead(style);
    this.makeProgress();
    this.text = new LaneText(this.root, this.lane.title);
    this.makeSpeed();
    this.makeFigures();
    const foot = el("div", { class: "race-foot" }, this.root);
    const hint = TOOLTIPS["button tree of a lane"];
    const act = () => {
      store.choose(index);
      showTree();
    };
    this.tree = button(foot, { text: "Show tree", hint, act });
    this.makeCheck(foot);
    rove(this.root);
    this.key = "";
    /** @type {Verdict | null} the verdict that the card shows */
    this.judged = null;
    this.wasMoving = false; // whether the race time was moving at the last paint
    /** @type {Result | null} */
    this.result = null;
    this.paintLossless(null);
  }

  /** @param {LaneStyle} style */
  makeHead(style) {
    const { about: facts, title } = this.lane;
    const line = el("div", { class: "race-name" }, this.root);
    line.append(laneMark(style));
    el("h3", { text: title, title }, line);
    const finish = el("span", { class: "race-finish" }, line);
    this.time = el("b", { class: "race-time", "data-part": "time" }, finish);
    this.place = addTerm(finish, "", "place", "race-place");
    this.place.dataset.part = "place";
    const { description, rule } = facts;
    const how = described({
      ...facts,
      description: [description, rule].filter(Boolean).join(", "),
    });
    const short = briefly(description ?? "", this.store.meta);
    const brief = described({ ...facts, description: short, rates: "" });
    const about = el("div", { class: "race-about" }, this.root);
    this.thumbnail = new TreeThumbnail(about, ...THUMBNAIL);
    el("p", { class: "race-how", text: brief || " ", title: how }, about);
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

  // A press on the card, but not on its buttons or while text is selected, chooses the lane.
  press({ target }) {
    if (!target.closest("button") && !String(window.getSelection())) this.store.choose(this.index);
  }

  makeProgress() {
    const line = el("div", { class: "race-progress" }, this.root);
    const label = "Progress to the finish line, in tokens";
    const attributes = { role: "progressbar", "aria-label": label, "aria-valuemin": "0" };
    this.bar = el("div", { class: "race-bar", ...attributes }, line);
    this.fill = el("i", {}, this.bar);
    this.tokens = el("span", { class: "race-tokens", "data-part": "tokens" }, line);
  }

  makeSpeed() {
    this.speed = el("div", { class: "race-speed", "data-part": "speed" }, this.root);
    this.ratio = el("b", { class: "sq-tile-value", "data-part": "ratio" }, this.speed);
    this.unit = el("span", { class: "sq-tile-unit" }, this.speed);
    const range = el("p", { class: "race-range" }, this.root);
    this.rangeTerm = addTerm(range, "95% CI", "range");
    this.range = el("span", { "data-part": "spread" }, range);
  }

  makeFigures() {
    this.counted = el("p", { class: "race-counted", "data-part": "counted" }, this.root);
    const list = el("dl", { class: "race-figures" }, this.root);
    /** @type {Record<string, HTMLElement>} */
    this.values = {};
    for (const [name, label, term] of FIGURES) {
      const box = el("div", {}, list);
      addTerm(el("dt", {}, box), label, term);
      this.values[name] = el("dd", { "data-figure": name }, box);
    }
    this.makePhases();
  }

  makePhases() {
    const bar = el("div", { class: "race-split", "aria-hidden": "true" }, this.root);
    const legend = el("div", { class: "race-phases", "data-part": "split" }, this.root);
    /** @type {Record<string, {part: HTMLElement, value: HTMLElement}>} */
    this.phases = {};
    for (const phase of PHASES) {
      const entry = el("span", { class: "race-phase" }, legend);
      el("i", { class: "sq-swatch", "data-phase": phase }, entry);
      addTerm(entry, phase);
      this.phases[phase] = {
        part: el("i", { class: "sq-swatch", "data-phase": phase }, bar),
        value: el("b", { "data-phase": phase }, entry),
      };
    }
  }

  /** @param {HTMLElement} foot */
  makeCheck(foot) {
    this.verdict = el("span", { class: "sq-badge race-badge", "data-part": "lossless" }, foot);
    const counting = { class: "race-counting", "aria-label": "Progress of the losslessness check" };
    this.counting = el("progress", counting, this.root);
    this.words = el("p", { class: "race-words", "data-part": "check" }, this.root);
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
    const place = places[index] ?? null;
    const placed = placeInWords(index, store.lanes, places);
    const result = store.results?.[index] ?? null;
    if (this.result !== result) this.paintLossless(result);
    attr(this.tree, "aria-pressed", String(lane === store.lane));
    this.root.classList.toggle("is-chosen", lane === store.lane);
    const wasMoving = this.wasMoving;
    this.wasMoving = store.moves;
    const done = store.shown(lane);
    const goal = goalOf(store);
    const key = [done, other && store.shown(other), reference, placed, goal, store.state].join();
    if (this.key === key && this.judged === verdict) return;
    this.key = key;
    this.judged = verdict;
    const sum = lane.sums[done];
    const loops = lane.about.plain ? "" : repeatsInWords(sum); // plain decoding drafts nothing
    this.text.paint(lane, done, this.ending(done), loops);
    this.paintTree(done);
    this.paintFinish(done === lane.steps.length && Boolean(lane.finish), wasMoving);
    this.paintProgress(sum, goal, place, placed);
    this.paintFigures(sum);
    if (verdict?.speedups[index]) this.paintVerdict(verdict);
    else this.paintSpeed(other, reference);
    text(this.counted, verdict ? countedIn(verdict) : "");
    attr(this.root, "data-tokens", sum.tokens);
    attr(this.root, "data-steps", sum.steps);
  }

  /**
   * Why the lane ended, in words; empty until it has ended and all of its steps are shown.
   * @param {number} done
   * @returns {string}
   */
  ending(done) {
    if (done < this.lane.steps.length) return "";
    const reason = this.lane.finish || (this.store.done ? "stopped" : "");
    return readable(runWords.finish(reason));
  }

  /**
   * Show the decode time of a lane that has finished. It is animated if the race time was moving.
   * @param {boolean} isOver
   * @param {boolean} wasMoving
   */
  paintFinish(isOver, wasMoving) {
    const isNew = wasMoving && !this.root.dataset.finish;
    show(this.time, isOver);
    text(this.time, isOver ? format.seconds(this.lane.seconds) : "");
    if (!isOver) attr(this.root, "data-finish", null);
    else if (!this.root.dataset.finish) attr(this.root, "data-finish", isNew ? "new" : "seen");
  }

  /**
   * @param {Sum} sum
   * @param {number} goal the finish line, in tokens
   * @param {Place | null} place
   * @param {string} placed the place in words
   */
  paintProgress(sum, goal, place, placed) {
    const reached = Math.min(sum.tokens, goal);
    show(this.place, Boolean(place));
    const isCertain = !placed.includes(" "); // not "tied for 1st" or "2nd or 3rd"
    text(this.place, placed + (isCertain ? "" : " (within noise)"));
    attr(this.place, "data-place", place && isCertain ? place.place : null);
    this.fill.style.transform = `scaleX(${reached / goal})`;
    attr(this.bar, "aria-valuemax", goal);
    attr(this.bar, "aria-valuenow", reached);
    text(this.tokens, `${grouped(sum.tokens)} / ${grouped(goal)} tokens`);
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
   * The speed-up so far, without an interval: the race is not over.
   * @param {LaneRun | undefined} other the lane that this one is compared with
   * @param {number} reference the index of that lane
   */
  paintSpeed(other, reference) {
    const { time, lanes, isOver, word } = this.store;
    const self = reference === this.index;
    show(this.speed, lanes.length > 1);
    const ratio = other ? speedRatio(this.lane, other, time) : NaN;
    const some = known(ratio);
    const now = isOver || self ? "" : " so far";
    text(this.ratio, some ? ratio.toFixed(2) : "–");
    text(this.unit, some ? "× " + baseline(lanes, reference, self) + now : "");
    text(this.range, some && !self ? word : " ");
    show(this.rangeTerm, false);
    attr(this.root, "data-verdict", null);
  }

  /** @param {Verdict} verdict of the race, which is over */
  paintVerdict(verdict) {
    const { lanes, meta, word } = this.store;
    const speedup = verdict.speedups[this.index];
    const { word: how, times, range } = speedupWords(speedup);
    const isUnclear = speedup.code === "no_clear_difference";
    const name = baseline(lanes, speedup.over, false);
    text(this.ratio, times.slice(0, -1));
    text(this.unit, isUnclear ? `× ${name}: ${how}` : `× ${how} than ${name}`);
    text(this.range, `${range}; ${basisOf(verdict, this.index, word)}`);
    show(this.rangeTerm, known(speedup.low));
    attr(this.root, "data-verdict", runWords.verdictColour(meta, speedup.code));
  }

  /** @param {Result | null} result */
  paintLossless(result) {
    this.result = result;
    const { kind, match, count, label } = result?.lossless || {};
    const words = this.store.analysis[this.index]?.lossless;
    const index = match?.index;
    for (const node of [this.verdict, this.words]) show(node, Boolean(kind));
    attr(this.verdict, "data-kind", kind);
    text(this.verdict, kind === "none" && count ? "too few samples" : VERDICTS[kind] || "");
    this.paintCounting(count);
    const where = known(index) ? ` First difference: token ${index + 1}.` : "";
    // the counts have a panel of their own, with the label
    const source = label && !count && kind !== "none" ? ` (${readable(label)})` : "";
    text(this.words, readable(words) + where + source);
  }

  /** @param {Count | null | undefined} count */
  paintCounting(count) {
    show(this.counting, Boolean(count?.going));
    if (!count?.going) return;
    text(this.verdict, `sampling, ${count.draws} / ${count.wanted}`);
    attr(this.counting, "max", count.wanted);
    attr(this.counting, "value", count.draws);
  }
}

/**
 * The name of the lane that a speed-up is relative to.
 * @param {LaneRun[]} lanes
 * @param {number} index of that lane
 * @param {boolean} self whether the name is for the card of that lane itself
 * @returns {string}
 */
function baseline(lanes, index, self) {
  const { plain, prompt_name: on } = lanes[index].about;
  const where = on ? " on " + on : "";
  if (plain) return (self ? "plain decoding" : "plain") + where;
  return self ? "baseline" + where : lanes[index].title;
}

// The clock's name is cut at its first comma, which leaves the name of the machine. The source of
// the acceptance rates is left out, because the notes above the race name it. The tooltip has both.
/** @type {(description: string, meta: any) => string} */
function briefly(description, { clock }) {
  const [short] = description.split(", from acceptance rates");
  return clock ? short.replace(clock, () => clock.split(",")[0]) : short;
}

/**
 * How a lane decodes. The most important parts come first, because the page may cut the end.
 * @param {Partial<import("../../shared/web/schema.js").LaneShown>} lane
 * @returns {string}
 */
function described({ description, verifier, plain, most, changes, kind, rates }) {
  const parts = [];
  if (most > 1) parts.push((changes ? "at most " : "") + format.count(most, "node"));
  if (verifier && !plain) parts.push(ruleOf(verifier, kind));
  if (changes)
    parts.push(kind === "replanned" ? "new tree every few steps" : "new tree every step");
  return [...parts, runWords.sourced(description ?? "", rates)]
    .filter(Boolean)
    .map(readable)
    .join(" · ");
}

// On a chain, nothing is left to sample without replacement.
/** @type {(verifier: string, kind: string | null) => string} */
const ruleOf = (verifier, kind) =>
  verifier === "sequoia" && CHAINS.includes(kind)
    ? "Sequoia verifier (the standard one on a chain)"
    : runWords.verifier(verifier) + " verifier";
