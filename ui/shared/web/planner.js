/* The mathematics of the planner in the browser, with the same results as best_tree.py and
   plan_for_machine.py. Pure.

   `rates[k]` is the probability that child k of an accepted node is the one that is accepted. A
   tree is given by its `parents`: each parent comes before its children, and parents[0] is -1. `n`
   and `levels` include the root. */

/**
 * The JSON object of a HardwareProfile. Its points are [size, seconds, spread].
 * @typedef {object} Profile
 * @property {string} device
 * @property {string} target
 * @property {string} draft
 * @property {string} source "measured", "recorded", "simulated" or "paper"
 * @property {[number, number, number][]} target_seconds
 * @property {[number, number, number][]} draft_seconds
 * @property {[number, number, number][]} overhead_seconds
 * @property {number} level_overhead
 * @property {number} [calibrated_nodes] size of the largest tree whose time was measured or
 *   compared with a measurement, 0 if none was; by default the largest size in target_seconds
 */

/**
 * The best trees of all sizes: the first n nodes are the best tree of n nodes. Each list has one
 * value per node. `gains`: the expected tokens that the node adds. `ranks`: its rank among its
 * siblings. `totals`: the expected tokens of the tree that ends with the node.
 * @typedef {{parents: number[], gains: number[], depths: number[], ranks: number[],
 *   totals: number[]}} Growth
 */

/**
 * A tree, and what is predicted for one step with it.
 * @typedef {{parents: number[], tokens: number, seconds: number, speedup: number}} Prediction
 */

/** Maximum number of nodes in a tree, as in tree.py. */
export const MAX_NODES = 1024;
const MAX_RATES = 1024;
// As in plan_for_machine.py.
const USUAL_NODES = 128;
const USUAL_LEVELS = 16;
const WIDE_LEVELS = 24;
const lines = new WeakMap(); // results of `rising`, by a profile's list of points

// -- the vector ------------------------------------------------------------

/**
 * Validate an acceptance vector.
 * @param {any} values
 * @returns {number[]} a copy of `values`
 * @throws {RangeError} that says what is wrong and what is allowed
 */
export function checked(values) {
  if (!Array.isArray(values)) throw new RangeError("acceptance rates must be a list of numbers");
  if (!values.length || values.length > MAX_RATES)
    throw new RangeError(`the vector has ${values.length} rates; 1 to ${MAX_RATES} are allowed`);
  values.forEach((value, k) => {
    if (typeof value === "number" && value >= 0 && value <= 1) return;
    throw new RangeError(
      `rates[${k}] = ${String(value).slice(0, 40)}; it must be a number from 0 to 1`,
    );
  });
  const total = Number(sum(values).toPrecision(10));
  if (total > 1 + 1e-9)
    throw new RangeError(
      `the rates sum to ${total}; at most one child is accepted, so the sum is at most 1`,
    );
  return values.slice();
}

// The nearest vector, in least squares, in which no neighbours are in the `wrong` order. Neighbours
// in the wrong order are replaced by their mean (pool adjacent violators).
function pooled(values, wrong) {
  const pools = [];
  for (const value of values) {
    let mean = value;
    let members = 1;
    while (pools.length && wrong(pools.at(-1)[0], mean)) {
      const [other, count] = pools.pop();
      mean = (mean * members + other * count) / (members + count);
      members += count;
    }
    pools.push([mean, members]);
  }
  return pools.flatMap(([mean, members]) => new Array(members).fill(mean));
}

/**
 * @param {number[]} rates
 * @returns {number[]} the nearest non-increasing vector in least squares
 */
export const smooth = (rates) =>
  pooled(rates, (mean, value) => mean < value).map((mean) => Math.min(Math.max(mean, 0), 1));

/**
 * @param {number[]} rates
 * @returns {boolean} whether they never increase
 */
export const isMonotone = (rates) => rates.every((rate, k) => !k || rates[k - 1] >= rate);

/**
 * A sum with compensation for rounding errors (Neumaier).
 * @param {number[]} values
 * @returns {number}
 */
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

// -- any tree ------------------------------------------------------------

/**
 * @param {number[]} parents
 * @param {number[]} rates
 * @returns {number[]} the score f(v) of each node v: the product of the rates on the path to v,
 *   which is the probability that v is accepted
 */
export function scores(parents, rates) {
  const result = [1];
  const childrenSoFar = new Array(parents.length).fill(0);
  for (let node = 1; node < parents.length; node++) {
    const rank = childrenSoFar[parents[node]]++;
    result.push(rank < rates.length ? result[parents[node]] * rates[rank] : 0);
  }
  return result;
}

/**
 * Expected tokens of one step, including the token from the target.
 * @param {number[]} parents
 * @param {number[]} rates
 * @returns {number}
 */
export const expectedTokens = (parents, rates) => sum(scores(parents, rates));

