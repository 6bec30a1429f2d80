/* The base class of the tour's stops. A stop has a title, an introduction, questions that appear
   one after another, a closing sentence, and a note on where its numbers come from. */
import { NumberControl } from "./controls.js";
import { filled } from "./filled.js";
import { LESSON } from "./lesson.js";
import { isAnswered, isDone, keyOf } from "./tour_state.js";
import { button, el, show, tell, text } from "../../shared/web/dom.js";

/**
 * @import { Control } from "./controls.js"
 * @import { Answer } from "./tour_state.js"
 * @import { Tour } from "./tour_view.js"
 */

/** One stop of the tour. The constructor of a subclass sets `facts` and asks the questions. */
export class Stop {
  /** @type {Question[]} */
  questions = [];
  /** @type {Record<string, string | number>} values for names in braces, see `filled` */
  facts = {};

  /**
   * @param {HTMLElement} host
   * @param {Tour} tour
   * @param {string} name
   */
  constructor(host, tour, name) {
    this.tour = tour;
    this.name = name;
    this.words = LESSON[name];
    this.root = el("div", { class: "sq-tour-stop sq-stack", "data-part": name }, host);
    const look = { class: "sq-tour-title", tabindex: -1, "data-part": "stop-title" };
    this.title = el("h3", { ...look, text: this.words.title }, this.root);
    this.lead = el("p", { class: "sq-tour-lead" }, this.root);
    this.picture = el("div", { class: "sq-tour-picture" }, this.root);
    this.asked = el("div", { class: "sq-tour-asked sq-stack" }, this.root);
    this.end = el("div", { class: "sq-tour-end" }, this.root);
    this.sentence = el("p", { class: "sq-tour-sentence", "data-part": "sentence" }, this.end);
    this.source = el("p", { class: "sq-tour-source", "data-part": "source" }, this.root);
  }

  /**
   * A sentence of the stop, with values in place of names in braces.
   * @param {string} words
   * @param {Record<string, string | number>} [more] values for this sentence only
   * @returns {string}
   */
  say(words, more = {}) {
    return filled(words, { ...this.facts, ...more });
  }

  /**
   * Add a question. It appears once the questions before it are answered.
   * @param {string} name
   * @param {Omit<About, "stop" | "name" | "ask">} about
   */
  ask(name, about) {
    const ask = this.say(this.words.questions[name].ask);
    const question = new Question(this.asked, this.tour, { stop: this.name, name, ask, ...about });
    this.questions.push(question);
  }

  /**
   * Ask for a number from 0 to `most`.
   * @param {string} name
   * @param {object} about
   * @param {number} about.most
   * @param {string} [about.step] of the field
   * @param {(said: number) => boolean} about.isRight
   * @param {(said: number) => string} [about.wrong] returns the words about a wrong answer
   * @param {(host: HTMLElement) => void} [about.reveal] see About
   */
  askNumber(name, { most, step, isRight, wrong, reveal }) {
    const words = this.words.questions[name];
    this.ask(name, {
      control: (at) => new NumberControl(at, { label: this.say(words.label), most, step }),
      verdict: (said) => {
        if (said === null) return ["shown", this.say(words.shown)];
        const number = Number(said);
        if (isRight(number)) return ["right", this.say(words.right)];
        return ["off", this.say(wrong?.(number) ?? words.wrong, { said: number })];
      },
      reveal,
    });
  }

  paint() {
    const { tour, name, questions } = this;
    text(this.lead, this.say(this.words.lead));
    let isReached = true;
    for (const question of questions) {
      question.paint(isReached);
      isReached &&= isAnswered(tour.state, name, question.about.name);
    }
    const isOver = isDone(tour.state, name);
    show(this.end, isOver);
    text(this.sentence, isOver ? this.say(this.words.sentence) : "");
    text(this.source, this.say((isOver && this.words.source_end) || this.words.source));
  }

  /** @param {object} _message from the server, about what the stop asked for */
  take(_message) {}

  /** Called before the elements of the stop are removed from the page. */
  leave() {}
}

/**
 * @typedef {object} About
 * @property {string} stop
 * @property {string} name of the question within the stop
 * @property {string} ask the question
 * @property {(host: HTMLElement) => Control} control
 * @property {(said: Answer) => readonly [Verdict, string]} verdict returns the verdict on an
 *   answer, in one word and in a sentence, which may be empty
 * @property {(host: HTMLElement, said: Answer) => void} [reveal] draws what appears below the
 *   verdict
 * @typedef {"right" | "off" | "shown"} Verdict
 */

/** A question. */
export class Question {
  isOver = false;

  /**
   * @param {HTMLElement} host
   * @param {Tour} tour
   * @param {About} about
   */
  constructor(host, tour, about) {
    this.tour = tour;
    this.about = about;
    this.root = el("section", { class: "sq-tour-question", "data-part": about.name }, host);
    const id = "sq-tour-" + about.stop + "-" + about.name;
    this.asked = el("p", { class: "sq-tour-ask", id, text: about.ask }, this.root);
    const named = { class: "sq-tour-form", "aria-labelledby": id, novalidate: "" };
    this.form = el("form", named, this.root);
    this.fields = el("fieldset", { class: "sq-tour-control" }, this.form);
    this.control = about.control(this.fields);
    this.makeActs();
    this.problem = el("p", { class: "sq-tour-problem", role: "alert" }, this.form);
    const look = { class: "sq-tour-verdict", "data-part": "verdict", tabindex: -1 };
    this.words = el("p", look, this.root);
    this.revealed = el("div", { class: "sq-tour-revealed", tabindex: -1 }, this.root);
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.check();
    });
  }

  makeActs() {
    this.acts = el("div", { class: "sq-tour-acts" }, this.form);
    const check = button(this.acts, { text: LESSON.frame.check, part: "check" });
    check.type = "submit";
    check.classList.add("sq-btn-main");
    const act = () => this.close(null);
    button(this.acts, { text: LESSON.frame.show, part: "show", act });
  }

  check() {
    const said = this.control.read();
    text(this.problem, said === null ? this.control.problem() : "");
    if (said !== null) this.close(said);
  }

  close(said) {
    this.tour.answer(this.about.stop, this.about.name, said);
    const next = this.words.hidden ? this.revealed : this.words;
    next.focus({ preventScroll: true });
    next.scrollIntoView({ block: "center" });
  }

  /** @param {boolean} isReached whether all questions before this one are answered */
  paint(isReached) {
    show(this.root, isReached);
    const { stop, name } = this.about;
    const isOver = isAnswered(this.tour.state, stop, name);
    show(this.acts, !isOver);
    show(this.words, isOver && this.words.textContent !== "");
    show(this.revealed, isOver && this.revealed.childElementCount > 0);
    if (isOver && !this.isOver) this.settle(this.tour.state.answers[keyOf(stop, name)]);
  }

  settle(said) {
    this.isOver = true;
    text(this.problem, "");
    if (said !== null) this.control.put(said);
    this.fields.disabled = true;
    this.control.lock?.();
    const [verdict, words] = this.about.verdict(said);
    this.words.dataset.verdict = verdict;
    tell(this.words, words);
    this.about.reveal?.(this.revealed, said);
    show(this.revealed, this.revealed.childElementCount > 0);
  }
}
