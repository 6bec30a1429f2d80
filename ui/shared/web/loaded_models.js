/* The models that are loaded now. A recorded run or race may be of others. */

/** @import { Meta } from "./run_facts.js" */

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
 * @param {Meta} meta of a run or race
 * @returns {boolean} whether it was made with other models than are loaded now
 */
export const isOfOtherModels = ({ target, draft }) =>
  Boolean(now.models && target) && (target !== now.models[0] || draft !== now.models[1]);

/**
 * @param {Meta} meta of a run or race
 * @returns {string} a sentence; "" if its models are those that are loaded
 */
export const otherModelsWords = (meta) =>
  isOfOtherModels(meta) ? "With other models than are loaded now." : "";
