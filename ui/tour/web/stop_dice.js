/* The tour's second stop: how guesses (draft tokens) are kept or rejected so that the output has
   the target's distribution. */
import { NumberControl } from "./controls.js";
import { DrawCard } from "./draw_card.js";
import { kept, left, misplaced } from "./draws.js";
import { figure } from "./filled.js";
import { SharesControl } from "./shares_control.js";
import { Stop } from "./stop.js";

/** @import { Tour } from "./tour_view.js" */

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
    const { label, right, high, low, shown } = this.words.questions.stay;
    const wrong = (said) => (said > this.stays ? high : low);
    this.ask("stay", {
      control: (at) => new NumberControl(at, { label: this.say(label), most: this.words.q[0] }),
      verdict: (said) => {
        if (said === null) return ["shown", this.say(shown)];
        if (said === this.stays) return ["right", this.say(right)];
        return ["off", this.say(wrong(said), { said: Number(said) })];
      },
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
