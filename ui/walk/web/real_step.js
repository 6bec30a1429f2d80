/* The form that chooses a step of a real run: the step on screen in Run or Film, or one of a
   recorded run. */
import { attr, button, el, show, text } from "../../shared/web/dom.js";
import { fillMenu } from "../../shared/web/fields.js";
import { count, readable } from "../../shared/web/format.js";
import { Refusal } from "../../shared/web/refusal.js";
import { shownStep } from "../../shared/web/between_tabs.js";
import { chainEnd } from "../../shared/web/step_words.js";
import { recordedStep } from "../../shared/web/step_view.js";

/**
 * @import { StepView } from "../../shared/web/step_view.js"
 */

/**
 * A recorded run, and its entry in the server's list.
 * @typedef {object} Run
 * @property {Record<string, any>} meta
 * @property {number[][]} trees
 * @property {Record<string, string>} pieces
 * @property {import("../../shared/web/step_view.js").Step[]} steps
 * @property {string} [error]
 * @typedef {{name: string, title: string, about: string}} Listed
 */

/** @type {Record<string, string>} by view: the run whose step it shows */
const SHOWN = { run: "the run in Run", film: "the film" };
const USUAL = "code"; // the recorded run that `open` chooses if no view shows a tree
const LEAST_NODES = 3; // of a tree that `open` chooses
const NO_STEP = "No step is on screen there. Run a prompt there, or choose a recorded run.";

/** The menu of the run, and the field and buttons for the step of a recorded run. */
export class RealStep {
  /** @type {Map<string, Run>} */
  runs = new Map();
  /** @type {Listed[]} */
  listed = [];
  /** @type {{name: string, step?: number} | null} recorded run to show once the list arrives */
  wanted = null;
  /** @type {number | undefined} index of the recorded step that is shown, or that is to be shown
   *   once its run is loaded */
  at;

  /**
   * @param {HTMLElement} host
   * @param {{ask: (name: string) => Promise<string>,
   *   take: (step: StepView | null, label: string) => void}} on `ask` requests a recorded run.
   *   `take` is called with the chosen step, or null if there is none, and with the source of its
   *   times, such as "measured"
   */
  constructor(host, on) {
    this.on = on;
    this.root = el("div", { class: "wk-form sq-stack", hidden: "" }, host);
    const line = el("div", { class: "wk-field sq-wrap" }, this.root);
    el("label", { for: "wk-run", text: "Step of" }, line);
    this.menu = el("select", { id: "wk-run", class: "sq-input", "data-part": "run" }, line);
    this.menu.addEventListener("change", () => this.choose(this.menu.value));
    this.about = el("p", { class: "sq-dim" }, this.root);
    this.makeStep();
    this.refusal = new Refusal(this.root, "problem-step");
    this.offer();
  }

  makeStep() {
    this.line = el("div", { class: "wk-field sq-wrap" }, this.root);
    el("label", { for: "wk-step", text: "Step" }, this.line);
    const go = (by) => () => this.goTo(this.at + by);
    this.back = button(this.line, { icon: "back", label: "Previous step (←)", act: go(-1) });
    const look = { class: "sq-input wk-number", inputmode: "numeric", "data-part": "step" };
    this.field = el("input", { type: "text", id: "wk-step", ...look }, this.line);
    this.field.addEventListener("change", () => this.type());
    this.next = button(this.line, { icon: "next", label: "Next step (→)", act: go(1) });
    this.of = el("span", { class: "sq-dim" }, this.line);
  }

  /** @param {Listed[]} [listed] the recorded runs */
  offer(listed = this.listed) {
    this.listed = listed;
    const shown = Object.entries(SHOWN).map(([key, label]) => ({ key, label }));
    const named = ({ name, title }) => ({ key: name, label: "recorded: " + readable(title) });
    fillMenu(this.menu, [...shown, ...listed.map(named)]);
    this.openWanted();
  }

  /** @returns {boolean} whether a recorded run is chosen */
  get isRecorded() {
    return !Object.hasOwn(SHOWN, this.menu.value);
  }

