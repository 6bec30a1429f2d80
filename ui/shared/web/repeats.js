/* How much of a text repeats what came before it. Repeated text is easy to draft, so it flatters
   every speculative decoder. Pure. */
import * as format from "./format.js";

const GRAM = 8; // tokens in a row that count as a repeat when they come again
const MIN_SHARE = 0.1; // do not mention repetition below this share of repeated 8-grams
const MIN_GRAMS = 16; // nor in a text with fewer 8-grams than this

/**
 * 8-grams counted, and how many of them had occurred before.
 * @typedef {{grams: number, repeats: number}} RepeatCounts
 */

/** Counts over a growing text, as `repetition` in sequoia/algorithm/step_trace.py counts them. */
export class Repeats {
  recent = [];
  known = new Set();
  grams = 0;
  repeats = 0;

  /**
   * Count the tokens that follow.
   * @param {(number | string)[]} tokens ids or texts
   * @returns {RepeatCounts}
   */
  add(tokens) {
    for (const token of tokens) {
      this.recent = [...this.recent, token].slice(-GRAM);
      if (this.recent.length < GRAM) continue;
      const gram = JSON.stringify(this.recent);
      this.grams += 1;
      if (this.known.has(gram)) this.repeats += 1;
      this.known.add(gram);
    }
    return { grams: this.grams, repeats: this.repeats };
  }
}

/**
 * Such counts in words; "" where there is little to say.
 * @param {RepeatCounts} counts
 * @returns {string}
 */
export const repeatsInWords = ({ grams, repeats }) =>
  grams >= MIN_GRAMS && repeats / grams >= MIN_SHARE
    ? `${format.percent(repeats / grams)} repeated text: easier to draft`
    : "";
