/* The table T[n, levels, b], computed level by level. Independent of the page.

   T is the largest expected number of tokens per step of any tree with exactly n nodes, at most
   `levels` levels, and b children at the root:
       T[n, l, b] = max over m of T[n-m, l, b-1] + a[b] best(m, l-1)
       best(n, l) = max over b of T[n, l, b]
   Sums are computed in the same order as in sequoia/algorithm/best_tree.py, so that ties are broken
   the same way. A cell for which no tree exists contains -Infinity. `n` and `levels` include the
   root. a is the acceptance vector: a[b] is the rate of a node's b-th child, or 0 if the vector has
   fewer rates. */
import * as planner from "../../../shared/web/planner.js";

export const MAX_NODES = 256;
export const MAX_LEVELS = 64;

/** @typedef {{n: number, levels: number, b: number}} Cell */

/**
 * The choice that attains a cell's maximum. m: nodes in the subtree of the last child, that child
 * included. branches: children of that child. rest: T[n-m, l, b-1]. rate: a[b].
 * below: best(m, l-1).
 * @typedef {{m: number, branches: number, rest: number, rate: number, below: number}} Split
 */

/**
 * A step of the traceback, at `cell`: `node` becomes child number `cell.b` of the node `parent`.
 * @typedef {{cell: Cell, split: Split, parent: number, node: number}} Step
 */

/** @typedef {{cells: Float64Array, best: Float64Array, root: Uint16Array}} Layer */

// The rates up to the last positive one, but no more than a tree of `nodes` nodes can use: at most
// nodes - 1 rates. At least one rate is returned.
function useful(rates, nodes) {
  const last = rates.reduce((found, rate, k) => (rate > 0 ? k : found), 0);
  return Float64Array.from(rates.slice(0, Math.min(last + 1, Math.max(nodes - 1, 1))));
}

/** The table of one vector. */
export class DpTable {
  /**
   * One layer per level. `cells`: T by (b, n). `best`: best(n). `root`: by n, the fewest children
   * of the root that attain best(n).
   * @type {Layer[]}
   */
  layers = [];
  settled = false; // the last level changed no best(n), so more levels would change nothing

  /**
   * @param {number[]} rates
   * @param {number} nodes at most MAX_NODES
   * @throws {RangeError} if the rates are invalid
   */
  constructor(rates, nodes) {
    this.rates = useful(planner.checked(rates), nodes);
    this.nodes = nodes;
    this.branches = this.rates.length;
    this.grow();
  }

  /** Levels computed so far. */
  get levels() {
    return this.layers.length;
  }

  // Adds level after level until the last changes nothing, or there are MAX_LEVELS.
  grow() {
    const cap = Math.min(this.nodes, MAX_LEVELS);
    while (!this.settled && this.levels < cap) {
      const below = this.layers.at(-1) ?? null;
      const layer = this.level(below);
      this.layers.push(layer);
      this.settled = below !== null && below.best.every((value, n) => value === layer.best[n]);
    }
  }

  level(below) {
    const { nodes, branches } = this;
    const width = nodes + 1;
    const cells = new Float64Array((branches + 1) * width).fill(-Infinity);
    const best = new Float64Array(width).fill(-Infinity);
    const root = new Uint16Array(width);
    cells[1] = 1;
    best[1] = 1;
    const source = below?.best ?? new Float64Array(width).fill(-Infinity);
    const gains = Array.from(this.rates, (rate) => scaled(rate, source));
    for (let n = 2; n <= nodes; n++) {
      for (let b = 1; b <= Math.min(branches, n - 1); b++)
        cells[b * width + n] = most(cells, (b - 1) * width + n, gains[b - 1], n - b);
      [best[n], root[n]] = this.top(cells, n);
    }
    return { cells, best, root };
  }

  // best(n), and the fewest children of the root that attain it. A tree of two levels may need more
  // children than the vector has rates, and `cells` has no row for so many. The children without a
  // rate add nothing, so best(n) is then the value of the tree without them.
  top(cells, n) {
    const width = this.nodes + 1;
    let found = -Infinity;
    let b = n - 1;
    for (let k = 0; k <= this.branches; k++) {
      if (cells[k * width + n] <= found) continue;
      found = cells[k * width + n];
      b = k;
    }
    if (found > -Infinity) return [found, b];
    for (let k = 0; k < n; k++) found = Math.max(found, cells[this.branches * width + k]);
    return [found, b];
  }

