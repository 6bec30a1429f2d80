/* The cost of model passes on a machine. The unit is a pass of the target over one token. */
import { secondsAt } from "../../shared/web/planner.js";

/** @import { Profile } from "../../shared/web/planner.js" */

/**
 * t(n) / t(1): the time of a pass of the target over n tokens, relative to a pass over one token.
 * @param {Profile} profile
 * @param {number} tokens n
 * @returns {number}
 */
export const timesOne = ({ target_seconds: points }, tokens) =>
  secondsAt(points, tokens) / secondsAt(points, 1);

/**
 * The time that the draft needs to guess `guesses` tokens one after another. The unit is a pass of
 * the target over one token.
 * @param {Profile} profile
 * @param {number} guesses
 * @returns {number}
 */
export const guessingCost = ({ target_seconds: target, draft_seconds: draft }, guesses) =>
  (guesses * secondsAt(draft, 1)) / secondsAt(target, 1);

/**
 * How far a visitor's guess is off, as a factor of at least 1.
 * @param {number} said
 * @param {number} real
 * @returns {number}
 */
export const factorOff = (said, real) => Math.max(said / real, real / said);
