/* Whether the form was changed since its run began (see ui/decode/tab.py, which calls these). */

let changedSince = false;
let changedBefore = false; // what that was until the last press of Run or Step

/** Run or Step was pressed. */
export function began() {
  changedBefore = changedSince;
  changedSince = false;
  return [];
}

/** The press was refused: the form still stands against the run before. */
export function refused() {
  changedSince ||= changedBefore;
}

/** True where the form was changed since its run began. */
export const isChanged = () => changedSince;

/** A field of the form was changed: what runs or is paused is no longer the form's run. */
export function changed() {
  changedSince = true;
  document.querySelector("#pg-view .sq-stage")?.view?.store.changed();
  return true;
}
