/* The headline of a run: its verdict in large type with the interval, what it is compared with, the
   time of a step, and where the numbers come from. */
import { attr, button, el, show, text } from "../../shared/web/dom.js";
import { count, duration, known, ms, percent, rate, readable } from "../../shared/web/format.js";
import { otherModelsWords } from "../../shared/web/between_tabs.js";
import { IntervalBar } from "../../shared/web/interval_bar.js";
import { openView } from "../../shared/web/navigation.js";
import { keptPlace } from "../../shared/web/tour_place.js";
import * as runWords from "../../shared/web/run_words.js";
import { earlyEnd, textClaim } from "./same_text.js";
import { speedupInWords, speedupWords } from "../../shared/web/verdict_words.js";

/**
 * @import { Meta } from "../../shared/web/run_facts.js"
 * @import { PresenterHead } from "../../run/web/presenter.js"
 * @import { RunStore } from "../../run/web/run_store.js"
 * @import { Totals } from "../../run/web/lane_run.js"
 */

const PAPER = "https://arxiv.org/abs/2402.12374";
const TOUR = "Take the tour (8 min)";
const RESUME = "Resume the tour";

/** The band above the panels. */
export class Headline {
  /**
   * @param {RunStore} store
   * @param {Element} host
   * @param {{take?: (meta: Meta) => void, again?: (run: string) => void}} [page] `take`: copies a
   *   run's settings to the form. `again`: runs a run a few more times
   */
  constructor(store, host, { take, again } = {}) {
    this.store = store;
    this.canRun = Boolean(take);
    this.root = el("section", { class: "sq-headline", "data-part": "headline" }, host);
    const result = el("div", { class: "sq-headline-result" }, this.root);
    this.number = el("p", { class: "sq-headline-number", "data-part": "speed-up" }, result);
    this.flag = el("p", { class: "sq-flag", text: "hypothetical", "data-part": "flag" }, result);
    this.interval = el("p", { class: "sq-headline-interval" }, result);
    this.bar = new IntervalBar(this.interval);
    this.range = el("span", { "data-part": "interval" }, this.interval);
    const words = el("div", { class: "sq-headline-words" }, this.root);
    this.claim = el("p", { class: "sq-headline-claim" }, words);
    this.price = el("p", { class: "sq-headline-price", "data-part": "price" }, words);
    const line = el("p", { class: "sq-headline-basis", "data-part": "basis" }, words);
    this.badge = el("span", { class: "sq-badge", "data-part": "simulated" }, line);
    this.basis = el("span", {}, line);
    const link = { href: PAPER, target: "_blank", rel: "noreferrer", text: "The paper" };
    this.paper = el("a", { class: "sq-headline-paper", ...link }, line);
    this.acts = el("div", { class: "sq-headline-acts" }, this.root);
    this.more = button(this.acts, {
      text: "Run it again",
      part: "run-again",
      act: () => again?.(store.name),
    });
    const entry = keptPlace() ? RESUME : TOUR;
    const tour = () => openView("tour");
    this.tour = button(this.acts, { text: entry, part: "tour", act: tour });
    this.own = button(this.acts, {
      text: "Run it yourself",
      part: "own",
      act: () => take?.(store.meta),
    });
    this.own.classList.add("sq-btn-main");
  }

  /** @param {boolean} isOpening whether this run is the recording that the page opens with */
  paint(isOpening) {
    const { store } = this;
    const { speedup } = store.meta;
    text(this.number, headlineNumber(store));
    attr(this.root, "data-verdict", runWords.verdictColour(store.meta, speedup?.code));
    show(this.flag, runWords.isHypothetical(store.meta));
    this.paintInterval(speedup);
    text(this.claim, speedup ? claim(store) : waiting(store, this.canRun));
    text(this.price, speedup ? price(store) : "");
    text(this.basis, [otherModelsWords(store.meta), basis(store.meta)].join(" ").trim());
    show(this.badge, runWords.isSimulated(store.meta));
    if (runWords.isSimulated(store.meta)) runWords.paintSimulated(this.badge, store.meta);
    this.paintButtons(isOpening);
  }

  paintInterval(speedup) {
    show(this.interval, Boolean(speedup));
    if (!speedup) return;
    const { times, interval } = speedupWords(speedup);
    const isUnclear = speedup.code === "no_clear_difference";
    text(this.range, isUnclear ? `${times} (${interval})` : interval);
    this.bar.paint(speedup);
  }

  paintButtons(isOpening) {
    const { store } = this;
    const { again, speedup } = store.meta;
    // also after a clear verdict, which may be luck
    const canRunAgain = this.canRun && Boolean(again && speedup) && !store.isRunAgain;
    show(this.more, canRunAgain);
    if (canRunAgain)
      text(
        this.more.lastElementChild,
        `Run it ${count(again.runs, "more time")} (${duration(again.seconds)})`,
      );
    show(this.tour, isOpening && this.canRun);
    show(this.own, isOpening && this.canRun);
    show(this.paper, isOpening);
    show(this.acts, isOpening || canRunAgain);
  }
}

/**
 * The run in a few words: its verdict, or its tokens per step if there is none.
 * @param {RunStore} store
 * @returns {string}
 */
export function headlineNumber(store) {
  const { speedup } = store.meta;
  if (!speedup) return tokens(store.totals(store.written));
  return speedup.code === "no_clear_difference"
    ? speedupWords(speedup).word
    : speedupInWords(speedup);
}

