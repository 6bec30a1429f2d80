/* Whether the form was changed since its run began (see ui/decode/tab.py, which calls these). */

let changedSince = false;
let changedBefore = false; // what that was until the last press of Run or Step

/**
 * Run or Step was pressed.
 * @param {any[]} buttons what becomes of them
 * @returns {any[]} the same
 */
export function began(buttons) {
  changedBefore = changedSince;
  changedSince = false;
  return buttons;
}

/** The press was refused: the form is still compared with the run before. */
export function refused() {
  changedSince ||= changedBefore;
}

/** @returns {boolean} whether the form was changed since its run began */
export const isChanged = () => changedSince;

/**
 * A field of the form was changed: what runs or is paused is no longer the form's run.
 * @returns {boolean} true
 */
export function changed() {
  changedSince = true;
  /** @type {any} */
  const root = document.querySelector("#pg-view .sq-stage");
  root?.view?.store.changed();
  return true;
}
