/* The texts of a result: the cells of its table, its CSV files, its settings and its finding. */
import { count, grouped, known, prob, rate } from "../../shared/web/format.js";

/** @import { Column, Comparison, Result } from "./experiments_state.js" */

/**
 * The values of a column as text. If no number in the column has more than one decimal, all numbers
 * are written in full. Otherwise all are rounded.
 * @param {(string | number | null)[]} values
 * @returns {string[]}
 */
export function cellTexts(values) {
  const isShort = values.every((value) => !known(value) || Number.isInteger(Number(value) * 10));
  return values.map((value) => {
    if (typeof value === "string") return value;
    if (!known(value)) return "–";
    if (isShort) return Number.isInteger(value) ? grouped(value) : String(value);
    return Math.abs(value) >= 1 ? rate(value) : prob(value);
  });
}

/**
 * Points as rows of a CSV file, with the columns of `to_csv` in sequoia/experiments/result.py.
 * @param {Result} result
 * @returns {any[][]}
 */
export function pointRows({ name, x, y, series }) {
  const head = ["experiment", "panel", "series", x.name, y.name, "low", "high", "prompts"];
  const rows = series.flatMap((one) =>
    one.points.map((point) => [
      name,
      one.panel,
      one.name,
      point.x,
      point.mean,
      point.low ?? "",
      point.high ?? "",
      point.prompts,
    ]),
  );
  return [head, ...rows];
}

/**
 * The table as rows of a CSV file. A heading also says where the column's numbers come from, if the
 * column has a `kind`: `speed-up (paper)`.
 * @param {Result} result
 * @returns {any[][]}
 */
export function tableRows({ columns, rows }) {
  const head = columns.map(({ label, kind }) => (kind ? `${label} (${kind})` : label));
  return [head, ...rows.map((row) => columns.map(({ name }) => row[name] ?? ""))];
}

/**
 * Whether the first method of a comparison is higher or lower than the second. "equal": they are
 * equal for every prompt. Empty for a ratio without an interval.
 * @param {Comparison} comparison
 * @returns {"higher" | "lower" | "equal" | "no clear difference" | ""}
 */
export function verdictOf({ low, high }) {
  if (low === null || high === null) return "";
  if (low === 1 && high === 1) return "equal";
  if (low > 1) return "higher";
  return high < 1 ? "lower" : "no clear difference";
}

/**
 * The models, machine, date and settings of a result, as names and values.
 * @param {Result} result
 * @param {Record<string, string>} [profiles] the names of hardware profiles by their keys
 * @returns {[string, string][]}
 */
export function facts({ target, draft, machine, date, settings }, profiles = {}) {
  /** @type {[string, string][]} */
  const all = [
    ["Target", target],
    ["Draft", draft],
    ["Machine", machine],
    ["Date", date],
    ["Settings", settingWords(settings, profiles)],
  ];
  return all.filter(([, value]) => value);
}

// The names that the page shows for settings, or a function that returns the whole words for a
// value. A setting that is not listed here is shown under its own name.
const SETTINGS = {
  kinds: "kinds of text",
  prompts: "prompts of each kind",
  tokens: "tokens per text",
  top_ps: "top-p",
  budgets: "nodes",
  sizes: "nodes",
  chain: "nodes of the chain",
  widths: "sequences",
  depths: "tokens per sequence",
  ranks: "children",
  every: (tokens) =>
    `with Traversal and block verification, the measured steps start ${count(tokens, "token")} apart`,
  stride: (tokens) => `the measured steps start ${count(tokens, "token")} apart`,
  planning: ([texts, tokens]) =>
    `the stopping chain is planned on ${count(texts, "text")} of ${count(tokens, "token")} each`,
  profile: (key, profiles) => `speed-ups are predicted for ${profileName(key, profiles)}`,
  machines: (keys, profiles) =>
    `hardware profiles: ${keys.map((key) => profileName(key, profiles)).join(", ")}`,
  conditions: (pairs) =>
    `temperature (draft): ${pairs.map(([temperature, draft]) => `${temperature} (${draft})`).join(", ")}`,
};

const profileName = (key, profiles) => `“${profiles[key] ?? key}”`;

const settingWords = (settings, profiles) =>
  Object.entries(settings)
    .filter(([, value]) => typeof value !== "object" || Array.isArray(value))
    .map(([name, value]) => {
      const words = SETTINGS[name] ?? name;
      if (typeof words === "function") return words(value, profiles);
      return `${words}: ${[value].flat().join(", ")}`;
    })
    .join("; ");

/**
 * The lines above a saved figure, which say what it shows.
 * @param {Result} result
 * @returns {string[]}
 */
export function captionLines(result) {
  const { title, source, date, machine, target, draft } = result;
  const partial = result.done < result.total ? `${doneWords(result)}; ` : "";
  return [title, `${partial}${source} ${date}, ${machine}`, `${target} + ${draft}`];
}

/**
 * @param {Result} result
 * @returns {string}
 */
export const doneWords = ({ done, total }) => `${grouped(done)} of ${grouped(total)} parts done`;

/**
 * A finding split into its lines. The first line is the answer, the others are details.
 * @param {string} finding
 * @returns {[string, string[]]} the answer and the details
 */
export function divided(finding) {
  const [answer, ...details] = finding.split("\n");
  return [answer, details];
}

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
