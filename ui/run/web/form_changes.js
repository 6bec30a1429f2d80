/* Remembers for each form whether it was changed since its run began. */
import { formValues } from "../../shared/web/form_values.js";

/** @typedef {"decode" | "race"} Tab */

const SAVED = "kept:"; // prefix of the field `clock` if it names a saved profile
const STAGES = { decode: "#pg-view .sq-stage", race: "#rc-view .sq-stage" };
/**
 * `since`: whether the form was changed since its run began. `before`: the value of `since` before
 * the last call of `began`. `profile`: the saved profile that the run's times come from, as JSON.
 * @typedef {{since: boolean, before: boolean, profile?: string}} Change
 */
/** @type {Record<Tab, Change>} */
const changes = {
  decode: { since: false, before: false },
  race: { since: false, before: false },
};

/** @type {(clock: any, profiles?: string[] | null) => string | undefined} */
const profileOf = (clock, profiles) =>
  profiles?.find((one) => SAVED + JSON.parse(one).name === clock);

/**
 * Run or Step was pressed, or the Lab starts a run.
 * @param {Tab} tab
 * @param {any[]} buttons updates of the buttons
 * @returns {any[]} `buttons`
 */
export function began(tab, buttons) {
  const { clock, profiles } = formValues(tab);
  changes[tab] = {
    since: false,
    before: changes[tab].since,
    profile: profileOf(clock, profiles),
  };
  return buttons;
}

/**
 * An error arrived. It may mean that no run began, so a form that was changed before the last call
 * of `began` counts as changed again.
 * @param {Tab} tab
 */
export function refused(tab) {
  changes[tab].since ||= changes[tab].before;
}

/** @type {(tab: Tab) => boolean} whether the form was changed since its run began */
export const isChanged = (tab) => changes[tab].since;

/**
 * A field of the form was changed, so the form may no longer match the run on screen.
 * @param {Tab} tab
 * @returns {boolean} true
 */
export function changed(tab) {
  changes[tab].since = true;
  /** @type {any} */
  const root = document.querySelector(STAGES[tab]);
  root?.view?.store.changed();
  return true;
}

/**
 * The profiles saved in the browser were changed. This counts as a change of the form if the form's
 * clock is now a different profile than when the run began, or the profile's values changed.
 * @param {Tab} tab
 * @param {any} clock value of the field `clock`
 * @param {string[]} profiles as JSON
 * @returns {boolean} whether this counts as a change of the form
 */
export const profilesChanged = (tab, clock, profiles) =>
  profileOf(clock, profiles) !== changes[tab].profile && changed(tab);
