/* The colours of the DP table's cells: the number that a colour shows, the strength of the colour
   for that number, and the numbers below the legend. */
import * as format from "../../../shared/web/format.js";

/** @typedef {import("./dp_table.js").DpTable} DpTable */
/** @typedef {{low: number, high: number, cut: boolean}} Range `cut`: some values exceed `high` */

/**
 * The kinds of numbers that colours can show.
 * - `of` returns the number of a cell, in tokens per step, or NaN if the cell has no such number.
 *   It is called only if a tree exists for the cell.
 * - `power`: the exponent of the colour scale. Loss and gain are tiny in most of the table, so
 *   their colours follow the cube root.
 * - `strong`: which number gets the last colour of the legend.
 * - `share`: see `range`.
 * @type {Record<string, {name: string, title: string, power: number, strong: "least" | "most",
 *   share?: number, of: (table: DpTable, n: number, l: number, b: number) => number}>}
 */
export const KINDS = {
  regret: {
    name: "Loss",
    title: "tokens per step lost vs. the best b for the same n",
    power: 1 / 3,
    strong: "least",
    share: 0.9,
    of: (table, n, l, b) => table.best(n, l).value - table.value(n, l, b),
  },
  gain: {
    name: "Gain",
    title: "tokens per step gained vs. n − 1 nodes and the same b",
    power: 1 / 3,
    strong: "most",
    share: 0.98,
    of: (table, n, l, b) =>
      n > 1 && table.value(n - 1, l, b) > -Infinity
        ? table.value(n, l, b) - table.value(n - 1, l, b)
        : NaN,
  },
  value: {
    name: "Value",
    title: "expected tokens per step",
    power: 1,
    strong: "most",
    of: (table, n, l, b) => table.value(n, l, b),
  },
};

/**
 * The range of numbers that the colours of level `l` cover. For "value", it covers all numbers of
 * the level. For loss and gain, it begins at 0 and ends at the quantile `share` of these numbers,
 * so that a few large ones do not make all others look alike. If that quantile is 0, it ends at the
 * largest number.
 * @param {string} kind
 * @param {DpTable} table
 * @param {number} l
 * @returns {Range}
 */
export function range(kind, table, l) {
  const values = [];
  for (let n = 1; n <= table.nodes; n++) {
    for (let b = 0; b <= Math.min(table.branches, n - 1); b++) {
      const value = table.value(n, l, b) > -Infinity ? KINDS[kind].of(table, n, l, b) : NaN;
      if (!Number.isNaN(value)) values.push(value);
    }
  }
  const sorted = Float64Array.from(values).sort();
  const last = sorted.length - 1;
  if (last < 0) return { low: 0, high: 0, cut: false };
  if (kind === "value") return { low: sorted[0], high: sorted[last], cut: false };
  const high = sorted[Math.floor(KINDS[kind].share * last)] || sorted[last];
  return { low: 0, high, cut: high < sorted[last] };
}

/**
 * The strength of the colour for a number.
 * @param {string} kind
 * @param {Range} range
 * @param {number} value the number
 * @returns {number} from 0, the first colour of the legend, to 1, the last. A better number (less
 *   loss, or more of the others) never has a lower strength
 */
export function strength(kind, { low, high }, value) {
  const { power, strong } = KINDS[kind];
  const share = high > low ? Math.min(1, Math.max(0, (value - low) / (high - low))) ** power : 0;
  return strong === "least" ? 1 - share : share;
}

/**
 * The five numbers below the legend: at its ends, its middle and its quarters.
 * @param {string} kind
 * @param {Range} range
 * @returns {string[]}
 */
export function marks(kind, { low, high, cut }) {
  const { power, strong } = KINDS[kind];
  return [0, 0.25, 0.5, 0.75, 1].map((at) => {
    const share = strong === "least" ? 1 - at : at;
    const value = low + (high - low) * share ** (1 / power);
    return (cut && share === 1 ? "≥ " : "") + (value === 0 ? "0" : format.short(value));
  });
}

/**
 * @param {string[]} stops as #rrggbb
 * @param {number} count
 * @returns {string[]} `count` colours, interpolated between the stops
 */
export function palette(stops, count) {
  const parts = stops.map((stop) =>
    [1, 3, 5].map((i) => parseInt(stop.trim().slice(i, i + 2), 16)),
  );
  return Array.from({ length: count }, (_, i) => {
    const at = (i / (count - 1)) * (parts.length - 1);
    const k = Math.min(Math.floor(at), parts.length - 2);
    const mixed = parts[k].map((from, c) => Math.round(from + (parts[k + 1][c] - from) * (at - k)));
    return "rgb(" + mixed.join(",") + ")";
  });
}
