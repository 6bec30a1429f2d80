/* The first stop of the tour: the cost of a pass over several tokens. */
import { LengthControl } from "./controls.js";
import { figure } from "./filled.js";
import { LESSON } from "./lesson.js";
import { factorOff, timesOne } from "./pass_cost.js";
import { Stop } from "./stop.js";
import { el, sized, svg } from "../../shared/web/dom.js";

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
    const head = el("span", { class: "sq-tour-block-name sq-wrap" }, line);
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

const HEIGHT = 190;
const LEFT = 30;
const BOTTOM = 34;
const TOP = 10;
const RIGHT = 14;
const LABEL = 8; // px between a curve and its name above it

/**
 * @typedef {{name: string, cls: string, points: number[][]}} Line `points`: [x, y] for each
 *   x = 1, 2, ...; y must not decrease
 * @typedef {object} About
 * @property {string} label for screen readers
 * @property {string} axis title of the horizontal axis
 * @property {Line[]} lines the highest line first
 * @property {string} naive name of the line y = x, which is drawn for comparison
 * @property {number} mark the number of tokens at which the curves are marked
 */

/** The chart. */
export class CurveChart {
  /**
   * @param {Element} host
   * @param {About} about
   */
  constructor(host, about) {
    this.about = about;
    this.box = el("div", { class: "sq-tour-chart" }, host);
    const at = (line) => figure(line.points[about.mark - 1][1], 2);
    const values = about.lines.map((line) => `${line.name}: ${at(line)} at ${about.mark}`);
    const label = `${about.label}. ${values.join("; ")}.`;
    this.root = svg("svg", { role: "img", "aria-label": label, height: HEIGHT }, this.box);
    this.size = sized(this.box, () => this.draw());
  }

  draw() {
    this.root.replaceChildren();
    this.root.setAttribute("width", String(this.size.w));
    this.mostX = this.about.lines[0].points.length;
    this.mostY = Math.ceil(this.about.lines[0].points.at(-1)[1] + 0.5);
    this.grid();
    this.naive();
    for (const line of this.about.lines) this.line(line);
  }

  x(value) {
    return LEFT + ((this.size.w - LEFT - RIGHT) * (value - 1)) / (this.mostX - 1);
  }

  y(value) {
    return HEIGHT - BOTTOM - ((HEIGHT - BOTTOM - TOP) * value) / this.mostY;
  }

  text(x, y, words, cls, anchor = "start") {
    svg("text", { x, y, class: cls, "text-anchor": anchor, text: words }, this.root);
  }

  grid() {
    const { mark, axis } = this.about;
    for (let value = 0; value <= this.mostY; value += 2) {
      svg("path", { class: "sq-grid", d: `M${LEFT} ${this.y(value)}H${this.size.w}` }, this.root);
      this.text(LEFT - 6, this.y(value) + 4, String(value), "sq-axis", "end");
    }
    const highest = this.about.lines[0].points[mark - 1][1];
    const d = `M${this.x(mark)} ${this.y(0)}V${this.y(highest)}`;
    svg("path", { class: "sq-tour-mark", d }, this.root);
    for (const value of [1, mark, this.mostX / 2, this.mostX])
      this.text(this.x(value), HEIGHT - BOTTOM + 15, String(value), "sq-axis", "middle");
    this.text((LEFT + this.size.w) / 2, HEIGHT - 4, axis, "sq-axis", "middle");
  }

  naive() {
    const d = `M${this.x(1)} ${this.y(1)}L${this.x(this.mostY)} ${this.y(this.mostY)}`;
    svg("path", { class: "sq-tour-naive", d }, this.root);
    this.text(this.x(this.mostY) + 8, TOP + 12, this.about.naive, "sq-axis");
  }

  line({ name, cls, points }) {
    const d = points.map(([x, y]) => `${this.x(x).toFixed(1)} ${this.y(y).toFixed(1)}`).join("L");
    svg("path", { class: "sq-tour-line " + cls, d: "M" + d }, this.root);
    const [x, y] = points[this.about.mark - 1];
    svg("circle", { class: cls, cx: this.x(x), cy: this.y(y), r: 4 }, this.root);
    const at = points[Math.floor(points.length * 0.62)];
    this.text(this.x(at[0]), this.y(at[1]) - LABEL, name, "sq-tour-name " + cls, "end");
  }
}
