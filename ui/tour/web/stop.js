/* The base class of the tour's stops. A stop has a title, an introduction, questions that appear
   one after another, a closing sentence, and a note on where its numbers come from. */
import { el, show, text } from "../../shared/web/dom.js";
import { filled } from "./filled.js";
import { LESSON } from "./lesson.js";
import { Question } from "./question.js";
import { isAnswered, isDone } from "./tour_state.js";

/**
 * @import { About } from "./question.js"
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
    this.root = el("div", { class: "sq-tour-stop", "data-part": name }, host);
    const look = { class: "sq-tour-title", tabindex: -1, "data-part": "stop-title" };
    this.title = el("h3", { ...look, text: this.words.title }, this.root);
    this.lead = el("p", { class: "sq-tour-lead" }, this.root);
    this.picture = el("div", { class: "sq-tour-picture" }, this.root);
    this.asked = el("div", { class: "sq-tour-asked" }, this.root);
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

  /** Called before the elements of the stop are removed from the page. */
  leave() {}
}
