/* The tour's second stop: how guesses (draft tokens) are kept or rejected so that the output has
   the target's distribution. */
import { DrawCard } from "./draw_card.js";
import { kept, left, misplaced, sum } from "./draws.js";

import { figure, filled } from "./filled.js";
import { Stop } from "./stop.js";
import { attr, el, text } from "../../shared/web/dom.js";
import { count } from "../../shared/web/format.js";

/**
 * @import { Answer } from "./tour_state.js"
 * @import { Tour } from "./tour_view.js"
 */

/** The stop "The draw". */
export class DiceStop extends Stop {
  /**
   * @param {HTMLElement} host
   * @param {Tour} tour
   */
  constructor(host, tour) {
    super(host, tour, "dice");
    const { p, q, words } = this.words;
    this.stays = kept(p, q)[0];
    this.shares = left(p, q);
    const spare = q[0] - this.stays;
    const list = this.shares.flatMap((share, i) => (share ? [`${share} to “${words[i]}”`] : []));
    this.facts = {
      word: words[0],
      p: p[0],
      q: q[0],
      left: spare,
      keep: figure(this.stays / q[0], 2),
      shares: [list.slice(0, -1).join(", "), list.at(-1)].join(" and "),
    };
    this.askStay();
    this.askLeft();
  }

  askStay() {
    const { high, low } = this.words.questions.stay;
    this.askNumber("stay", {
      most: this.words.q[0],
      isRight: (said) => said === this.stays,
      wrong: (said) => (said > this.stays ? high : low),
    });
  }

  askLeft() {
    const words = this.words.questions.left;
    const { p, q, words: tokens } = this.words;
    /** @type {SharesControl} */
    let control;
    this.ask("left", {
      control: (at) => (control = new SharesControl(at, { tokens, p, q, words })),
      verdict: (said) => {
        if (!Array.isArray(said)) return ["shown", this.say(words.shown)];
        const wrong = misplaced(said.map(Number), this.shares);
        return wrong ? ["off", this.say(words.wrong, { wrong })] : ["right", this.say(words.right)];
      },
      reveal: (at, said) => {
        control.solve(this.shares, said);
        new DrawCard(at, this.words);
      },
    });
  }
}

/** The answer is a list with the number of rejected guesses that each token replaces. */
export class SharesControl {
  /**
   * @param {HTMLElement} host
   * @param {{tokens: string[], p: number[], q: number[], words: Record<string, string>}} about
   *   p: the target's probabilities, q: the draft's, both in percent
   */
  constructor(host, { tokens, p, q, words }) {
    this.p = p;
    this.q = q;
    this.words = words;
    this.kept = kept(p, q);
    this.left = sum(left(p, q));
    this.scale = 100 / Math.max(...p, ...q);
    this.inputs = [];
    this.bars = [];
    this.sums = [];
    tokens.forEach((token, i) => this.row(host, token, i));
    this.rest = el("p", { class: "sq-tour-rest", "aria-live": "polite" }, host);
    this.paint();
  }

  row(host, token, i) {
    const row = el("div", { class: "sq-tour-share" }, host);
    const line = el("label", { class: "sq-tour-share-name" }, row);
    el("code", { text: token }, line);
    el("span", { text: `${this.words.must} ${this.p[i]}` }, line);
    const look = { type: "range", min: 0, max: this.left, step: 1, value: 0 };
    const input = el("input", look, line);
    const lane = el("div", { class: "sq-tour-lane", "aria-hidden": "true" }, row);
    el("span", { class: "sq-tour-bar is-kept" }, lane).style.width = this.wide(this.kept[i]);
    const bar = el("span", { class: "sq-tour-bar is-given" }, lane);
    bar.style.left = this.wide(this.kept[i]);
    el("span", { class: "sq-tour-aim" }, lane).style.left = this.wide(this.p[i]);
    this.bars.push(bar);
    this.sums.push(el("span", { class: "sq-tour-sum sq-dim" }, row));
    this.inputs.push(input);
    input.addEventListener("input", () => this.paint());
  }

  wide(value) {
    return value * this.scale + "%";
  }

  get given() {
    return this.inputs.map((input) => Number(input.value));
  }

  paint() {
    const { given } = this;
    given.forEach((value, i) => {
      this.bars[i].style.width = this.wide(value);
      const words = filled(this.words.sum, {
        kept: this.kept[i],
        given: count(value, "replacement"),
        total: this.kept[i] + value,
      });
      text(this.sums[i], words);
      attr(this.inputs[i], "aria-valuetext", words);
    });
    text(this.rest, filled(this.words.rest, { given: sum(given), left: this.left }));
    this.rest.classList.toggle("is-whole", sum(given) === this.left);
  }

  read() {
    return sum(this.given) === this.left ? this.given : null;
  }

  /** @param {Answer} answer */
  put(answer) {
    if (Array.isArray(answer))
      this.inputs.forEach((input, i) => (input.value = String(answer[i] ?? 0)));
    this.paint();
  }

  /**
   * Show the solution, with the answer of the visitor beside it.
   * @param {number[]} shares
   * @param {Answer} said
   */
  solve(shares, said) {
    this.put(shares);
    if (!Array.isArray(said)) return;
    said.forEach((one, i) => {
      el(
        "span",
        { class: "sq-tour-said", text: filled(this.words.said, { said: one }) },
        this.sums[i],
      );
    });
  }

  problem() {
    return filled(this.words.unspent, {
      given: sum(this.given),
      left: this.left,
    });
  }
}
