/* Tokens drawn by guess, test and correction. One box shows a single draw with its test. A table
   shows how often each token came out in thousands of draws, and how often it must come out. */
import { DrawBar } from "../../shared/web/draw_bar.js";
import { attr, button, el, text } from "../../shared/web/dom.js";
import { seeded } from "../../shared/web/random.js";
import { apart, grouped } from "../../shared/web/format.js";
import { counts, draw, keepChance, sum, worstOff } from "./draws.js";
import { bound, figure, filled } from "./filled.js";
import { headed } from "../../shared/web/tooltips.js";

/** The two boxes: a single draw, and the table. */
export class DrawCard {
  /**
   * @param {HTMLElement} host
   * @param {Record<string, any>} words settings and texts of this stop of the tour
   */
  constructor(host, words) {
    this.words = words;
    this.random = seeded(words.seed);
    this.found = counts(words.p, words.q, words.throws, this.random);
    this.makeOne(host);
    this.makeTable(host);
    this.one();
    this.paint();
  }

  makeOne(host) {
    const { card, throw: again } = this.words;
    const box = el("div", { class: "sq-tour-draw" }, host);
    el("h4", { class: "sq-tour-sub", text: card }, box);
    const meter = el("div", { class: "sq-meter", "aria-hidden": "true" }, box);
    this.name = el("span", { class: "sq-meter-u" }, meter);
    this.bar = new DrawBar(meter);
    this.says = el("p", { class: "sq-tour-says", "aria-live": "polite" }, box);
    button(box, { text: again, part: "draw", act: () => this.drawOne() });
  }

  makeTable(host) {
    const box = el("div", { class: "sq-tour-draws" }, host);
    this.title = el("h4", { class: "sq-tour-sub" }, box);
    const table = el("table", { class: "sq-table sq-full sq-tour-table" }, box);
    const { questions, drawn } = this.words;
    const names = [questions.left.word, questions.left.must, drawn];
    const body = headed(table, names);
    this.cells = this.words.words.map((word, i) => {
      const row = el("tr", {}, body);
      el("td", {}, row).append(el("code", { text: word }));
      el("td", { text: `${this.words.p[i]}%` }, row);
      return el("td", { "data-part": "came-out" }, row);
    });
    this.worst = el("p", { class: "sq-tour-says", "data-part": "worst" }, box);
    const more = filled(this.words.many, { throws: grouped(this.words.throws) });
    button(box, { text: more, part: "draw-many", act: () => this.drawMany() });
  }

  drawOne() {
    this.found[this.one()] += 1;
    this.paint();
  }

  drawMany() {
    const { p, q, throws } = this.words;
    const more = counts(p, q, throws, this.random);
    this.found = this.found.map((count, i) => count + more[i]);
    this.paint();
  }

  // Shows one draw. Returns the index of its token.
  one() {
    const { p, q, words, kept, sure, thrown } = this.words;
    const { guess, u, isKept, token } = draw(p, q, this.random);
    const ratio = keepChance(p[guess], q[guess]);
    const [below, above] = apart(u, ratio);
    const facts = { word: words[guess], u: below, ratio: above };
    const always = ratio === 1 ? sure : kept;
    text(this.says, filled(isKept ? always : thrown, { ...facts, other: words[token] }));
    this.bar.paint(u, ratio);
    this.name.style.left = 100 * Math.min(Math.max(u, 0.06), 0.94) + "%";
    text(this.name, "u = " + facts.u);
    attr(this.says, "data-s", isKept ? "accepted" : "rejected");
    return token;
  }

  paint() {
    const { p, table, worst } = this.words;
    const total = sum(this.found);
    text(this.title, filled(table, { count: grouped(total) }));
    this.found.forEach((count, i) => text(this.cells[i], figure((100 * count) / total) + "%"));
    text(this.worst, filled(worst, { worst: bound(worstOff(this.found, p)) }));
  }
}
