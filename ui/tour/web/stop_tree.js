/* The fourth stop of the tour: one recorded step, in which a second guess is kept where a chain
   would have ended. */
import { StepStage } from "../../shared/web/step_stage.js";
import { recordedStep } from "../../shared/web/step_view.js";
import { ChoiceControl } from "./controls.js";
import { Stop } from "./stop.js";
import { openQuestion } from "./tour_state.js";
import { keepChance } from "./draws.js";
import { rescueOf } from "./tree_step.js";

/** @import { Tour } from "./tour_view.js" */

/** @type {(value: number) => string} a probability with three significant digits */
const printed = (value) => String(Number(value.toPrecision(3)));
const NEAR = 2; // an answer to "chance" (times in 100) counts as right if at most this far off

/** The stop "The tree". */
export class TreeStop extends Stop {
  /** @type {string | undefined} the open question that the picture was last set up for; "" at
   *   first, undefined if all were answered */
  shownFor = "";

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
    const kept = chainTokens - 1;
    this.facts = {
      ends: this.step.label(end),
      ratio: printed(this.rescue.ratio),
      second: this.step.label(second),
      chain: chainTokens,
      tokens,
      kept_words: kept === 1 ? "One guess was kept" : `${kept} guesses were kept`,
      tries: this.rescue.tries.map((one) => this.tried(one)).join(", "),
      ended_u: printed(this.rescue.tries.at(-1).u),
      p: printed(trial.p),
      q: printed(trial.q),
      u: printed(trial.u),
      // from the printed numbers, so that a visitor who divides them gets the same
      keep: Math.round(100 * keepChance(Number(printed(trial.p)), Number(printed(trial.q)))),
      device: run.meta.device,
      temperature: run.meta.params.temperature,
    };
    this.makeStage(run.meta.label);
    this.askEnd();
    this.askNumber("tokens", { most: 20, isRight: (said) => said === chainTokens });
    const isNear = (said) => Math.abs(said - this.facts.keep) <= NEAR;
    this.askNumber("chance", { most: 100, isRight: isNear });
  }

  tried({ node, p, q, u }) {
    return `“${this.step.label(node)}” p/q = ${printed(p / q)}, u = ${printed(u)}`;
  }

  makeStage(source) {
    this.stage = new StepStage(this.picture, { source });
    this.stage.show(this.step, { reveal: { node: 0, key: "start" } });
    this.stage.addEventListener("press", (event) => {
      const { node } = /** @type {CustomEvent} */ (event).detail;
      this.press(node);
    });
    this.picture.addEventListener("keydown", (event) => this.hold(event), true);
  }

  // While the first question is open, pressing a node of the chain chooses it as the answer.
  press(node) {
    const isOpen = openQuestion(this.tour.state, this.name) === "end";
    if (isOpen && this.rescue.chain.includes(node)) this.questions[0].control.put(String(node));
  }

  // While a question is open, the keys that would show another picture do nothing.
  hold(event) {
    const isOpen = openQuestion(this.tour.state, this.name) !== undefined;
    if (isOpen && [".", ",", " "].includes(event.key)) event.stopPropagation();
  }

  // The picture must not give away the answer to an open question.
  paint() {
    super.paint();
    const open = openQuestion(this.tour.state, this.name);
    if (open === this.shownFor) return;
    this.shownFor = open;
    this.picture.classList.toggle("is-asked", open !== undefined);
    this.picture.classList.toggle("is-quiet", open === "end" || open === "tokens");
    if (open === "end") this.showGuesses();
    else if (open === "chance") this.showRejection();
    else this.stage.player.stand(null);
  }

  // The whole tree, before the large model's pass decides anything.
  showGuesses() {
    this.stage.player.turnTo("check");
    this.stage.player.turn(-1);
  }

  showRejection() {
    this.stage.player.turnTo("walk");
    for (let i = 0; i < this.rescue.at; i++) this.stage.player.turn(1);
  }

  leave() {
    this.stage.destroy();
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
}
