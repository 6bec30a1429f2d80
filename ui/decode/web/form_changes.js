/* Remembers whether the form was changed since its run began. */

let changedSince = false;
let changedBefore = false; // the value of `changedSince` before the last call of `began`

/**
 * Run or Step was pressed, or the Lab starts a run.
 * @param {any[]} buttons updates of the buttons
 * @returns {any[]} `buttons`
 */
export function began(buttons) {
  changedBefore = changedSince;
  changedSince = false;
  return buttons;
}

/**
 * An error arrived. It may mean that no run began, so a form that was changed before the last call
 * of `began` counts as changed again.
 */
export function refused() {
  changedSince ||= changedBefore;
}

/** @returns {boolean} whether the form was changed since its run began */
export const isChanged = () => changedSince;

/**
 * A field of the form was changed, so the form may no longer ask for the run on screen.
 * @returns {boolean} true
 */
export function changed() {
  changedSince = true;
  /** @type {any} */
  const root = document.querySelector("#pg-view .sq-stage");
  root?.view?.store.changed();
  return true;
}