/**
 * The line on top of presenter mode.
 * @param {RunStore} store
 * @returns {PresenterHead}
 */
export function presenterHead(store) {
  const { meta } = store;
  const { speedup } = meta;
  if (!speedup) return { words: headlineNumber(store), code: null, basis: "" };
  const interval = speedup.code === "no_clear_difference" ? "" : speedupWords(speedup).interval;
  const runs = speedup.runs > 1 ? `over ${speedup.runs} runs` : "";
  return {
    words: speedupInWords(speedup),
    code: runWords.verdictColour(meta, speedup.code),
    basis: [interval, runs].filter(Boolean).join(", "),
  };
}

/** @type {(totals: Totals) => string} */
const tokens = ({ tokensPerStep }) =>
  known(tokensPerStep) ? rate(tokensPerStep) + " tokens per step" : "–";

/** @type {(store: RunStore) => string} */
function claim(store) {
  const { meta, last } = store;
  const { speedup } = meta;
  const isUnclear = speedup.code === "no_clear_difference";
  const runs = speedup.runs > 1 ? ` over ${speedup.runs} runs` : "";
  const compared = (isUnclear ? "from" : "than") + " the large model alone" + runs;
  return compared + textClaim(meta, store.totals(last).tokens);
}

/** @type {(store: RunStore, canRun: boolean) => string} canRun: false in a saved page */
function waiting({ done, reason, last, meta }, canRun) {
  if (last < 0) return "";
  if (meta.tree?.request?.[0] === "plain") return "The large model alone: one token per pass.";
  const canContinue = canRun && (reason === "paused" || reason === "stopped");
  return done && !canContinue
    ? "The large model alone was not timed, so there is no speed-up."
    : "The speed-up appears after the run if the large model alone is timed as well.";
}

// The figures of the whole run, and those that give its verdict where they differ: plain decoding
// may have been stopped earlier.
/** @type {(store: RunStore) => string} */
function price(store) {
  const { tokensPerStep, seconds, steps, tokens: made } = store.totals(store.last);
  const [own, plain] = store.meta.speedup.seconds;
  const each = seconds / made;
  const step = store.meta.speedup.runs > 1 ? "In the first run, a step" : "A step";
  const mean = `${step} averages ${tokensPerStep.toFixed(1)} tokens in ${ms(seconds / steps)}`;
  const isWhole = Math.abs(own - each) < 0.005 * each;
  const words = isWhole
    ? `${mean}: ${ms(own)} per token. The large model alone: ${ms(plain)} per token` +
      `${ofTheMemory(store.meta, plain)}.`
    : `${mean}: ${ms(each)} per token. Over the text that both decoded: ${ms(own)} per token, ` +
      `the large model alone ${ms(plain)}.`;
  return [words, otherRatio(store.meta.speedup), earlyEnd(store.meta, made)]
    .filter(Boolean)
    .join(" ");
}

// A token of plain decoding reads all weights, so the memory bounds its speed. Nothing is said of
// weights that stay in the processor's cache.
/** @type {(meta: Meta, plain: number) => string} */
function ofTheMemory({ floor_seconds: floor }, plain) {
  if (!floor || floor >= plain) return "";
  return `, of which reading all its weights takes ${ms(floor)} (${percent(floor / plain)})`;
}

// Why the ratio of the two times is not the speed-up, if it is not: the speed-up is of several
// runs, or in a lane of a race, of expected tokens per step.
/** @type {(speedup: NonNullable<Meta["speedup"]>) => string} */
function otherRatio({ ratio, seconds: [own, plain], runs }) {
  if (runs > 1) return "";
  const isSame = Math.abs(plain / own - ratio) < 0.02 * ratio;
  return isSame ? "" : "These tokens are counted; the speed-up is for the expected number.";
}

/** @type {(meta: Meta) => string} */
function simulatedBasis(meta) {
  const { clock, device, date } = meta;
  const place = [device, unbroken(date)].filter(Boolean).join(", ");
  const made = place && ` The models ran on ${readable(place)}.`;
  const mixture = runWords.mixtureWords(meta);
  return [mixture, runWords.simulatedWords({ clock }) + made].filter(Boolean).join(" ");
}

// The day of a date, with non-breaking hyphens.
const unbroken = (date) =>
  String(date || "")
    .slice(0, 10)
    .replaceAll("-", "\u2011");

/** @type {(meta: Meta) => string} */
function basis(meta) {
  if (runWords.isSimulated(meta)) return simulatedBasis(meta);
  const { opening, label, device, date } = meta;
  const place = [device, unbroken(date)].filter(Boolean).join(", ");
  const made = opening ? `${label} at temperature ${meta.params?.temperature}` : label;
  const source = [made, place].filter(Boolean).join(" on ");
  const stated = source && source[0].toUpperCase() + source.slice(1) + ".";
  if (!opening) return [readable(meta.about), stated].filter(Boolean).join(" ");
  const [low, high] = opening.range.map((one) => one.toFixed(1) + "×");
  return (
    `This prompt is typical: over ${opening.prompts.length} prompts the median speed-up is ` +
    `${opening.median.toFixed(1)}×, and most lie between ${low} and ${high}. ${stated} ` +
    "Other machines differ, and higher temperatures give less."
  );
}
