/* The headline of a run: its speed-up in one large number, what it is compared with, the time of a
   step, and where the numbers come from. */
import { button, el, show, text } from "../../shared/web/dom.js";
import { known, ms, rate, readable } from "../../shared/web/format.js";
import { showTour } from "../../shared/web/tabs.js";
import { keptPlace } from "../../shared/web/tour_place.js";
import { isSimulated, paintSimulated, simulatedWords } from "../../shared/web/run_words.js";

/**
 * @import { Meta } from "../../shared/web/run_facts.js"
 * @import { RunStore } from "./run_store.js"
 * @import { Totals } from "./run_totals.js"
 */

const PAPER = "https://arxiv.org/abs/2402.12374";
const TOUR = "Take the tour (8 min)";
const RESUME = "Resume the tour";
const EVEN = 0.05; // a speed-up that differs from 1 by less than this is called "same speed"

/** The band above the panels. */
export class Headline {
  /**
   * @param {RunStore} store
   * @param {Element} host
   * @param {{take?: (meta: Meta) => void}} [page] `take`: copies a run's settings to the form
   */
  constructor(store, host, { take } = {}) {
    this.store = store;
    this.canRun = Boolean(take);
    this.root = el("section", { class: "sq-headline", "data-part": "headline" }, host);
    this.number = el("p", { class: "sq-headline-number", "data-part": "speed-up" }, this.root);
    const words = el("div", { class: "sq-headline-words" }, this.root);
    this.claim = el("p", { class: "sq-headline-claim" }, words);
    this.price = el("p", { class: "sq-headline-price", "data-part": "price" }, words);
    const line = el("p", { class: "sq-headline-basis", "data-part": "basis" }, words);
    this.badge = el("span", { class: "sq-badge", "data-part": "simulated" }, line);
    this.basis = el("span", {}, line);
    const link = { href: PAPER, target: "_blank", rel: "noreferrer", text: "The paper" };
    this.paper = el("a", { class: "sq-headline-paper", ...link }, line);
    this.acts = el("div", { class: "sq-headline-acts" }, this.root);
    this.again = button(this.acts, { text: "Play again", part: "again", act: () => store.play() });
    const entry = keptPlace() ? RESUME : TOUR;
    this.tour = button(this.acts, { text: entry, part: "tour", act: showTour });
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
    const totals = store.totals(store.written);
    const isKnown = known(totals.speedup);
    text(this.number, headlineNumber(store));
    text(this.claim, isKnown ? claim(totals.speedup, store) : waiting(store, this.canRun));
    text(this.price, isKnown ? price(totals, store.meta) : "");
    text(this.basis, basis(store.meta));
    show(this.badge, isSimulated(store.meta));
    if (isSimulated(store.meta)) paintSimulated(this.badge, store.meta);
    show(this.again, store.isWhole);
    show(this.tour, isOpening && this.canRun);
    show(this.own, isOpening && this.canRun);
    show(this.paper, isOpening);
    show(this.acts, isOpening || store.isWhole);
  }
}

/**
 * The run in one number: its speed-up so far, or its tokens per step if the speed-up is unknown.
 * @param {RunStore} store
 * @returns {string}
 */
export function headlineNumber(store) {
  const totals = store.totals(store.written);
  return known(totals.speedup) ? speed(totals.speedup) : tokens(totals);
}

/** @type {(times: number) => string} */
function speed(times) {
  if (Math.abs(times - 1) < EVEN) return "same speed";
  return times > 1 ? times.toFixed(1) + "× faster" : times.toFixed(2) + "× as fast";
}

/** @type {(totals: Totals) => string} */
const tokens = ({ tokensPerStep }) =>
  known(tokensPerStep) ? rate(tokensPerStep) + " tokens per step" : "–";

/** @type {(times: number, store: RunStore) => string} */
function claim(times, store) {
  const compared = (times >= 1 + EVEN ? "than" : "as") + " the large model alone";
  if (store.meta.policy?.temperature !== 0) return compared + ", and the same output distribution";
  return textsDiffer(store) ? compared : compared + ", and the same text in the end";
}

// Whether the text of plain decoding is known and differs from the run's, compared over the length
// that both have. The last piece of the plain text need only begin with the run's piece. Plain
// decoding ended there, so its last piece includes text that the run may still hold back, such as
// an incomplete character.
/** @type {(store: RunStore) => boolean} */
function textsDiffer({ steps, meta }) {
  const plain = meta.plain?.text ?? [];
  const gap = steps.indexOf(null);
  const arrived = gap < 0 ? steps : steps.slice(0, gap);
  const own = arrived.flatMap((step) => step.text ?? []).slice(0, plain.length);
  const last = plain.length - 1;
  return own.some((one, i) => (i < last ? plain[i] !== one : !plain[i].startsWith(one)));
}

/** @type {(store: RunStore, canRun: boolean) => string} canRun: false in a saved page */
function waiting({ done, end, last, meta }, canRun) {
  if (last < 0) return "";
  if (meta.tree?.wish?.[0] === "plain") return "The large model alone: one token per pass.";
  if (known(meta.plain_seconds)) return "The speed-up appears after the first step.";
  const canContinue = canRun && (end === "paused" || end === "stopped");
  return done && !canContinue
    ? "The large model alone was not timed, so there is no speed-up."
    : "The speed-up appears after the run if the large model alone is timed as well.";
}

/** @type {(totals: Totals, meta: Meta) => string} */
function price({ tokensPerStep, seconds, steps, whole }, { plain_seconds: plain }) {
  const step = whole ? "A step" : "So far a step";
  const mean = `${step} averages ${tokensPerStep.toFixed(1)} tokens in ${ms(seconds / steps)}`;
  const each = ms(seconds / steps / tokensPerStep);
  return `${mean}: ${each} per token. The large model alone: ${ms(plain)} per token.`;
}

/** @type {(meta: Meta) => string} */
function simulatedBasis({ clock, device, date }) {
  const place = [device, unbroken(date)].filter(Boolean).join(", ");
  const made = place && ` The models ran on ${readable(place)}.`;
  return simulatedWords({ clock }) + made;
}

// The day of a date, with non-breaking hyphens.
const unbroken = (date) =>
  String(date || "")
    .slice(0, 10)
    .replaceAll("-", "\u2011");

/** @type {(meta: Meta) => string} */
function basis(meta) {
  if (isSimulated(meta)) return simulatedBasis(meta);
  const { opening, label, device, date } = meta;
  const place = [device, unbroken(date)].filter(Boolean).join(", ");
  const made = opening ? `${label} at temperature ${meta.policy?.temperature}` : label;
  const source = [made, place].filter(Boolean).join(" on ");
  const stated = source && source[0].toUpperCase() + source.slice(1) + ".";
  if (!opening) return [readable(meta.about), stated].filter(Boolean).join(" ");
  const [low, high] = opening.range.map((one) => one.toFixed(1) + "×");
  return (
    `This prompt is typical: over ${opening.prompts.length} prompts the median speed-up is ` +
    `${opening.median.toFixed(1)}×, and most lie between ${low} and ${high}. ${stated}`
  );
}
