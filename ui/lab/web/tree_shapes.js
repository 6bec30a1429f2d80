/* Trees of named shapes with exactly n nodes, as lists of parents. If a shape has no tree of
   exactly n nodes, a smaller one is extended or a larger one cut, so that all trees in a comparison
   have the same number of nodes. */
import { count } from "../../shared/web/format.js";
import * as planner from "../../shared/web/planner.js";
import { PUBLISHED_TREES } from "./published_trees.js";

/** @typedef {import("./lab_state.js").LabState} LabState */
/**
 * The number k of a shape, the list of children per level for the shape "branching", or null for a
 * shape without a setting.
 * @typedef {number | number[] | null} Setting
 */

/**
 * @param {number} n
 * @returns {number[]}
 */
export const chain = (n) => Array.from({ length: n }, (_, node) => node - 1);

/**
 * k chains below the root that grow in turns, so their lengths differ by at most one.
 * @param {number} n
 * @param {number} k
 * @returns {number[]}
 */
export const sequences = (n, k) =>
  Array.from({ length: n }, (_, node) => (node === 0 ? -1 : Math.max(node - k, 0)));

/**
 * The complete k-ary tree in breadth-first order, cut after n nodes.
 * @param {number} n
 * @param {number} k
 * @returns {number[]}
 */
export const kary = (n, k) =>
  Array.from({ length: n }, (_, node) => (node === 0 ? -1 : Math.floor((node - 1) / k)));

/**
 * SpecInfer's shape in breadth-first order, cut after n nodes. Below the levels of the list every
 * node has one child.
 * @param {number} n
 * @param {number[]} list children per node, by level
 * @returns {number[]}
 */
export function branching(n, list) {
  const parents = [-1];
  let level = [0];
  for (let depth = 0; parents.length < n; depth++) {
    const children = level.flatMap((node) => new Array(list[depth] ?? 1).fill(node));
    const added = children.slice(0, n - parents.length);
    level = added.map((_, i) => parents.length + i);
    parents.push(...added);
  }
  return parents;
}

/**
 * The first n nodes of `given`. If it has fewer, its leaves are extended as chains, in turns.
 * @param {number} n
 * @param {number[]} given the parents of a tree; each node comes after its parent
 * @returns {number[]}
 */
export function filled(n, given) {
  const parents = given.slice(0, n);
  const inner = new Set(parents);
  const ends = parents.map((_, node) => node).filter((node) => !inner.has(node));
  for (let turn = 0; parents.length < n; turn = (turn + 1) % ends.length)
    ends[turn] = parents.push(ends[turn]) - 1;
  return parents;
}

const published = (name) => ({
  label: () => PUBLISHED_TREES[name].label,
  make: (n) => filled(n, PUBLISHED_TREES[name].parents),
});

const CANDIDATE_KS = [1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 24, 32, 48, 64];

/**
 * The k whose tree of n nodes has the highest expected number of tokens per step. Tries the values
 * of CANDIDATE_KS from `least` to n - 1. If there are none, the result is `least`.
 * @param {(n: number, k: number) => number[]} made
 * @param {number} n
 * @param {number[]} rates
 * @param {number} least
 * @returns {number}
 */
export function bestK(made, n, rates, least) {
  let best = least;
  let most = -1;
  for (const k of CANDIDATE_KS) {
    if (k < least || k > Math.max(n - 1, least)) continue;
    const tokens = planner.expectedTokens(made(n, k), rates);
    if (tokens <= most + 1e-12) continue;
    best = k;
    most = tokens;
  }
  return best;
}

const sumOfFirst = (rates, k) => planner.sum(rates.slice(0, k));
const geometricSum = (share) => (share < 1 - 1e-12 ? 1 / (1 - share) : Infinity);

/**
 * The shapes by name. `make`: the tree of n nodes. `least`: for a shape with a k, the smallest k
 * that `bestK` tries. `limit`: the expected number of tokens per step that the shape approaches as
 * n grows.
 * @type {Record<string, {label: (setting: any) => string, make: (n: number, setting: any) =>
 *   number[], least?: number, limit?: (rates: number[], setting: any) => number}>}
 */
export const SHAPES = {
  chain: { label: () => "Chain", make: chain, limit: (a) => geometricSum(a[0]) },
  sequences: {
    label: (k) => (k === 1 ? "1 sequence" : k + " sequences"),
    make: sequences,
    least: 2,
    limit: (a, k) => (a[0] < 1 ? 1 + sumOfFirst(a, k) / (1 - a[0]) : Infinity),
  },
  kary: {
    label: (k) => k + "-ary",
    make: kary,
    least: 2,
    limit: (a, k) => geometricSum(sumOfFirst(a, k)),
  },
  medusa: published("medusa"),
  eagle: published("eagle"),
  branching: {
    label: (list) => "SpecInfer ⟨" + list.join(",") + "⟩",
    make: branching,
  },
};

/**
 * The expected number of tokens per step of the tree in which every node above the last level has
 * a child of every rank. The best trees approach this number as n grows.
 * @param {number[]} rates
 * @param {number | null} levels null: no limit
 * @returns {number}
 */
export function fullTree(rates, levels) {
  const share = planner.sum(rates);
  if (levels === null) return geometricSum(share);
  return share < 1 ? (1 - share ** levels) / (1 - share) : levels;
}

/**
 * The setting of a shape in `state`. If that is null, the best k for n nodes. Null for a shape
 * without a setting.
 * @param {string} name
 * @param {number} n
 * @param {LabState} state
 * @returns {Setting}
 */
export function setting(name, n, state) {
  if (name === "branching") return state.kinds.branching;
  const { make: made, least } = SHAPES[name];
  return least ? (state.kinds[name] ?? bestK(made, n, state.even, least)) : null;
}

/**
 * The tree of n nodes of a shape.
 * @param {string} name
 * @param {number} n
 * @param {LabState} state
 * @returns {number[]}
 */
export const make = (name, n, state) => SHAPES[name].make(n, setting(name, n, state));

/**
 * The name of the best trees under a level cap.
 * @param {number} cap
 * @returns {string}
 */
export const cappedName = (cap) => `Sequoia, ≤ ${cap} levels`;

const OWN = {
  best: ({ cap }) => (cap ? cappedName(cap) : "Sequoia"),
  fitted: ({ fastest }) =>
    `Sequoia, fastest (${fastest ? count(fastest.levels, "level") : "? levels"})`,
  hand: () => "Drawn by hand",
};

/**
 * @param {string} name of a shape, or "best", "fitted", "hand"
 * @param {number} n
 * @param {LabState} state
 * @returns {string}
 */
export const label = (name, n, state) =>
  name in OWN ? OWN[name](state) : SHAPES[name].label(setting(name, n, state));

/**
 * @param {string} name of a shape with a `limit` in SHAPES
 * @param {Setting} k
 * @param {number[]} rates
 * @returns {number}
 */
export const limit = (name, k, rates) => SHAPES[name].limit(rates, k);
