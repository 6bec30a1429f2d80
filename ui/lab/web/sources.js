/* Where the numbers in a file of the Lab come from. */
import { recordedLabel } from "../../shared/web/recorded.js";

/** @import { LabState, Origin } from "./lab_state.js" */

/** @type {(origin: Origin) => Origin} */
export const recordedOrigin = ({ from, ...origin }) => ({
  ...origin,
  label: recordedLabel(origin.label),
  ...(from ? { from: recordedOrigin(from) } : {}),
});

/**
 * Where the acceptance rates come from, as a line in a file.
 * @param {LabState} state
 * @returns {string}
 */
export function acceptanceLine({ origin }) {
  const { label, words } = recordedOrigin(origin);
  return `acceptance: ${label}, ${words}`;
}

/**
 * Where the step times come from, as a line in a file.
 * @param {LabState} state
 * @returns {string}
 */
export function timesLine({ profile, elsewhere }) {
  const machine = elsewhere ?? `${profile.device}, ${profile.target} + ${profile.draft}`;
  return `step times: ${recordedLabel(profile.source)}, ${machine}`;
}
