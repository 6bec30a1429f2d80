/* The words and numbers of a speed-up, the same wherever it is shown. The server decides what it
   is: `Speedup` in sequoia/diagnosis/compare_runs.py. Independent of the DOM. */

/**
 * @typedef {"win" | "slower" | "no_clear_difference"} Code
 * @typedef {{code: Code, ratio: number, low: number | null, high: number | null}} Speedup
 */

/** @type {Record<Code, string>} */
const WORDS = { win: "faster", slower: "slower", no_clear_difference: "no clear difference" };

/**
 * A speed-up below 1 that is clear is turned: 0.5 becomes 2 times slower.
 * @param {Speedup} speedup
 * @returns {{word: string, times: string, range: string, interval: string}} `times`: such as
 *   "1.6×". `range`: such as "1.2 to 2.1", or why there is none. `interval`: the same, such as
 *   "95% CI 1.2 to 2.1"
 */
export function speedupWords({ code, ratio, low, high }) {
  const word = WORDS[code];
  if (low === null || high === null) {
    const reason = "too short for an interval";
    return { word, times: times(ratio), range: reason, interval: reason };
  }
  const isTurned = code === "slower";
  const [least, middle, most] = isTurned ? [1 / high, 1 / ratio, 1 / low] : [low, ratio, high];
  const range = `${rounded(least)} to ${rounded(most)}`;
  return { word, times: times(middle), range, interval: `95% CI ${range}` };
}

/**
 * A ratio of paces with one decimal. If it would look like 1 but is not, it gets more.
 * @param {number} ratio
 * @returns {string} such as "1.4" or "1.02"
 */
export const rounded = (ratio) =>
  [1, 2, 3, 4].map((n) => ratio.toFixed(n)).find((one) => Number(one) !== 1) ?? "1.0";

/** @type {(ratio: number) => string} such as "1.4×" */
export const times = (ratio) => rounded(ratio) + "×";

/**
 * A speed-up in a few words, for a place with nothing beside it.
 * @param {Speedup} speedup
 * @returns {string} "1.6× faster", "1.6× slower" or "no clear difference: 1.6× (0.4 to 5.8)"
 */
export function speedupInWords(speedup) {
  const { word, times: ratio, range } = speedupWords(speedup);
  return speedup.code === "no_clear_difference"
    ? `${word}: ${ratio} (${range})`
    : `${ratio} ${word}`;
}