  /**
   * Show a step of the run that the menu names. If that is the one of a view, but it shows no step
   * with a tree and residuals, choose the other view or the recorded run USUAL instead. Before the
   * list of recorded runs arrives, keep the view.
   * @param {{name: string, step?: number}} [wanted] a recorded run and its step, to show instead
   */
  open(wanted) {
    this.wanted = wanted ?? null;
    if (wanted) {
      this.openWanted();
      return;
    }
    const { value } = this.menu;
    const hasTree = (view) => {
      const step = shownStep(view)?.step;
      return step?.residualHeads.length > 0 && step.topo.n >= LEAST_NODES;
    };
    const found = [value, ...Object.keys(SHOWN)].find(hasTree);
    this.choose(this.isRecorded || !this.listed.length ? value : (found ?? USUAL));
  }

  // Show the wanted recorded run, if the server's list has arrived.
  openWanted() {
    const { wanted, listed } = this;
    if (!wanted || !listed.length) return;
    this.wanted = null;
    if (listed.some(({ name }) => name === wanted.name)) this.choose(wanted.name, wanted.step);
    else
      this.refusal.say(`There is no recorded run “${wanted.name}”. Choose another one.`, this.menu);
  }

  /**
   * Choose a run and show one of its steps.
   * @param {string} name a recorded run, or a view
   * @param {number} [step] index of the recorded step; by default that of `tellingStep`
   * @returns {Promise<void>}
   */
  async choose(name, step) {
    this.menu.value = name;
    this.at = step;
    this.refusal.say("");
    text(this.about, readable(this.listed.find((one) => one.name === name)?.about ?? ""));
    show(this.line, this.runs.has(name)); // while the run loads there are no steps to choose
    if (!this.isRecorded) return this.takeShown(name);
    const run = await this.recorded(name);
    if (this.menu.value !== name) return;
    if (run.error) return this.showNone(run.error);
    show(this.line, true);
    this.goTo(step ?? tellingStep(run));
  }

  takeShown(view) {
    const shown = shownStep(view);
    if (shown) this.on.take(shown.step, shown.label);
    else this.showNone(NO_STEP);
  }

  /** @param {string} why */
  showNone(why) {
    this.on.take(null, "");
    this.refusal.say(why, this.menu);
  }

  async recorded(name) {
    if (!this.runs.has(name)) {
      const run = await this.asked(name);
      if (run.error) return run;
      this.runs.set(name, ofFirstTree(run));
    }
    return this.runs.get(name);
  }

  async asked(name) {
    try {
      return JSON.parse(await this.on.ask(name));
    } catch {
      return { error: "The recorded run could not be loaded. Try again." };
    }
  }

  // -- steps -------------------------------------------------------------------------------------

  type() {
    const run = this.runs.get(this.menu.value);
    if (!run) return;
    const typed = this.field.value.trim();
    const { length } = run.steps;
    const value = /^\d{1,6}$/.test(typed) ? Number(typed) : NaN;
    if (value >= 1 && value <= length) return this.goTo(value - 1);
    const wanted = `enter a whole number from 1 to ${length}`;
    this.refusal.say(`“${typed.slice(0, 20)}” is not a step; ${wanted}.`, this.field);
  }

  /**
   * Show a step of the chosen recorded run.
   * @param {number} i its index; the nearest one is used if there is no such step
   */
  goTo(i) {
    const run = this.runs.get(this.menu.value);
    if (!run) return;
    const { steps, meta } = run;
    this.at = Math.max(0, Math.min(steps.length - 1, i));
    this.refusal.say("");
    this.field.value = String(this.at + 1);
    text(this.of, `of ${count(steps.length, "step")}`);
    this.back.disabled = this.at === 0;
    this.next.disabled = this.at === steps.length - 1;
    attr(this.field, "aria-label", `Step, from 1 to ${steps.length}`);
    this.on.take(recordedStep(run, this.at), meta.label);
  }
}

// The run as if its first lane with a draft were the only one.
/** @type {(run: any) => Run} */
function ofFirstTree(run) {
  const first = run.lanes.findIndex(({ plain }) => !plain);
  const steps = run.steps.filter((_step, i) => run.step_lanes[i] === first);
  return { ...run, steps, meta: { ...run.meta, ...run.lanes[first] } };
}

// Index of the first step whose first rejected child is followed by an accepted sibling; 0 if there
// is none.
function tellingStep(run) {
  const isTelling = (_step, i) => {
    const view = recordedStep(run, i);
    const at = chainEnd(view);
    return at >= 0 && view.trials[at + 1].accepted;
  };
  return Math.max(0, run.steps.findIndex(isTelling));
}
