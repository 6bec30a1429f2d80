/* A cell of the DP table in words: its recurrence with its numbers, and how it compares with the
   best cell of its column. */
import * as format from "../../../shared/web/format.js";

/** @typedef {import("./dp_table.js").DpTable} DpTable */
/** @typedef {import("./dp_table.js").Cell} Cell */

const nodes = (count) => format.count(count, "node");
const children = (count) => format.count(count, "child", "children");
const rate = (value) =>
  value === 0 ? "0" : value >= 0.0095 ? value.toFixed(3) : String(Number(value.toPrecision(2)));

/**
 * @param {number} value
 * @returns {string}
 */
export const tokens = (value) => value.toFixed(3);

/**
 * @param {Cell} cell
 * @returns {string}
 */
export const name = ({ n, levels, b }) => `T[${n},${levels},${b}]`;

// Why no tree exists for a cell.
function impossible({ n, levels, b }) {
  if (b === 0) return `a root without children is a tree of 1 node, not ${n}.`;
  if (n < b + 1) return `${children(b)} and the root need at least ${b + 1} nodes.`;
  if (levels === 1) return "1 level holds the root alone.";
  return `on 2 levels a root with ${children(b)} makes a tree of exactly ${b + 1} nodes.`;
}

/**
 * The recurrence of a cell with its numbers. It is in pieces, so that the page can mark operands.
 * @param {DpTable} table
 * @param {Cell} cell
 * @returns {{text: string, part?: string}[]}
 */
export function parts(table, cell) {
  const { n, levels, b } = cell;
  const value = table.value(n, levels, b);
  const split = table.split(n, levels, b);
  if (value === -Infinity)
    return [{ text: name(cell) + ": no such tree, because " + impossible(cell) }];
  const whole = { text: name(cell), part: "cell" };
  if (!split)
    return [
      { ...whole, text: whole.text + " = 1" },
      { text: ": the root alone, one token per step." },
    ];
  const rest = name({ n: n - split.m, levels, b: b - 1 });
  return [
    whole,
    { text: " = " },
    { text: `${rest} (${tokens(split.rest)})`, part: "rest" },
    { text: ` + a[${b}] (${rate(split.rate)}) × ` },
    { text: `best(${split.m},${levels - 1}) (${tokens(split.below)})`, part: "below" },
    { text: " = " + tokens(value) },
  ];
}

/**
 * How the cell's nodes are divided between the last child's subtree and the rest.
 * @param {DpTable} table
 * @param {Cell} cell
 * @returns {string}
 */
export function meaning(table, cell) {
  const { n, levels, b } = cell;
  const split = table.split(n, levels, b);
  if (!split) return "";
  const { m, branches } = split;
  const last =
    m === 1
      ? `Child ${b} has no nodes below it, so m = 1.`
      : `Child ${b} and the nodes below it are m = ${nodes(m)}; in the best shape, child ` +
        `${b} has ${children(branches)}.`;
  const earlier = b === 2 ? "the subtree of child 1" : `the subtrees of children 1 to ${b - 1}`;
  if (b === 1) return `${last} The root is the other node.`;
  return `${last} The root and ${earlier} have the other ${nodes(n - m)}.`;
}

/**
 * How the cell compares with the best of its column.
 * @param {DpTable} table
 * @param {Cell} cell
 * @returns {string}
 */
export function standing(table, { n, levels, b }) {
  const best = table.best(n, levels);
  const value = table.value(n, levels, b);
  if (best.value === -Infinity)
    return `No tree has ${nodes(n)} on ${format.count(levels, "level")}.`;
  if (value >= best.value) return `b = ${b} is the best for n = ${n}.`;
  const words = `The best b for n = ${n} is ${best.branches}, with ${tokens(best.value)} tokens`;
  if (value === -Infinity) return words + ".";
  const lost = best.value - value;
  const share = format.percent(lost / best.value);
  return `${words}; this cell loses ${format.short(lost)} tokens per step (${share}).`;
}
