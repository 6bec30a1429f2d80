/* The planner's mathematics in the browser: the same answers as best_tree.py and plan_for_machine.py. Pure: numbers in, numbers out.

   `rates[k]` is the chance, at an accepted node, that child k is the one accepted. A tree is its `parents`, parents before children
   and parents[0] = -1. `n` and `levels` count the root; levels null means any. A profile is a HardwareProfile's JSON object. */

export const MAX_NODES = 1024;
const MAX_RATES = 1024;
const USUAL_NODES = 128;
const USUAL_LEVELS = 16;
const WIDE_LEVELS = 24; // as in plan_for_machine.py
const lines = new WeakMap(); // of a profile's lists of points

// -- the vector --------------------------------------------------------------------------------------------------------

/** `values` as rates, or a RangeError with the value and the bound. */
export function checked(values) {
  if (!Array.isArray(values)) throw new RangeError("acceptance rates must be a list of numbers");
  if (!values.length || values.length > MAX_RATES)
    throw new RangeError(`a vector of ${values.length} rates; allowed are 1 to ${MAX_RATES}`);
  values.forEach((value, k) => {
    if (typeof value === "number" && value >= 0 && value <= 1) return;
    throw new RangeError(
      `rates[${k}] = ${String(value).slice(0, 40)}; it must be a number from 0 to 1`,
    );
  });
  const total = sum(values);
  if (total > 1 + 1e-9)
    throw new RangeError(
      `the rates sum to ${Number(total.toPrecision(10))}; they exclude each other, so the sum is at most 1`,
    );
  return values.slice();
}

/** The nearest non-increasing vector in least squares: neighbours that violate the order are pooled. */
export function smooth(rates) {
  const pools = [];
  for (const value of rates) {
    let mean = value;
    let members = 1;
    while (pools.length && pools[pools.length - 1][0] < mean) {
      const [other, count] = pools.pop();
      mean = (mean * members + other * count) / (members + count);
      members += count;
    }
    pools.push([mean, members]);
  }
  return pools.flatMap(([mean, members]) =>
    new Array(members).fill(Math.min(Math.max(mean, 0), 1)),
  );
}

export const isMonotone = (rates) => rates.every((rate, k) => !k || rates[k - 1] >= rate);
export const powerLaw = (exponent, first, length) =>
  Array.from({ length }, (_, k) => first * (k + 1) ** -exponent);

/** A sum that keeps what is lost in rounding (Neumaier). */
export function sum(values) {
  let total = 0;
  let lost = 0;
  for (const value of values) {
    const next = total + value;
    lost += Math.abs(total) >= Math.abs(value) ? total - next + value : value - next + total;
    total = next;
  }
  return total + lost;
}

// -- any tree ------------------------------------------------------------------------------------------------------------

/** f(v) of each node: the product of the rates on its way down. */
export function scores(parents, rates) {
  const result = [1];
  const drawn = new Array(parents.length).fill(0);
  for (let node = 1; node < parents.length; node++) {
    const rank = drawn[parents[node]]++;
    result.push(rank < rates.length ? result[parents[node]] * rates[rank] : 0);
  }
  return result;
}

/** Expected tokens of one step, the target's own token included. */
export const expectedTokens = (parents, rates) => sum(scores(parents, rates));

export function depthsOf(parents) {
  const depths = [0];
  for (let node = 1; node < parents.length; node++) depths.push(depths[parents[node]] + 1);
  return depths;
}

/** Nodes with children, by level: the rows of each draft pass. */
export function widths(parents) {
  const depths = depthsOf(parents);
  const inner = new Set(parents.slice(1));
  const result = [];
  for (const node of inner) result[depths[node]] = (result[depths[node]] || 0) + 1;
  return result;
}

