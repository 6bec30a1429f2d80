/* The words and numbers of a speed-up, the same wherever it is shown. The server decides what it
   is: `Speedup` in sequoia/diagnosis/compare_runs.py. Independent of the DOM. */

/**
 * @typedef {"win" | "slower" | "no_clear_difference"} Code
 * @typedef {{code: Code, ratio: number, low: number | null, high: number | null}} Speedup
 */

/** @type {Record<Code, string>} */
const WORDS = { win: "faster", slower: "slower", no_clear_difference: "no clear difference" };
const WIDE = 0.5; // a wider interval is given with one decimal

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
    return { word, times: ratio.toFixed(1) + "×", range: reason, interval: reason };
  }
  const isTurned = code === "slower";
  const [least, middle, most] = isTurned ? [1 / high, 1 / ratio, 1 / low] : [low, ratio, high];
  const decimals = decimalsFor(least, most);
  const [from, times, to] = [least, middle, most].map((one) => one.toFixed(decimals));
  const range = `${from} to ${to}`;
  return { word, times: times + "×", range, interval: `95% CI ${range}` };
}

/**
 * A ratio of at least 1 that is given without its interval beside it, with as many decimals as with
 * it.
 * @param {{ratio: number, least: number, most: number}} pair
 * @returns {string} such as "1.4×"
 */
export const ratioWords = ({ ratio, least, most }) => ratio.toFixed(decimalsFor(least, most)) + "×";

// As few decimals as possible, but an end of the interval that is not 1 must not look like 1.
function decimalsFor(least, most) {
  const looksLikeOne = (decimals) =>
    [least, most].some((end) => end.toFixed(decimals) === (1).toFixed(decimals));
  const first = most - least < WIDE ? 2 : 1;
  return [1, 2, 3, 4].find((decimals) => decimals >= first && !looksLikeOne(decimals)) ?? 4;
}

/**
 * A speed-up in a few words, for a place with nothing beside it.
 * @param {Speedup} speedup
 * @returns {string} "1.6× faster", "1.6× slower" or "no clear difference: 1.6× (0.4 to 5.8)"
 */
export function speedupInWords(speedup) {
  const { word, times, range } = speedupWords(speedup);
  return speedup.code === "no_clear_difference"
    ? `${word}: ${times} (${range})`
    : `${times} ${word}`;
}