/**
 * @param {number[]} parents
 * @returns {number[]} depth of each node; that of the root is 0
 */
export function depthsOf(parents) {
  const depths = [0];
  for (let node = 1; node < parents.length; node++) depths.push(depths[parents[node]] + 1);
  return depths;
}

/**
 * @param {number[]} parents
 * @returns {number[]} for each level except the last, the number of nodes that have children.
 *   These are the nodes that the draft pass for the next level processes
 */
export function widths(parents) {
  const depths = depthsOf(parents);
  const inner = new Set(parents.slice(1));
  const result = [];
  for (const node of inner) result[depths[node]] = (result[depths[node]] || 0) + 1;
  return result;
}

/**
 * @param {number[]} parents
 * @returns {number[]} parents of the same tree in breadth-first order, as trees are stored
 */
export function canonical(parents) {
  const children = parents.map(() => []);
  const order = [0];
  const place = [0];
  for (let node = 1; node < parents.length; node++) children[parents[node]].push(node);
  for (const node of order)
    for (const child of children[node]) place[child] = order.push(child) - 1;
  return order.map((node) => (node ? place[parents[node]] : -1));
}

/**
 * @param {number[]} one parents of a tree. The order of the nodes does not matter, except among
 *   siblings
 * @param {number[]} other
 * @returns {boolean} whether both are the same tree
 */
export function isSameTree(one, other) {
  if (one.length !== other.length) return false;
  const parents = canonical(other);
  return canonical(one).every((parent, node) => parent === parents[node]);
}

// -- the heap ------------------------------------------------------------

/**
 * The best trees of all sizes up to `n`, grown by always adding the node with the highest score.
 * Among nodes with the same score, a shallower one comes first.
 * @param {number[]} rates which must never increase
 * @param {number} n
 * @param {number | null} levels maximum number of levels; null: no limit
 * @returns {Growth}
 * @throws {RangeError} if the rates increase somewhere, or if `levels` is 1 and `n` is above 1
 */
export function bestFirst(rates, n, levels) {
  if (!isMonotone(rates))
    throw new RangeError(
      "best-first growth needs rates that never increase; smooth the vector or use the DP table",
    );
  const cap = levels ?? n;
  if (cap === 1 && n > 1)
    throw new RangeError(`${n} nodes do not fit in 1 level, which contains only the root`);
  const heap = new Heap();
  const parents = [];
  const gains = [];
  const depths = [];
  const totals = [];
  const ranks = [];
  heap.push([1, 0, 0, -1, 0]); // score, depth, age, parent, rank
  for (let node = 0; node < n; node++) {
    const [score, depth, , parent, rank] = heap.pop();
    parents.push(parent);
    gains.push(score);
    depths.push(depth);
    ranks.push(rank);
    totals.push((totals[node - 1] || 0) + score);
    if (depth + 1 < cap) heap.push([score * rates[0], depth + 1, 2 * node, node, 0]);
    if (node > 0)
      heap.push([gains[parent] * (rates[rank + 1] ?? 0), depth, 2 * node + 1, parent, rank + 1]);
  }
  return { parents, gains, depths, ranks, totals };
}

class Heap {
  items = [];