  layer(levels) {
    return this.layers[Math.min(levels, this.levels) - 1];
  }

  /**
   * T[n, levels, b].
   * @param {number} n
   * @param {number} levels
   * @param {number} b
   * @returns {number}
   */
  value(n, levels, b) {
    const extra = Math.max(0, b - this.branches); // children without a rate: leaves worth nothing
    return n - extra < 1
      ? -Infinity
      : this.layer(levels).cells[(b - extra) * (this.nodes + 1) + n - extra];
  }

  /**
   * best(n, levels), and the fewest children that attain it.
   * @param {number} n
   * @param {number} levels
   * @returns {{value: number, branches: number}}
   */
  best(n, levels) {
    const layer = this.layer(levels);
    return { value: layer.best[n], branches: layer.root[n] };
  }

  /**
   * The choice that a cell's value comes from; among equals, the smallest m.
   * @param {number} n
   * @param {number} levels
   * @param {number} b
   * @returns {Split | null} null for the root alone, and if no tree exists
   */
  split(n, levels, b) {
    if (b === 0 || this.value(n, levels, b) === -Infinity) return null;
    const rate = this.rates[b - 1] ?? 0;
    const sums = this.sums(n, levels, b);
    let m = 1;
    for (let k = 2; k < n; k++) if (sums[k] > sums[m]) m = k;
    const child = this.best(m, levels - 1);
    return {
      m,
      branches: child.branches,
      rest: this.value(n - m, levels, b - 1),
      rate,
      below: child.value,
    };
  }

  /**
   * The candidates for a cell's maximum. Index m is the size of the last child's subtree; index 0
   * is not used. -Infinity where m is impossible.
   * @param {number} n
   * @param {number} levels
   * @param {number} b
   * @returns {Float64Array}
   */
  sums(n, levels, b) {
    const sums = new Float64Array(Math.max(n, 2)).fill(-Infinity);
    if (levels < 2 || b < 1) return sums;
    const rate = this.rates[b - 1] ?? 0;
    const { best } = this.layer(levels - 1);
    const { cells } = this.layer(levels);
    const extra = Math.max(0, b - 1 - this.branches);
    const row = (b - 1 - extra) * (this.nodes + 1) + n - extra;
    for (let m = 1; m < n - extra; m++)
      if (best[m] > -Infinity) sums[m] = cells[row - m] + rate * best[m];
    return sums;
  }

  /**
   * The traceback of a cell. parents: the parent of each node of the cell's tree, in breadth-first
   * order. steps: one for each child, node by node, from a node's last child to its first.
   * @param {number} n
   * @param {number} levels
   * @param {number} b
   * @returns {{parents: number[], steps: Step[]} | null} null if no tree exists
   */
  trace(n, levels, b) {
    if (this.value(n, levels, b) === -Infinity) return null;
    const parents = [-1];
    const steps = [];
    const queue = [{ n, levels, b }];
    for (let parent = 0; parent < queue.length; parent++) {
      const own = this.unwind(queue[parent], parent, parents.length);
      steps.push(...own);
      for (const { cell, split } of own.reverse()) {
        parents.push(parent);
        queue.push({ n: split.m, levels: cell.levels - 1, b: split.branches });
      }
    }
    return { parents, steps };
  }

  // The steps of one node, from its last child to its first, which is numbered `first`.
  unwind({ n, levels, b }, parent, first) {
    const steps = [];
    let left = n;
    for (let k = b; k > 0; k--) {
      const split = this.split(left, levels, k);
      steps.push({ cell: { n: left, levels, b: k }, split, parent, node: first + k - 1 });
      left -= split.m;
    }
    return steps;
  }
}

function most(cells, at, gains, last) {
  let found = -Infinity;
  for (let m = 1; m <= last; m++) {
    const sum = cells[at - m] + gains[m];
    if (sum > found) found = sum;
  }
  return found;
}

const scaled = (rate, values) =>
  values.map((value) => (value === -Infinity ? value : rate * value));
