/* How far counts are from the expected counts. Independent of the DOM. */
import { percent, shortP } from "../../shared/web/format.js";

/** @typedef {import("./lossless_view.js").Row} Row */

const FAR = 3; // standard deviations; a larger difference is far

/**
 * @param {Row} row
 * @param {number} draws samples in all rows together
 * @returns {boolean} whether the row's count is far from its expected count
 */
export function isFar({ share, seen }, draws) {
  const expected = share * draws;
  return Math.abs(seen - expected) > FAR * Math.sqrt(expected * (1 - share));
}

/**
 * @param {{draws: number, distance: number, floor: number, p_value: number | null}} test
 * @returns {string} the number of texts, how far off all counts are together, and any p-value
 */
export function rareness({ draws, distance, floor, p_value }) {
  const off = `Total variation ${percent(distance, 1)}; chance alone gives ${percent(floor, 1)} on average`;
  const p = p_value === null ? "" : `; p-value ${shortP(p_value)}`;
  return `${draws.toLocaleString("en-US")} texts. ${off}${p}.`;
}
