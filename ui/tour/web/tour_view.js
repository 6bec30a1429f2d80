/* The tour: the row of its stops, and the stop on screen. The browser stores the visitor's place
   and answers. */
import { attr, button, el, show, text } from "../../shared/web/dom.js";
import { finishedRun, onFinishedRun } from "../../shared/web/between_tabs.js";
import { rove } from "../../shared/web/roving_focus.js";
import { openView } from "../../shared/web/navigation.js";
import { markFromTour } from "../../shared/web/form_side.js";
import { keepPlace, keptPlace } from "../../shared/web/tour_place.js";
import { filled } from "./filled.js";
import { LESSON } from "./lesson.js";
import { BreakStop } from "./stop_break.js";
import { ChainStop } from "./stop_chain.js";
import { CostStop } from "./stop_cost.js";
import { DiceStop } from "./stop_dice.js";
import { TreeStop } from "./stop_tree.js";
import { WhichStop } from "./stop_which.js";
import { YoursStop } from "./stop_yours.js";
import * as tourState from "./tour_state.js";

/**
 * @import { FinishedRun } from "../../shared/web/between_tabs.js"
 * @import { Profile } from "../../shared/web/planner.js"
 * @import { Step } from "../../shared/web/step_view.js"
 * @import { Stop } from "./stop.js"
 * @import { Answer, TourState } from "./tour_state.js"
 */

/**
 * The parts of a recorded run that the tour needs, as in the run's file.
 * @typedef {object} Recorded
 * @property {Record<string, any>} meta
 * @property {string} [lane] name of its lane, for the run that the page opens with
 * @property {number[][]} trees
 * @property {Record<string, string>} pieces
 * @property {Step[]} steps
 */

/**
 * The message from ui/tour/tab.py. Runs and profiles have the names used in tour.json.
 * @typedef {object} TourMessage
 * @property {Record<string, Recorded>} [runs]
 * @property {Record<string, Profile>} [profiles]
 * @property {string} [tests] two recorded tests of decoders, as HTML
 * @property {string} [error]
 */

/**
 * The part of the tour that a stop may use.
 * @typedef {object} Tour
 * @property {TourState} state
 * @property {Record<string, Recorded>} runs
 * @property {Record<string, Profile>} profiles
 * @property {string} tests
 * @property {FinishedRun | null} before the latest run when the visitor guessed a speed-up
 * @property {(bug: string) => void} test has the server test the decoder with this bug
 * @property {(stop: string, question: string, answer: Answer) => void} answer
 * @property {() => void} paint
 */

/** @type {Record<string, new (host: HTMLElement, tour: Tour) => Stop>} */
const STOPS = {
  cost: CostStop,
  dice: DiceStop,
  chain: ChainStop,
  tree: TreeStop,
  which: WhichStop,
  break: BreakStop,
  yours: YoursStop,
};

/** The view of the Tour tab. */
export class TourView {
  isReady = false;
  /** @type {Record<string, Recorded>} */
  runs = {};
  /** @type {Record<string, Profile>} */
  profiles = {};
  tests = "";
  /** @type {FinishedRun | null} */
  before = null;
  /** @type {Stop | null} */
  stop = null;

  /**
   * @param {HTMLElement} root
   * @param {(bug: string) => void} test
   */
  constructor(root, test) {
    this.root = root;
    this.test = test;
    this.state = tourState.read(keptPlace());
    const frame = el("div", { class: "sq-tour-frame sq-stack" }, root);
    this.makeHead(frame);
    this.body = el("div", { class: "sq-panel sq-tour-card" }, frame);
    this.makeFoot(frame);
    onFinishedRun(() => this.paint());
    this.paint();
  }