/** The same tree numbered breadth first, siblings in their order: the form in which trees are stored. */
export function canonical(parents) {
  const children = parents.map(() => []);
  const order = [0];
  const place = [0];
  for (let node = 1; node < parents.length; node++) children[parents[node]].push(node);
  for (const node of order)
    for (const child of children[node]) place[child] = order.push(child) - 1;
  return order.map((node) => (node ? place[parents[node]] : -1));
}

// -- the heap --------------------------------------------------------------------------------------------------------------

/**
 * The best trees of all sizes up to `n`, one inside the other, for a vector that never increases: node i is the i-th best of the
 * infinite tree. {parents, gains, depths, totals}. Among equals the shallow come first.
 */
export function bestFirst(rates, n, levels) {
  if (!isMonotone(rates))
    throw new RangeError(
      "best-first growth needs rates that never increase; smooth the vector or use the table (dp_table.js)",
    );
  const cap = levels ?? n;
  if (cap === 1 && n > 1)
    throw new RangeError(`${n} nodes do not fit in 1 level; it holds the root alone`);
  const heap = new Heap();
  const parents = [];
  const gains = [];
  const depths = [];
  const totals = [];
  const ranks = [];
  heap.push([1, 0, 0, -1, 0]); // score, depth, age, parent, rank
  for (let node = 0; node < n; node++) {
    const [score, depth, , parent, rank] = heap.pop();
    (parents.push(parent), gains.push(score), depths.push(depth), ranks.push(rank));
    totals.push((totals[node - 1] || 0) + score);
    if (depth + 1 < cap) heap.push([score * rates[0], depth + 1, 2 * node, node, 0]);
    if (node > 0)
      heap.push([gains[parent] * (rates[rank + 1] ?? 0), depth, 2 * node + 1, parent, rank + 1]);
  }
  return { parents, gains, depths, ranks, totals };
}

class Heap {
  constructor() {
    this.items = [];
  }
  push(item) {
    const { items } = this;
    let i = items.push(item) - 1;
    for (let up = (i - 1) >> 1; i > 0 && before(item, items[up]); i = up, up = (i - 1) >> 1)
      items[i] = items[up];
    items[i] = item;
  }
  pop() {
    const { items } = this;
    const top = items[0];
    const item = items.pop();
    if (!items.length) return top;
    let i = 0;
    for (;;) {
      let child = 2 * i + 1;
      if (child + 1 < items.length && before(items[child + 1], items[child])) child++;
      if (child >= items.length || !before(items[child], item)) break;
      items[i] = items[child];
      i = child;
    }
    items[i] = item;
    return top;
  }
}

const before = (a, b) => (a[0] !== b[0] ? a[0] > b[0] : a[1] !== b[1] ? a[1] < b[1] : a[2] < b[2]);

// -- time ------------------------------------------------------------------------------------------------------------------

/** Seconds at `size` from points (size, seconds, spread): flat before the first, straight between, on along the last two after. */
export function secondsAt(points, size) {
  let line = lines.get(points);
  if (!line) lines.set(points, (line = rising(points)));
  const last = line.length - 1;
  if (last === 0 || size <= line[0][0]) return line[0][1];
  let i = 1;
  while (i < last && line[i][0] < size) i++;
  const [x0, y0] = line[i - 1];
  const [x1, y1] = line[i];
  if (size > x1) return y1 + ((y1 - y0) / (x1 - x0)) * (size - x1);
  return y0 + ((y1 - y0) / (x1 - x0)) * (size - x0);
}

/** A larger pass cannot be faster, so a dip is noise and is pooled with what came before. */
function rising(points) {
  const pools = [];
  for (const [, seconds] of points) {
    let mean = seconds;
    let members = 1;
    while (pools.length && pools[pools.length - 1][0] > mean) {
      const [other, count] = pools.pop();
      mean = (mean * members + other * count) / (members + count);
      members += count;
    }
    pools.push([mean, members]);
  }
  const pooled = pools.flatMap(([mean, members]) => new Array(members).fill(mean));
  return points.map(([size], i) => [size, pooled[i]]);
}

