/* The values of the forms, which Gradio holds (see ui/shared/events.py: `noted`). */
import { linkChanged } from "./page_link.js";

/** @type {Map<string, Record<string, any>>} by tab */
const noted = new Map();
/** @type {Map<string, ((values: Record<string, any>) => void)[]>} who waits for the first ones */
const waiting = new Map();
/** @type {Map<string, ((values: Record<string, any>) => void)[]>} who follows them */
const watching = new Map();

/**
 * The values of a tab's form, when the page is loaded and after each change.
 * @param {string} tab
 * @param {string[]} names
 * @param {any[]} values
 * @returns {any[]} no outputs
 */
export function note(tab, names, values) {
  const isFirst = !noted.has(tab);
  const now = Object.fromEntries(names.map((name, i) => [name, values[i]]));
  noted.set(tab, now);
  for (const call of waiting.get(tab) ?? []) call(now);
  waiting.delete(tab);
  for (const call of watching.get(tab) ?? []) call(now);
  if (!isFirst) linkChanged(tab);
  return [];
}

/**
 * @param {string} tab
 * @returns {Record<string, any>} empty before they are known
 */
export const formValues = (tab) => noted.get(tab) ?? {};

/**
 * Call `act` with the values of a tab's form, as soon as they are known.
 * @param {string} tab
 * @param {(values: Record<string, any>) => void} act
 */
export function withFormValues(tab, act) {
  if (noted.has(tab)) act(noted.get(tab));
  else waiting.set(tab, [...(waiting.get(tab) ?? []), act]);
}

/**
 * Call `act` with the values of a tab's form: now, if they are known, and after each change.
 * @param {string} tab
 * @param {(values: Record<string, any>) => void} act
 */
export function watchFormValues(tab, act) {
  watching.set(tab, [...(watching.get(tab) ?? []), act]);
  if (noted.has(tab)) act(noted.get(tab));
}
