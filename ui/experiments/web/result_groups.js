/* The rows of a table in groups. Consecutive rows with the same first value share a heading, which
   shows this value once. */
import { cellTexts } from "./result_rows.js";

/** @import { Column, Comparison, Result } from "./experiments_state.js" */

/**
 * A group of rows and what they have in common.
 * @typedef {object} Group
 * @property {string} title the value of the first column, empty if rows are not grouped
 * @property {string[]} shared other values that the rows have in common, each with the label of its
 *   column
 * @property {string[][]} cells for each row, its texts in the columns that stay in the table
 */

/**
 * Where all numbers of a table come from, if they come from one source; otherwise empty.
 * @param {Column[]} columns
 * @returns {string}
 */
export function onlyKind(columns) {
  const kinds = new Set(columns.map(({ kind }) => kind).filter(Boolean));
  return kinds.size === 1 ? [...kinds][0] : "";
}

/**
 * Divides the rows of a result into groups. A column moves to the headings if, in every group, all
 * rows have the same value. Rows stay ungrouped if no two neighbours have the same first value.
 * @param {Result} result
 * @returns {{ columns: Column[], groups: Group[] }}
 */
export function groupedRows({ columns, rows }) {
  const ranges = rangesOf(rows.map((row) => row[columns[0].name]));
  const isGrouped = ranges.length < rows.length;
  const shared = isGrouped ? columns.filter((column) => isShared(column, rows, ranges)) : [];
  const own = columns.filter((column) => !shared.includes(column));
  const textAt = textsOf(columns, rows);
  const cells = (range) => range.map((i) => own.map((column) => textAt(column, i)));
  if (!isGrouped)
    return { columns, groups: [{ title: "", shared: [], cells: cells([...rows.keys()]) }] };
  const [first, ...named] = shared;
  const hasOneKind = onlyKind(columns) !== "";
  const groups = ranges.map((range) => ({
    title: textAt(first, range[0]),
    shared: named
      .filter(({ name }) => rows[range[0]][name] !== null)
      .map((column) => sharedText(column, textAt(column, range[0]), hasOneKind)),
    cells: cells(range),
  }));
  return { columns: own, groups };
}

const isShared = ({ name }, rows, ranges) =>
  ranges.every((range) => range.every((i) => rows[i][name] === rows[range[0]][name]));

// The text of each cell, by column and index of the row.
function textsOf(columns, rows) {
  const texts = new Map(
    columns.map((column) => [column, cellTexts(rows.map((row) => row[column.name]))]),
  );
  return (column, i) => texts.get(column)?.[i] ?? "";
}

function sharedText({ label, kind }, value, hasOneKind) {
  return `${label}: ${value}${kind && !hasOneKind ? ` (${kind})` : ""}`;
}

/**
 * Divides comparisons into groups by the part of their text before the last colon. They stay
 * ungrouped if no two neighbours have that part in common.
 * @param {Comparison[]} comparisons
 * @returns {{ title: string, members: { text: string, comparison: Comparison }[] }[]}
 */
export function groupedComparisons(comparisons) {
  const heads = comparisons.map(({ text }) => text.slice(0, Math.max(text.lastIndexOf(": "), 0)));
  const ranges = rangesOf(heads);
  if (ranges.length === comparisons.length)
    return [
      { title: "", members: comparisons.map((one) => ({ text: one.text, comparison: one })) },
    ];
  return ranges.map((range) => ({
    title: heads[range[0]],
    members: range.map((i) => ({
      text: tail(comparisons[i], heads[i]),
      comparison: comparisons[i],
    })),
  }));
}

const tail = ({ text }, head) => (head ? text.slice(head.length + 2) : text);

/**
 * The indices of the values. Neighbours with equal values are in one list.
 * @param {any[]} values
 * @returns {number[][]}
 */
function rangesOf(values) {
  /** @type {number[][]} */
  const ranges = [];
  values.forEach((value, i) => {
    if (i && value === values[i - 1]) ranges[ranges.length - 1].push(i);
    else ranges.push([i]);
  });
  return ranges;
}
