/* Measures how much of a text repeats what came before. Repeated text is easy to draft, so it makes
   every speculative decoder look better. Independent of the DOM. */
import * as format from "./format.js";

const GRAM = 8; // length of an n-gram in tokens
// Repetition is mentioned only if at least this share of the text's 8-grams are repeats, and the
// text has at least MIN_GRAMS 8-grams.
const MIN_SHARE = 0.1;
const MIN_GRAMS = 16;

/**
 * `grams`: number of 8-grams so far. `repeats`: how many of them had occurred before.
 * @typedef {{grams: number, repeats: number}} RepeatCounts
 */

/**
 * Counts the repeated 8-grams of a growing text. `repetition` in sequoia/algorithm/step_trace.py is
 * `repeats / grams`.
 */
export class Repeats {
  recent = [];
  known = new Set();
  grams = 0;
  repeats = 0;

  /**
   * Add the next tokens of the text.
   * @param {(number | string)[]} tokens ids or texts
   * @returns {RepeatCounts} the counts of the whole text so far
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
 * The counts in words; "" if the text is short or repeats little.
 * @param {RepeatCounts} counts
 * @returns {string}
 */
export const repeatsInWords = ({ grams, repeats }) =>
  grams >= MIN_GRAMS && repeats / grams >= MIN_SHARE
    ? `${format.percent(repeats / grams)} repeated text: easier to draft`
    : "";