  push(item) {
    const { items } = this;
    let i = items.push(item) - 1;
    while (i > 0 && before(item, items[(i - 1) >> 1])) {
      items[i] = items[(i - 1) >> 1];
      i = (i - 1) >> 1;
    }
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

// Whether entry a leaves the heap before b. The entry with the higher score leaves first; if the
// scores are equal, the shallower one; if the depths are equal too, the older one.
const before = (a, b) => b[0] - a[0] < 0 || (a[0] === b[0] && (a[1] - b[1] || a[2] - b[2]) < 0);

// -- time ------------------------------------------------------------

/**
 * Seconds for a pass over `size` nodes, from points whose dips are smoothed. The seconds are
 * constant before the first point and linear between points. The line through the last two points
 * continues beyond the last. A single point holds for all sizes.
 * @param {[number, number, number][]} points
 * @param {number} size
 * @returns {number}
 */
export function secondsAt(points, size) {
  if (!lines.has(points)) lines.set(points, rising(points));
  const line = lines.get(points);
  const last = line.length - 1;
  if (last === 0 || size <= line[0][0]) return line[0][1];
  let i = 1;
  while (i < last && line[i][0] < size) i++;
  const [x0, y0] = line[i - 1];
  const [x1, y1] = line[i];
  const slope = (y1 - y0) / (x1 - x0);
  return size > x1 ? y1 + slope * (size - x1) : y0 + slope * (size - x0);
}

// Points whose seconds never decrease. A larger pass cannot be faster, so a dip is noise. It is
// pooled with the points before it.
function rising(points) {
  const seconds = pooled(
    points.map((point) => point[1]),
    (mean, value) => mean > value,
  );
  return points.map(([size], i) => [size, seconds[i]]);
}

const passSeconds = (profile, n) =>
  secondsAt(profile.target_seconds, n) + secondsAt(profile.overhead_seconds, n);

/**
 * @param {Profile} profile
 * @returns {number} seconds per token in plain decoding
 */
export const plainSeconds = (profile) => passSeconds(profile, 1);

// Seconds for drafting the children of `width` nodes of a level.
const levelSeconds = (profile, width) =>
  secondsAt(profile.draft_seconds, width) + profile.level_overhead;

/**
 * Seconds of one step: a target pass, a draft pass for each level except the last, and overhead.
 * @param {number[]} parents
 * @param {Profile} profile
 * @returns {number}
 */
export const stepSeconds = (parents, profile) =>
  widths(parents).reduce(
    (total, width) => total + levelSeconds(profile, width),
    passSeconds(profile, parents.length),
  );

/**
 * Seconds of a step with the first 1, 2, ... nodes of a growth.
 * @param {Growth} growth
 * @param {Profile} profile
 * @returns {number[]}
 */
export function growthSeconds(growth, profile) {
  const wide = [];
  const seen = new Set();
  let drafting = 0;
  return growth.parents.map((parent, node) => {
    if (node > 0 && !seen.has(parent)) {
      seen.add(parent);
      const depth = growth.depths[parent];
      const width = (wide[depth] || 0) + 1;
      wide[depth] = width;
      drafting += levelSeconds(profile, width) - (width > 1 ? levelSeconds(profile, width - 1) : 0);
    }
    return passSeconds(profile, node + 1) + drafting;
  });
}

/**
 * Predict the tokens and seconds of one step, and the speed-up over plain decoding.
 * @param {number[]} parents
 * @param {number[]} rates
 * @param {Profile} profile
 * @returns {Prediction}
 */
export function predict(parents, rates, profile) {
  const tokens = expectedTokens(parents, rates);
  const seconds = stepSeconds(parents, profile);
  return { parents, tokens, seconds, speedup: (tokens * plainSeconds(profile)) / seconds };
}

/**
 * @param {Profile} profile
 * @returns {number} maximum number of nodes in a planned tree: USUAL_NODES, or more if larger
 *   passes were timed
 */
export const nodesFor = (profile) =>
  Math.min(Math.max(USUAL_NODES, profile.target_seconds.at(-1)[0]), MAX_NODES);

/**
 * @param {number} nodes
 * @returns {number} maximum number of levels in a planned tree with up to `nodes` nodes
 */
export const levelsFor = (nodes) => (nodes <= USUAL_NODES ? USUAL_LEVELS : WIDE_LEVELS);

/** `SLACK` of sequoia/measuring/defaults.py */
export const SLACK = 0.01;

/**
 * Plan a tree as Run does. The candidates are the best trees for each size and each level
 * limit, up to the maxima. The vector is smoothed first. If no tree is predicted to be faster than
 * plain decoding, choose the root alone.
 * Among the trees within SLACK of the fastest, choose the one with the most expected tokens that is
 * not predicted to be slower than plain decoding.
 * @param {number[]} rates
 * @param {Profile} profile
 * @param {number} [maxNodes]
 * @returns {Prediction & {fastest: number}} `fastest`: the speed-up of the fastest tree
 */
export function bestPlan(rates, profile, maxNodes = nodesFor(profile)) {
  const even = smooth(rates);
  const found = growths(even, profile, maxNodes);
  const fastest = Math.max(...found.map(({ speedups }) => Math.max(...speedups)), 1);
  const isPlain = fastest <= 1 + 1e-12;
  const parents = isPlain ? [-1] : roomiest(found, Math.max(fastest * (1 - SLACK), 1));
  return { ...predict(canonical(parents), even, profile), fastest };
}

function growths(even, profile, maxNodes) {
  const found = [];
  const plain = plainSeconds(profile);
  for (let levels = 2; levels <= levelsFor(maxNodes); levels++) {
    const growth = bestFirst(even, maxNodes, levels);
    const times = growthSeconds(growth, profile);
    found.push({
      growth,
      speedups: times.map((seconds, i) => (plain * growth.totals[i]) / seconds),
    });
    if (Math.max(...growth.depths) + 1 < levels) break; // a higher limit changes nothing
  }
  return found;
}

// The tree with the most expected tokens among those with a speed-up of at least `least`.
function roomiest(found, least) {
  let most = -1;
  let parents = [-1];
  for (const { growth, speedups } of found) {
    speedups.forEach((speedup, n) => {
      if (speedup < least || growth.totals[n] <= most) return;
      most = growth.totals[n];
      parents = growth.parents.slice(0, n + 1);
    });
  }
  return parents;
}
