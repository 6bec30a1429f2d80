/* The cells of a losslessness test in words, and as rows of a CSV file. Independent of the DOM. */
import { visible } from "../../shared/web/format.js";

/** @typedef {import("./lossless_view.js").Row} Row */
/** @typedef {import("./lossless_view.js").Test} Test */

/** @type {Record<Row["rest"], string>} */
const REST = {
  "": "",
  other: "then any other",
  rare: "all rarer ones together",
  more: "and rarer ones",
  "other more": "then any other, and rarer ones",
  impossible: "never emitted by the target",
};

/**
 * @param {Row} row
 * @returns {{tokens: string[], rest: string}} the row's name: the texts of its tokens, then words
 */
export function nameOf({ tokens, rest }) {
  const words = tokens.length ? REST[rest] : REST[rest].replace(/^then /, "");
  return { tokens: tokens.map(visible), rest: words };
}

/**
 * The rows of the CSV file, heading included.
 * @param {Test} test
 * @returns {any[][]}
 */
export function csvRows(test) {
  const head = ["outcome", "probability (exact)", "expected", "samples (measured)", "decoder"];
  const body = test.rows.map((row) => {
    const { tokens, rest } = nameOf(row);
    const name = [...tokens, rest].filter(Boolean).join(" ");
    return [name, row.share, row.share * test.draws, row.seen, test.decoder];
  });
  return [head, ...body];
}

/**
 * @param {Test} test
 * @returns {string} the file's name
 */
export const csvName = ({ broken }) =>
  broken ? `lossless-broken-on-purpose-${broken}.csv` : "lossless.csv";
