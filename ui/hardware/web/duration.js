/* Durations in a unit that is easy to read. */

/**
 * A duration as a number and its unit, such as ["6.6", "ms"].
 * @param {number} seconds
 * @returns {[string, string]}
 */
export function duration(seconds) {
  if (seconds >= 0.9995) return [seconds.toFixed(2), "s"];
  if (seconds > 0 && seconds < 0.9995e-3) return [(seconds * 1e6).toFixed(0), "µs"];
  return [(seconds * 1e3).toFixed(seconds >= 0.1 ? 0 : 1), "ms"];
}

/**
 * A duration in words, such as "6.6 ms".
 * @param {number} seconds
 * @returns {string}
 */
export const durationWords = (seconds) => duration(seconds).join(" ");
