/* The table T[n, levels, b] as it is looked at: level by level, in slices of work, with every choice of every cell. Pure: rates in,
   numbers out; knows nothing of the page, of time or of hardware.

   T is the most expected tokens of a tree with exactly n nodes, at most `levels` levels and b children at the root:
       T[n, l, b] = max over m of T[n-m, l, b-1] + a[b] best(m, l-1)      best(n, l) = max over b of T[n, l, b]
   The same sums in the same order as sequoia/planner.py, so that ties fall the same way. Cells without a tree hold -Infinity.
   `n` and `levels` count the root; children beyond the vector have rate 0. */
import * as planner from "../planner.js";

const MOST_CELLS = 2 ** 22; // 32 MiB
const SLICE = 200000; // sums between two looks at the clock

/** The rates a tree of `nodes` nodes can use: up to the last positive one, and at least one. */
function useful(rates, nodes) {
  const last = rates.reduce((found, rate, k) => (rate > 0 ? k : found), 0);
  return Float64Array.from(rates.slice(0, Math.min(last + 1, Math.max(nodes - 1, 1))));
}

export class DpTable {
  /**
   * Empty; `grow` fills it. levels: the most to be computed, null for as many as change anything. With `flat` there is one layer
   * only, that of any number of levels, which rests on itself; it answers for `levels` = nodes. Throws RangeError.
   */
  constructor(rates, nodes, levels = null, flat = false) {
    const bound = (value, name) => {
      if (Number.isInteger(value) && value >= 1 && value <= planner.MAX_NODES) return value;
      throw new RangeError(
        `${name} = ${value}; it must be a whole number from 1 to ${planner.MAX_NODES}`,
      );
    };
    this.rates = useful(planner.checked(rates), bound(nodes, "nodes"));
    this.nodes = nodes;
    this.cap = Math.min(bound(levels ?? nodes, "levels"), nodes);
    this.branches = this.rates.length;
    this.flat = flat;
    this.layers = []; // per level {cells: (branch, n), best: (n), root: (n) the fewest children that attain it}
    this.settled = false; // one level more would change nothing
    this.full = false; // the bound on cells was met first
    this.done = false;
  }

  /** Levels computed so far. */
  get levels() {
    return this.layers.length;
  }

  /** All levels, a slice of work at a time: yields between slices. */
  *grow() {
    const size = (this.branches + 1) * (this.nodes + 1);
    while (!this.done) {
      const below = this.layers[this.levels - 1] || null;
      this.layers.push(yield* this.level(below));
      this.settled =
        below !== null &&
        below.best.every((value, n) => value === this.layers[this.levels - 1].best[n]);
      this.full = (this.levels + 1) * size > MOST_CELLS;
      this.done = this.flat || this.settled || this.full || this.levels >= this.cap;
    }
    return this;
  }

  *level(below) {
    const { nodes, branches } = this;
    const width = nodes + 1;
    const cells = new Float64Array((branches + 1) * width).fill(-Infinity);
    const best = new Float64Array(width).fill(-Infinity);
    const root = new Uint16Array(width);
    cells[1] = best[1] = 1;
    const gains = Array.from(this.rates, (rate) =>
      scaled(rate, below ? below.best : this.flat ? best : best.slice().fill(-Infinity)),
    );
    let work = 0;
    for (let n = 2; n <= nodes; n++) {
      for (let b = 1; b <= Math.min(branches, n - 1); b++)
        cells[b * width + n] = most(cells, (b - 1) * width + n, gains[b - 1], n - b);
      [best[n], root[n]] = this.top(cells, n);
      if (this.flat)
        gains.forEach((gain, k) => {
          gain[n] = best[n] === -Infinity ? -Infinity : this.rates[k] * best[n];
        });
      if ((work += n * branches) > SLICE) {
        work = 0;
        yield this.levels;
      }
    }
    return { cells, best, root };
  }

  /** best(n) and its b. On two levels only children beyond the vector make room for more nodes than it has rates. */
  top(cells, n) {
    const width = this.nodes + 1;
    let found = -Infinity;
    let b = n - 1;
    for (let k = 0; k <= this.branches; k++)
      if (cells[k * width + n] > found) [found, b] = [cells[k * width + n], k];
    if (found > -Infinity) return [found, b];
    for (let k = 0; k < n; k++) found = Math.max(found, cells[this.branches * width + k]);
    return [found, b];
  }

  /** Filled at once: {value(n, levels, b), best, split, trace} for tables small enough to wait for. */
  static whole(rates, nodes, levels = null) {
    const table = new DpTable(rates, nodes, levels, levels === null);
    for (const _ of table.grow()); // eslint-disable-line no-unused-vars
    return table;
  }

  layer(levels) {
    return this.layers[Math.min(levels, this.levels) - 1];
  }

  /** T[n, levels, b]. */
  value(n, levels, b) {
    const extra = Math.max(0, b - this.branches); // children without a rate are single leaves and add nothing
    return n - extra < 1
      ? -Infinity
      : this.layer(levels).cells[(b - extra) * (this.nodes + 1) + n - extra];
  }

  /** {value, branches} of best(n, levels). */
  best(n, levels) {
    const layer = this.layer(levels);
    return { value: layer.best[n], branches: layer.root[n] };
  }

  /** What one cell rests on, the smallest last subtree among equals: {m, branches, rest, rate, below}; null without a choice. */
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

  /** The value of every choice of m, from 1: what the maximum was taken over. */
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
   * The traceback of a cell: {parents, steps}, parents in breadth-first order. Each step gives one node its last child:
   * {cell: {n, levels, b}, split, parent, node}. A queue and not recursion, as a chain may have 1,024 levels.
   */
  trace(n, levels, b) {
    if (this.value(n, levels, b) === -Infinity) return null;
    const parents = [-1];
    const steps = [];
    const queue = [{ n, levels, b }];
    for (let parent = 0; parent < queue.length; parent++) {
      const { levels, b } = queue[parent];
      const first = parents.length;
      const below = [];
      let { n } = queue[parent];
      for (let k = b; k > 0; k--) {
        const split = this.split(n, levels, k);
        steps.push({ cell: { n, levels, b: k }, split, parent, node: first + k - 1 });
        below.unshift({ n: split.m, levels: levels - 1, b: split.branches });
        n -= split.m;
      }
      for (const cell of below) {
        parents.push(parent);
        queue.push(cell);
      }
    }
    return { parents, steps };
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

/** Grow a table without holding the page up: `slice` ms of work, then a pause. `onLevel` after each pause; answers a stop. */
export function workThroughTable(table, { slice = 10, onProgress, onDone }) {
  const work = table.grow();
  let timer = 0;
  (function turn() {
    const until = performance.now() + slice;
    let state;
    do state = work.next();
    while (!state.done && performance.now() < until);
    if (state.done) return onDone(table);
    timer = setTimeout(turn, 0);
    onProgress?.(table);
  })();
  return () => clearTimeout(timer);
}
