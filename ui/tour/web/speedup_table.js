/* The speed-up of the best tree of each size and level cap on a machine. */
import { bestFirst, growthSeconds, plainSeconds } from "../../shared/web/planner.js";

/** @import { Profile } from "../../shared/web/planner.js" */

/**
 * Speed-ups over plain decoding, one row per level cap and one column per size. NaN if the size is
 * below the cap, because such a tree cannot have that many levels.
 * @param {number[]} rates acceptance rates of a first child, a second child, and so on
 * @param {Profile} profile
 * @param {number[]} sizes nodes, with the root
 * @param {number[]} levels level caps, with the root
 * @returns {number[][]}
 */
export function speedupTable(rates, profile, sizes, levels) {
  const plain = plainSeconds(profile);
  return levels.map((cap) => {
    const growth = bestFirst(rates, Math.max(...sizes), cap);
    const seconds = growthSeconds(growth, profile);
    return sizes.map((n) => (n < cap ? NaN : (plain * growth.totals[n - 1]) / seconds[n - 1]));
  });
}

/**
 * @param {number[][]} table
 * @returns {[number, number]} row and column of the largest value
 */
export function largest(table) {
  const values = table.flat().map((value) => (Number.isNaN(value) ? -Infinity : value));
  const at = values.indexOf(Math.max(...values));
  return [Math.floor(at / table[0].length), at % table[0].length];
}
