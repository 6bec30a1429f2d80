/* What the speed-ups of a run rest on, in words: counted tokens per step or expected ones, one run
   or several, and where the step times come from. */
import { count } from "../../shared/web/format.js";

/** @typedef {import("./arrived.js").Verdict} Verdict */

/**
 * Whether the speed-up of a lane is that of expected tokens per step.
 * @param {Verdict | null} verdict
 * @param {number} lane its index
 * @returns {boolean}
 */
export function isExpected(verdict, lane) {
  const over = verdict?.speedups[lane]?.over;
  const isOf = ({ faster, slower }) => [faster, slower].every((one) => [lane, over].includes(one));
  return Boolean(verdict?.pairs.find(isOf)?.expected);
}

/**
 * @param {Verdict} verdict
 * @param {number} lane its index
 * @param {string} word where the step times come from
 * @returns {string} such as "6 runs, expected tokens, simulated times"
 */
export function basisOf(verdict, lane, word) {
  const { races } = verdict;
  const runs = races > 1 ? count(races, "run") : "";
  const tokens = isExpected(verdict, lane) ? "expected tokens" : "";
  return [runs, tokens, `${word} times`].filter(Boolean).join(", ");
}

/**
 * Which run the figures of the cards are counted in, if the speed-ups above them are of more runs,
 * or of expected tokens.
 * @param {Verdict} verdict
 * @returns {string} empty if the speed-ups are of the same run
 */
export function countedIn({ races, pairs }) {
  if (races > 1) return "Counted in the first run:";
  return pairs.some(({ expected }) => expected) ? "Counted in this run:" : "";
}