  makeHead(frame) {
    const head = el("header", { class: "sq-tour-head" }, frame);
    el("h2", { text: LESSON.frame.title }, head);
    el("p", { text: LESSON.frame.about }, head);
    const nav = el("nav", { "aria-label": LESSON.frame.title }, head);
    const list = el("ol", { class: "sq-tour-stops" }, nav);
    this.links = tourState.STOPS.map((stop, i) => {
      const item = el("li", {}, list);
      const made = button(item, { part: "to-" + stop, act: () => this.goTo(stop) });
      el("i", { text: stop !== "yours" ? String(i + 1) : "★", "aria-hidden": "true" }, made);
      el("span", { text: LESSON[stop].title }, made);
      return made;
    });
    rove(list);
  }

  makeFoot(frame) {
    const foot = el("div", { class: "sq-tour-foot" }, frame);
    const by = (step) => () => this.goTo(tourState.neighbour(this.state.stop, step));
    this.back = button(foot, { text: LESSON.frame.back, part: "back", act: by(-1) });
    this.next = button(foot, { text: LESSON.frame.next, part: "next", act: by(1) });
    const anew = () => this.startOver();
    this.again = button(foot, { text: LESSON.frame.again, part: "start-over", act: anew });
    const leave = () => {
      markFromTour(false);
      openView("run");
    };
    button(foot, { text: LESSON.frame.leave, part: "leave", act: leave });
  }

  /** @param {TourMessage} message if it has no runs, it is about what the stop asked for */
  take(message) {
    const { runs, profiles, tests, error } = message;
    if (!runs) {
      if (this.stop) this.stop.take(message);
      else text(this.body, error ?? "");
      return;
    }
    Object.assign(this, { runs, profiles, tests });
    this.isReady = true;
    this.show();
    this.takeFocus();
  }

  /** Called when the tab is opened. */
  shown() {
    this.paint();
    this.takeFocus();
  }

  // Focuses the title of the stop if nothing has the focus, or only a hidden element, such as the
  // button that opened the tour.
  takeFocus() {
    const { activeElement } = document;
    if (!activeElement || activeElement === document.body || !activeElement.checkVisibility())
      this.stop?.title.focus({ preventScroll: true });
  }

  /**
   * @param {string} stop
   * @param {string} question
   * @param {Answer} answer
   */
  answer(stop, question, answer) {
    if (stop === "yours") this.before = finishedRun();
    this.keep(tourState.answered(this.state, stop, question, answer));
    this.paint();
  }

  /** @param {string | undefined} stop */
  goTo(stop) {
    if (!stop) return;
    this.keep(tourState.movedTo(this.state, stop));
    this.show();
    this.stop?.title.focus({ preventScroll: true });
    this.root.scrollIntoView({ block: "start" });
  }

  startOver() {
    this.keep(tourState.atStart());
    this.goTo(tourState.STOPS[0]);
  }

  keep(state) {
    this.state = state;
    keepPlace(tourState.written(state));
  }

  // Builds the stop on screen. If that fails, for example because a stored answer does not fit its
  // question, the tour starts over.
  show() {
    if (!this.isReady) return;
    try {
      this.build();
    } catch {
      this.keep(tourState.atStart());
      this.build();
    }
  }

  build() {
    this.stop?.leave();
    this.stop = null;
    this.body.replaceChildren();
    this.stop = new STOPS[this.state.stop](this.body, this);
    this.paint();
  }

  paint() {
    const { state } = this;
    tourState.STOPS.forEach((stop, i) => {
      attr(this.links[i], "aria-current", stop === state.stop ? "step" : null);
      this.links[i].classList.toggle("is-done", tourState.isDone(state, stop));
    });
    this.stop?.paint();
    const after = tourState.neighbour(state.stop, 1);
    show(this.back, Boolean(tourState.neighbour(state.stop, -1)));
    show(this.next, Boolean(after));
    if (after) text(this.next, filled(LESSON.frame.next, { title: LESSON[after].title }));
    this.next.classList.toggle("sq-btn-main", tourState.isDone(state, state.stop));
    show(this.again, Object.keys(state.answers).length > 0);
  }
}
