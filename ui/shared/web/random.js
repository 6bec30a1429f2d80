/* Random numbers that are reproducible from a seed. */

/**
 * A generator of random numbers (mulberry32). The same seed always gives the same numbers.
 * @param {number} seed
 * @returns {() => number} returns the next number, from 0 to below 1
 */
export function seeded(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
