/* The values of the forms. Gradio passes them to `note`, see `note_form` in ui/shared/events.py. */
import { linkChanged } from "./page_link.js";

/** @type {Map<string, Record<string, any>>} by tab */
const noted = new Map();
// Functions to call once, as soon as the values of a tab are known.
/** @type {Map<string, ((values: Record<string, any>) => void)[]>} by tab */
const waiting = new Map();
// Functions to call each time `note` records the values of a tab.
/** @type {Map<string, ((values: Record<string, any>) => void)[]>} by tab */
const watching = new Map();

/**
 * Record the values of a tab's form.
 * @param {string} tab
 * @param {string[]} names of the fields
 * @param {any[]} values of these fields
 * @returns {any[]} the outputs that Gradio expects: none
 */
export function note(tab, names, values) {
  const before = noted.get(tab);
  const now = Object.fromEntries(names.map((name, i) => [name, values[i]]));
  noted.set(tab, now);
  for (const call of waiting.get(tab) ?? []) call(now);
  waiting.delete(tab);
  for (const call of watching.get(tab) ?? []) call(now);
  // Gradio also reports changes that leave all values as they are, for example while the page loads
  if (before && JSON.stringify(before) !== JSON.stringify(now)) linkChanged(tab);
  return [];
}

/**
 * @param {string} tab
 * @returns {Record<string, any>} the values of the tab's form by name; empty before they are known
 */
export const formValues = (tab) => noted.get(tab) ?? {};

/**
 * Call `act` once with the values of a tab's form, as soon as they are known.
 * @param {string} tab
 * @param {(values: Record<string, any>) => void} act
 */
export function withFormValues(tab, act) {
  if (noted.has(tab)) act(noted.get(tab));
  else waiting.set(tab, [...(waiting.get(tab) ?? []), act]);
}

/**
 * Call `act` with the values of a tab's form: now if they are known, and each time `note` records
 * them.
 * @param {string} tab
 * @param {(values: Record<string, any>) => void} act
 */
export function watchFormValues(tab, act) {
  watching.set(tab, [...(watching.get(tab) ?? []), act]);
  if (noted.has(tab)) act(noted.get(tab));
}
