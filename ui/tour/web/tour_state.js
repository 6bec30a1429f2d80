/* Where a visitor is in the tour, and the answers so far. All functions are pure. */
import { LESSON } from "./lesson.js";

export const STOPS = ["cost", "dice", "chain", "tree", "which", "break", "yours"];
/** @type {(stop: string) => string[]} the names of a stop's questions, in order */
const questionsOf = (stop) => Object.keys(LESSON[stop].questions);
const VERSION = 1;
const MOST_CHARS = 4000; // of a stored state
const MOST_PARTS = 16; // of an answer

/**
 * An answer: one or several numbers, or one or several names; null if the solution was shown
 * without a guess.
 * @typedef {number | number[] | string | string[] | null} Answer
 * @typedef {object} TourState
 * @property {string} stop the stop on screen
 * @property {Record<string, Answer>} answers by stop and question, such as "cost.length"
 */

/** @returns {TourState} */
export const atStart = () => ({ stop: STOPS[0], answers: {} });

/** @type {(stop: string, question: string) => string} */
export const keyOf = (stop, question) => `${stop}.${question}`;

/**
 * @param {TourState} state
 * @param {string} stop
 * @param {string} question
 * @param {Answer} answer
 * @returns {TourState} the state with that answer
 */
export const answered = (state, stop, question, answer) => ({
  ...state,
  answers: { ...state.answers, [keyOf(stop, question)]: answer },
});

/**
 * @param {TourState} state
 * @param {string} stop
 * @returns {TourState} the state at that stop; unchanged for an unknown stop
 */
export const movedTo = (state, stop) => (STOPS.includes(stop) ? { ...state, stop } : state);

/** @type {(state: TourState, stop: string, question: string) => boolean} */
export const isAnswered = (state, stop, question) =>
  Object.hasOwn(state.answers, keyOf(stop, question));

/**
 * @param {TourState} state
 * @param {string} stop
 * @returns {string | undefined} the first unanswered question; undefined if all are answered
 */
export const openQuestion = (state, stop) =>
  questionsOf(stop).find((question) => !isAnswered(state, stop, question));

/** @type {(state: TourState, stop: string) => boolean} */
export const isDone = (state, stop) => openQuestion(state, stop) === undefined;

/**
 * @param {string} stop
 * @param {number} by 1 for the next stop, -1 for the previous one
 * @returns {string | undefined} that stop; undefined if there is none
 */
export const neighbour = (stop, by) => STOPS[STOPS.indexOf(stop) + by];

/** @type {(state: TourState) => string} */
export const written = ({ stop, answers }) => JSON.stringify({ v: VERSION, stop, answers });

/**
 * Parse a stored state, which may come from another version of the program or have been edited. If
 * it cannot be used, the start of the tour is returned. Answers to unknown questions are dropped,
 * and so are values of other types and lists of more than MOST_PARTS parts. Whether an answer fits
 * its question is not checked.
 * @param {string | null} text
 * @returns {TourState}
 */
export function read(text) {
  const kept = parsed(text);
  if (kept?.v !== VERSION) return atStart();
  const known = STOPS.flatMap((stop) => questionsOf(stop).map((one) => keyOf(stop, one)));
  const given = Object.entries(kept.answers || {});
  const good = given.filter(([key, answer]) => known.includes(key) && isAnswer(answer));
  return movedTo({ ...atStart(), answers: Object.fromEntries(good) }, kept.stop);
}

function parsed(text) {
  if (typeof text !== "string" || text.length > MOST_CHARS) return null;
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const isPart = (value) =>
  typeof value === "string" || (typeof value === "number" && Number.isFinite(value));

function isAnswer(value) {
  if (Array.isArray(value)) return value.length <= MOST_PARTS && value.every(isPart);
  return value === null || isPart(value);
}
