/* The third stop of the tour: how far a chain of guesses gets. */
import { el, text } from "../../shared/web/dom.js";
import { keptChances, meanKept, ofHundred, recordedChain } from "./chain_steps.js";
import { figure } from "./filled.js";
import { LESSON } from "./lesson.js";
import { guessingCost } from "./pass_cost.js";
import { Stop } from "./stop.js";

/** @import { Tour } from "./tour_view.js" */

const NEAR = 2; // an answer counts as right if it is off by at most this many of 100 steps
const CLOSE = 0.15; // the same, in tokens per step
const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";
const TALLEST = 110; // height of the chart in px
const LEAST_TOP = 0.4; // the top of the chart is at least this share of the steps

/** The stop "The chain". */
export class ChainStop extends Stop {
  /**
   * @param {HTMLElement} host
   * @param {Tour} tour
   */
  constructor(host, tour) {
    super(host, tour, "chain");
    const { acceptance: a, guesses: n, machine, recording } = this.words;
    const run = tour.runs[recording];
    this.run = recordedChain(run.steps, n);
    this.all = ofHundred(keptChances(a, n)).at(-1);
    this.mean = meanKept(a, n);
    this.facts = {
      n,
      a,
      nth: SUPERSCRIPTS[n],
      chance: figure(a ** n, 2),
      of: Math.round(a * 5),
      out_of: 5,
      all: this.all,
      guesses: figure(this.mean),
      tokens: figure(this.mean + 1),
      power: SUPERSCRIPTS[n + 1],
      cost: figure(guessingCost(tour.profiles[machine], n)),
      machine: LESSON.machines[machine].name,
      machine_label: tour.profiles[machine].source,
      temperature: run.meta.params.temperature,
    };
    this.askAll();
    this.askMean();
  }

  askAll() {
    const { first, high, low } = this.words.questions.all;
    const single = Math.round(100 * this.words.acceptance);
    const wrong = (said) => (said > this.all ? high : low);
    this.askNumber("all", {
      most: 100,
      isRight: (said) => Math.abs(said - this.all) <= NEAR,
      wrong: (said) => (said === single ? first : wrong(said)),
      reveal: (at) => this.bars(at),
    });
  }

  askMean() {
    const { own, wrong } = this.words.questions.mean;
    const isNear = (value, said) => Math.abs(said - value) <= CLOSE;
    this.askNumber("mean", {
      most: 10,
      step: "0.1",
      isRight: (said) => isNear(this.mean + 1, said),
      wrong: (said) => (isNear(this.mean, said) ? own : wrong),
      reveal: (at) => this.slider(at),
    });
  }

  bars(host) {
    const { bars, predicted, recorded, acceptance, guesses } = this.words;
    el("h4", { class: "sq-tour-sub", text: this.say(bars) }, host);
    const key = el("p", { class: "sq-tour-key" }, host);
    el("span", { class: "is-predicted", text: predicted }, key);
    el("span", { class: "is-recorded", text: recorded }, key);
    const list = el("ol", { class: "sq-tour-bars" }, host);
    this.columns = this.run.shares.map((_, i) => this.column(list, i));
    this.paintBars(keptChances(acceptance, guesses));
  }

  column(list, i) {
    const item = el("li", {}, list);
    const pair = el("span", { class: "sq-tour-pair" }, item);
    const bars = ["is-predicted", "is-recorded"].map((cls) => el("span", { class: cls }, pair));
    el("span", { class: "sq-tour-column", text: String(i) }, item);
    return bars;
  }

  paintBars(chances) {
    const top = Math.max(LEAST_TOP, ...chances, ...this.run.shares);
    this.columns.forEach(([predicted, recorded], i) => {
      paintBar(predicted, chances[i], top);
      paintBar(recorded, this.run.shares[i], top);
    });
  }

  slider(host) {
    const { slide, acceptance, versus } = this.words;
    const line = el("label", { class: "sq-tour-slider sq-wrap" }, host);
    el("span", { text: slide }, line);
    const look = { type: "range", min: 0, max: 1, step: 0.05, value: acceptance };
    const input = el("input", { ...look, "data-part": "slide" }, line);
    const words = el("p", { class: "sq-tour-says", "aria-live": "polite" }, host);
    input.addEventListener("input", () => this.slid(Number(input.value), words));
    this.slid(acceptance, words);
    const { steps, keptShare, tokens } = this.run;
    const facts = { steps, kept: Math.round(100 * keptShare), tokens: figure(tokens) };
    el("p", { class: "sq-tour-says", text: this.say(versus, facts) }, host);
  }

  slid(a, words) {
    const mean = meanKept(a, this.words.guesses);
    this.paintBars(keptChances(a, this.words.guesses));
    const facts = { a: figure(a, 2), guesses: figure(mean), tokens: figure(mean + 1) };
    text(words, this.say(this.words.slid, facts));
  }
}

function paintBar(bar, share, top) {
  bar.style.setProperty("--tall", (share / top) * TALLEST + "px");
  text(bar, String(Math.round(100 * share)));
}
