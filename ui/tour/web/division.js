/* The division that gives a speed-up: tokens per step, divided by the length of a step. The unit of
   length is one step of plain decoding. */
import { figure } from "./filled.js";
import { factorOff } from "./pass_cost.js";

/** @import { FinishedRun } from "../../shared/web/between_tabs.js" */
/** @import { Speedup } from "../../shared/web/verdict_words.js" */
/** @import { Step } from "../../shared/web/step_view.js" */

const CLOSE = 1.15; // a guess that is off by a smaller factor is close

/**
 * Tokens per step, the length of a step in steps of plain decoding, and their quotient.
 * @typedef {{tokens: number, length: number, speedup: number}} Division
 */

/** @type {(tokens: number, length: number) => Division} */
export const division = (tokens, length) => ({ tokens, length, speedup: tokens / length });

/**
 * The division of a finished run that has a verdict. Its quotient is the speed-up of the verdict.
 * @param {FinishedRun} run
 * @returns {Division}
 */
export const divisionOf = ({ tokensPerStep, speedup }) =>
  division(tokensPerStep, tokensPerStep / speedup.ratio);

/**
 * The numbers of a division as words. A visitor who divides the first two gets the third.
 * @param {Division} division
 * @returns {string[]}
 */
export function printed({ tokens, speedup }) {
  const made = figure(tokens, 2);
  return [made, figure(Number(made) / speedup, 3), figure(speedup, 2)];
}

/**
 * Which of the two numbers was guessed worse; "none" if both guesses were close.
 * @param {Division} guess
 * @param {Division} real
 * @returns {"tokens" | "length" | "none"}
 */
export function missed(guess, real) {
  const tokens = factorOff(guess.tokens, real.tokens);
  const length = factorOff(guess.length, real.length);
  if (Math.max(tokens, length) < CLOSE) return "none";
  return tokens >= length ? "tokens" : "length";
}

/**
 * A recorded run in the form of a run made on the page.
 * @param {{meta: Record<string, any>, lane?: string, steps: Step[], speedup?: Speedup | null}} run
 * @returns {FinishedRun}
 */
export function finishedAs({ meta, lane = "", steps, speedup = null }) {
  const tokens = steps.reduce((total, { emitted }) => total + emitted.length, 0);
  const { label, device } = meta;
  const tokensPerStep = tokens / steps.length;
  return { label, device, lane, tokensPerStep, speedup, request: null, meta };
}
