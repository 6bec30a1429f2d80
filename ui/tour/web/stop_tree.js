/* The fourth stop: one real step, in which a second guess saves what a chain would have lost. */
import { ChoiceControl, NumberControl } from "./controls.js";
import { figure } from "./filled.js";
import { Stop } from "./stop.js";
import { recordedStep, rescueOf } from "./tree_step.js";

/** @import { Tour } from "./tour_view.js" */

const NEAR = 2; // times in 100

/** The tree. */
export class TreeStop extends Stop {
  /**
   * @param {HTMLElement} host
   * @param {Tour} tour
   */
  constructor(host, tour) {
    super(host, tour, "tree");
    const run = tour.runs[this.words.recording];
    this.step = recordedStep(run, this.words.step);
    this.rescue = rescueOf(this.step);
    const { end, second, chainTokens, tokens, trial } = this.rescue;
    const stood = chainTokens - 1;
    this.facts = {
      ends: this.step.label(end),
      second: this.step.label(second),
      chain: chainTokens,
      tokens,
      kept_words: stood === 1 ? "One guess was kept" : `${stood} guesses were kept`,
      p: figure(trial.p, 2),
      q: figure(trial.q, 2),
      u: figure(trial.u, 2),
      keep: Math.round(100 * trial.keep),
      device: run.meta.device,
      temperature: run.meta.policy.temperature,
    };
    this.askEnd();
    this.askTokens();
    this.askChance();
  }

  askEnd() {
    const { label, right, wrong, shown } = this.words.questions.end;
    const { chain, end } = this.rescue;
    /** @type {[string, string][]} */
    const choices = chain.map((node) => [String(node), this.step.label(node)]);
    this.ask("end", {
      control: (at) => new ChoiceControl(at, { label, choices }),
      verdict: (said) => {
        if (said === String(end)) return ["right", this.say(right)];
        const choice = choices.find(([node]) => node === said);
        if (!choice) return ["shown", this.say(shown)];
        return ["off", this.say(wrong, { said: choice[1] })];
      },
    });
  }

  askTokens() {
    const { label, right, wrong, shown } = this.words.questions.tokens;
    this.ask("tokens", {
      control: (at) => new NumberControl(at, { label, most: 20 }),
      verdict: (said) => {
        if (said === null) return ["shown", this.say(shown)];
        if (said === this.rescue.chainTokens) return ["right", this.say(right)];
        return ["off", this.say(wrong, { said: Number(said) })];
      },
    });
  }

  askChance() {
    const { label, right, wrong, shown } = this.words.questions.chance;
    this.ask("chance", {
      control: (at) => new NumberControl(at, { label, most: 100 }),
      verdict: (said) => {
        if (said === null) return ["shown", this.say(shown)];
        const isNear = Math.abs(Number(said) - this.facts.keep) <= NEAR;
        return isNear ? ["right", this.say(right)] : ["off", this.say(wrong)];
      },
    });
  }
}