const passSeconds = (profile, n) =>
  secondsAt(profile.target_seconds, n) + secondsAt(profile.overhead_seconds, n);
export const plainSeconds = (profile) => passSeconds(profile, 1);

/** What a level costs whose `width` nodes are drafted from: the draft's pass, and the overhead of one level more. */
const levelSeconds = (profile, width) =>
  secondsAt(profile.draft_seconds, width) + profile.level_overhead;

/** One step with the tree: a target pass, a draft pass for each level but the leaves', and the engine's overhead. */
export const stepSeconds = (parents, profile) =>
  widths(parents).reduce(
    (total, width) => total + levelSeconds(profile, width),
    passSeconds(profile, parents.length),
  );

/** Seconds of a step with the first 1, 2, ... nodes of a growth: the marginal cost of each node is a difference of these. */
export function growthSeconds(growth, profile) {
  const wide = [];
  const seen = new Set();
  let drafting = 0;
  return growth.parents.map((parent, node) => {
    if (node > 0 && !seen.has(parent)) {
      seen.add(parent);
      const depth = growth.depths[parent];
      const width = (wide[depth] = (wide[depth] || 0) + 1);
      drafting += levelSeconds(profile, width) - (width > 1 ? levelSeconds(profile, width - 1) : 0);
    }
    return passSeconds(profile, node + 1) + drafting;
  });
}

/** What is predicted of a tree: tokens and seconds of one step, and speed-up over plain decoding. */
export function predict(parents, rates, profile) {
  const tokens = expectedTokens(parents, rates);
  const seconds = stepSeconds(parents, profile);
  return { parents, tokens, seconds, speedup: (tokens * plainSeconds(profile)) / seconds };
}

/** Nodes of a planned tree at most: as many as were timed, where that is more than usual. */
export const nodesFor = (profile) =>
  Math.min(
    Math.max(USUAL_NODES, profile.target_seconds[profile.target_seconds.length - 1][0]),
    MAX_NODES,
  );

/** Levels at most of a planned tree of up to `nodes` nodes. */
export const levelsFor = (nodes) => (nodes <= USUAL_NODES ? USUAL_LEVELS : WIDE_LEVELS);

/**
 * The fastest of the best trees of all sizes and level caps; never below plain decoding. With `slack`, of all that come within that
 * share of it, the one with the most expected tokens. Smooths the vector first.
 */
export function bestPlan(
  rates,
  profile,
  maxNodes = nodesFor(profile),
  maxLevels = levelsFor(maxNodes),
  slack = 0,
) {
  const even = smooth(rates);
  const found = growths(even, profile, maxNodes, maxLevels);
  let fastest = 1 + 1e-12;
  let parents = [-1];
  for (const { growth, speedups } of found) {
    const n = speedups.indexOf(Math.max(...speedups));
    if (speedups[n] > fastest)
      [fastest, parents] = [speedups[n] * (1 + 1e-12), growth.parents.slice(0, n + 1)];
  }
  if (slack && parents.length > 1) parents = roomiest(found, Math.max(fastest * (1 - slack), 1));
  return predict(canonical(parents), even, profile);
}

function growths(even, profile, maxNodes, maxLevels) {
  const found = [];
  const plain = plainSeconds(profile);
  for (let levels = 2; levels <= maxLevels; levels++) {
    const growth = bestFirst(even, maxNodes, levels);
    const times = growthSeconds(growth, profile);
    found.push({
      growth,
      speedups: times.map((seconds, i) => (plain * growth.totals[i]) / seconds),
    });
    if (Math.max(...growth.depths) + 1 < levels) break; // the cap no longer binds, so higher ones give the same trees
  }
  return found;
}

function roomiest(found, least) {
  let most = -1;
  let parents = [-1];
  for (const { growth, speedups } of found) {
    speedups.forEach((speedup, n) => {
      if (speedup >= least && growth.totals[n] > most)
        [most, parents] = [growth.totals[n], growth.parents.slice(0, n + 1)];
    });
  }
  return parents;
}
