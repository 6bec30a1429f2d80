/* What the tabs tell each other: the visitor's latest run that ended or paused, the steps on screen
   in Run and Film, the models that are loaded now, and an experiment to run. */

/**
 * @import { Meta } from "./run_facts.js"
 * @import { StepView } from "./step_view.js"
 * @import { Speedup } from "./verdict_words.js"
 */

/**
 * @typedef {object} FinishedRun
 * @property {string} label "measured", "simulated" or "hypothetical"; for the tour's
 *   recorded run, "recorded"
 * @property {string} device
 * @property {string} lane name of the lane that the numbers are about
 * @property {number} tokensPerStep
 * @property {Speedup | null} speedup over the plain lane; null without one
 * @property {(string | number)[] | null} request its tree, as it was asked for
 * @property {Meta} meta
 */

const FINISHED = "sq-run-finished";
/** @type {{run: FinishedRun | null}} */
const last = { run: null };

/** @param {FinishedRun} run that has just ended or paused */
export function publishRun(run) {
  last.run = run;
  document.dispatchEvent(new Event(FINISHED));
}

/** @returns {FinishedRun | null} the latest run; null before the first one */
export const finishedRun = () => last.run;

/** @param {() => void} then is called each time a run ends or pauses */
export function onFinishedRun(then) {
  document.addEventListener(FINISHED, then);
}

/**
 * @typedef {object} ShownStep
 * @property {StepView} step
 * @property {string} label the source of its times: "measured", "recorded" or "simulated"; "" if
 *   unknown
 */

/** @type {Map<string, () => ShownStep | null>} */
const sources = new Map();

/**
 * @param {string} view "run" or "film"
 * @param {() => ShownStep | null} read returns the step on screen; null if there is none
 */
export function offerStep(view, read) {
  sources.set(view, read);
}

/** @type {(view: string) => ShownStep | null} the step on screen; null if there is none */
export const shownStep = (view) => sources.get(view)?.() ?? null;

const LOADED = "sq-models-loaded";
/** @type {{models: string[] | null}} names of target and draft; null while they are not known */
const now = { models: null };

/** @param {string[] | null | undefined} models names of target and draft, as in a run's meta */
export function publishModels(models) {
  if (!models || models.join() === now.models?.join()) return;
  now.models = models;
  document.dispatchEvent(new Event(LOADED));
}

/** @param {() => void} then is called each time other models are loaded */
export function onModels(then) {
  document.addEventListener(LOADED, then);
}

/**
 * @param {Meta} meta of a run
 * @returns {boolean} whether it was made with other models than are loaded now
 */
export const isOfOtherModels = ({ target, draft }) =>
  Boolean(now.models && target) && (target !== now.models[0] || draft !== now.models[1]);

/**
 * @param {Meta} meta of a run
 * @returns {string} a sentence; "" if its models are those that are loaded
 */
export const otherModelsWords = (meta) =>
  isOfOtherModels(meta) ? "With other models than are loaded now." : "";

const ASKED = "sq-experiment-asked";
const asked = { name: "" };

/** @param {string} name of an experiment, which is to be shown and run */
export function askExperiment(name) {
  asked.name = name;
  location.hash = `evidence/experiments&name=${name}`;
  document.dispatchEvent(new Event(ASKED));
}

/** @param {(name: string) => void} then is called once for each experiment that was or will be
 * asked for */
export function onAskedExperiment(then) {
  const take = () => {
    const { name } = asked;
    asked.name = "";
    if (name) then(name);
  };
  document.addEventListener(ASKED, take);
  take();
}
