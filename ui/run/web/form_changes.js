/* Remembers whether the form was changed since its run began, and what it was then. */
import { formValues } from "../../shared/web/form_values.js";

const SAVED = "kept:"; // prefix of the field `clock` if it names a saved profile
/**
 * `since`: whether the form was changed since its run began. `before`: the value of `since` before
 * the last call of `began`. `profile`: the saved profile that the run's times come from, as JSON.
 * `form`: the form's values when the run began, as JSON; "" if none began.
 * @type {{since: boolean, before: boolean, profile?: string, form: string}}
 */
const change = { since: false, before: false, form: "" };
const valuesNow = () => JSON.stringify(formValues("run"));

/** @type {(clock: any, profiles?: string[] | null) => string | undefined} */
const profileOf = (clock, profiles) =>
  profiles?.find((one) => SAVED + JSON.parse(one).name === clock);

/**
 * Run or Step was pressed, or Design starts a run.
 * @param {any[]} buttons updates of the buttons
 * @returns {any[]} `buttons`
 */
export function began(buttons) {
  const { clock, profiles } = formValues("run");
  const before = change.since;
  const profile = profileOf(clock, profiles);
  Object.assign(change, { since: false, before, profile, form: valuesNow() });
  return buttons;
}

/** An error arrived. It may mean that no run began, so a form that was changed before the last call
 * of `began` counts as changed again. */
export function refused() {
  change.since ||= change.before;
}

/** @returns {string} the form's values when its run began, as JSON; "" if none began here */
export const valuesOfRun = () => change.form && (change.since ? change.form : valuesNow());

/** @returns {boolean} whether the form was changed since its run began */
export const isChanged = () => change.since;

/**
 * A field of the form was changed, so the form may no longer match the run on screen.
 * @returns {boolean} true
 */
export function changed() {
  change.since = true;
  return true;
}

/**
 * The profiles saved in the browser were changed. This counts as a change of the form if the form's
 * clock is now a different profile than when the run began, or the profile's values changed.
 * @param {any} clock value of the field `clock`
 * @param {string[]} profiles as JSON
 * @returns {boolean} whether this counts as a change of the form
 */
export const profilesChanged = (clock, profiles) =>
  profileOf(clock, profiles) !== change.profile && changed();
