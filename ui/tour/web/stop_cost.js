/* The first stop of the tour: the cost of a pass over several tokens. */
import { el } from "../../shared/web/dom.js";
import { LengthControl } from "./controls.js";
import { CurveChart } from "./curve_chart.js";
import { figure } from "./filled.js";
import { LESSON } from "./lesson.js";
import { factorOff, timesOne } from "./pass_cost.js";
import { Stop } from "./stop.js";

/** @import { Tour } from "./tour_view.js" */

const CLOSE = 1.2; // the visitor's guess counts as right if it is off by less than this factor

/** The stop "The cost". */
export class CostStop extends Stop {
  /**
   * @param {HTMLElement} host
   * @param {Tour} tour
   */
  constructor(host, tour) {
    super(host, tour, "cost");
    const { tokens, machine, card } = this.words;
    this.here = tour.profiles[machine];
    this.there = tour.profiles[card];
    const times = figure(timesOne(this.here, tokens));
    this.times = Number(times); // as printed, so that a visitor who divides by it gets the same
    this.facts = {
      tokens,
      times,
      card_times: figure(timesOne(this.there, tokens), 2),
      card: LESSON.machines[card].name,
      card_label: this.there.source,
      machine: LESSON.machines[machine].name,
      machine_label: this.here.source,
    };
    this.ask("length", {
      control: (at) => this.blocks(at),
      verdict: (said) => this.verdict(said),
      reveal: (at, said) => this.reveal(at, said),
    });
  }

  blocks(host) {
    const { one, label, start, yours } = this.words.questions.length;
    this.block(host, one, 1, "is-pass");
    return new LengthControl(host, {
      label: this.say(label),
      said: (value, isGuess) => this.say(isGuess ? yours : start, { said: figure(value) }),
      most: this.words.tokens,
    });
  }

  block(host, name, times, cls) {
    const line = el("div", { class: "sq-tour-block" }, host);
    const head = el("span", { class: "sq-tour-block-name" }, line);
    el("span", { text: name }, head);
    const lane = el("span", { class: "sq-tour-lane" }, line);
    const bar = el("span", { class: "sq-tour-bar " + cls }, lane);
    bar.style.width = (100 * times) / this.words.tokens + "%";
    return head;
  }

  verdict(said) {
    const { right, long, short, shown } = this.words.questions.length;
    if (said === null) return /** @type {const} */ (["shown", this.say(shown)]);
    const factor = factorOff(said, this.times);
    const off = figure(factor);
    if (factor < CLOSE) return /** @type {const} */ (["right", this.say(right)]);
    const words = said > this.times ? long : short;
    return /** @type {const} */ (["off", this.say(words, { off, said: figure(said) })]);
  }

  reveal(host, said) {
    const { label, real } = this.words.questions.length;
    if (said === null) this.questions[0].control.remove(); // the visitor made no guess
    const head = this.block(host, this.say(label), this.times, "is-pass");
    el("b", { text: this.say(real) }, head);
    const { source } = this.here;
    el("span", { class: "sq-badge", "data-label": source, text: source }, head);
    this.chart(host);
  }

  chart(host) {
    const { tokens, up_to: most, chart, axis, naive } = this.words;
    el("h4", { class: "sq-tour-sub", text: chart }, host);
    const line = (profile, name, cls) => ({
      name,
      cls,
      points: Array.from({ length: most }, (_, i) => [i + 1, timesOne(profile, i + 1)]),
    });
    const { machine, card } = this.words;
    const lines = [
      line(this.here, this.nameOf(machine), "is-here"),
      line(this.there, this.nameOf(card), "is-there"),
    ];
    new CurveChart(host, { label: chart, axis, lines, naive, mark: tokens });
  }

  nameOf(key) {
    return `${LESSON.machines[key].short} (${this.tour.profiles[key].source})`;
  }
}
