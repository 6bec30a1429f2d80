/* The last stop of the tour. The visitor guesses the speed-up of a run, then makes the run or takes
   a recorded one. */
import { button, el, show, text } from "../../shared/web/dom.js";
import { finishedRun } from "../../shared/web/between_tabs.js";
import { goToForm, markFromTour } from "../../shared/web/form_side.js";
import { speedupInWords } from "../../shared/web/verdict_words.js";
import { NumberControl } from "./controls.js";
import { division, divisionOf, finishedAs, missed, printed } from "./division.js";
import { figure, filled } from "./filled.js";
import { Stop } from "./stop.js";
import { headed } from "../../shared/web/tooltips.js";

/**
 * @import { FinishedRun } from "../../shared/web/between_tabs.js"
 * @import { Division } from "./division.js"
 * @import { Tour } from "./tour_view.js"
 */

const MOST = 50; // largest number that may be guessed

/** The tokens per step, the length of a step in steps of plain decoding, and their quotient. */
class GuessControl {
  constructor(host, words) {
    this.words = words;
    const about = (label) => ({ label, most: MOST, step: "0.1" });
    this.tokens = new NumberControl(host, about(words.tokens));
    this.length = new NumberControl(host, about(words.length));
    this.quotient = el("p", { class: "sq-tour-rest", "aria-live": "polite" }, host);
    for (const { input } of [this.tokens, this.length])
      input.addEventListener("input", () => this.paint());
  }

  paint() {
    const [tokens, length] = this.read() ?? [];
    const numbers = { tokens, length, speedup: figure(tokens / length, 2) };
    text(this.quotient, tokens ? filled(this.words.quotient, numbers) : "");
  }

  read() {
    const tokens = this.tokens.read();
    const length = this.length.read();
    return tokens && length ? [tokens, length] : null;
  }

  put(said) {
    this.tokens.put(said[0]);
    this.length.put(said[1]);
    this.paint();
  }

  problem() {
    return `Enter two numbers above 0, up to ${MOST}.`;
  }
}

/** The stop "Your turn". */
export class YoursStop extends Stop {
  usesRecording = false;
  /** @type {FinishedRun | null} a run that is not compared, because another was chosen since */
  replaced = null;

  /**
   * @param {HTMLElement} host
   * @param {Tour} tour
   */
  constructor(host, tour) {
    super(host, tour, "yours");
    const words = this.words.questions.guess;
    this.facts = { label: "none yet", device: "" };
    this.ask("guess", {
      control: (at) => new GuessControl(at, words),
      verdict: (said) => ["shown", said === null ? words.shown : ""],
      reveal: (at, said) => this.reveal(at, said),
    });
  }

  reveal(host, said) {
    this.guess = Array.isArray(said) ? division(Number(said[0]), Number(said[1])) : null;
    const acts = el("div", { class: "sq-tour-acts" }, host);
    const go = () => {
      markFromTour(true);
      goToForm();
    };
    const run = button(acts, { text: this.words.run, part: "run", act: go });
    run.classList.add("sq-btn-main");
    const act = () => this.useRecording();
    button(acts, { text: this.words.recorded, part: "recorded", act });
    this.waiting = el("p", { class: "sq-tour-says", "aria-live": "polite" }, host);
    this.result = el("div", { class: "sq-tour-result", "data-part": "division" }, host);
  }

  useRecording() {
    this.usesRecording = true;
    this.replaced = finishedRun();
    this.tour.paint();
  }

  // The visitor's latest run, if plain decoding was timed too and the visitor has not chosen the
  // recorded run since. Else the recorded run, if the visitor ever chose it. Else null.
  get run() {
    const own = finishedRun();
    const isSince = own !== this.replaced && own !== this.tour.before;
    if (own?.speedup && isSince) return own;
    return this.usesRecording ? finishedAs(this.tour.runs[this.words.recording]) : null;
  }

  paint() {
    const { run } = this;
    const { own, other } = this.words;
    const which = run && run === finishedRun() ? own : other;
    this.facts = { ...(run || { label: "none yet", device: "" }), which };
    super.paint();
    show(this.source, Boolean(run));
    if (!this.result) return;
    const hasNoPlain = finishedRun() && !finishedRun().speedup;
    text(this.waiting, run ? "" : hasNoPlain ? this.words.no_plain : this.words.waiting);
    show(this.waiting, !run);
    show(this.end, Boolean(run));
    this.result.replaceChildren();
    if (run) this.compare(divisionOf(run), run);
  }

  /**
   * @param {Division} real
   * @param {FinishedRun} run
   */
  compare(real, run) {
    const { yours, came, tokens, length, speedup } = this.words;
    const table = el("table", { class: "sq-table sq-full sq-tour-table" }, this.result);
    const body = headed(table, ["", tokens, "÷ " + length, "= " + speedup]);
    if (this.guess) row(body, yours, this.guess);
    row(body, this.say(came, { lane: run.lane, label: run.label }), real);
    const judged = this.say(this.words.verdict, { verdict: speedupInWords(run.speedup) });
    el("p", { class: "sq-tour-says", "data-part": "judged", text: judged }, this.result);
    if (this.guess) el("p", { class: "sq-tour-says", text: this.missing(real) }, this.result);
  }

  missing(real) {
    const which = missed(this.guess, real);
    if (which === "none") return this.words.both;
    const numbers = { said: figure(this.guess[which]), was: figure(real[which]) };
    return this.say(this.words["missed_" + which], numbers);
  }
}

function row(body, name, numbers) {
  const line = el("tr", {}, body);
  el("th", { scope: "row", text: name }, line);
  for (const words of printed(numbers)) el("td", { text: words }, line);
}
