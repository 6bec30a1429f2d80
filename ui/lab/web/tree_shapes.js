/* Named shapes of exactly n nodes, and what each can reach at most. Pure.

   A shape whose own sizes do not include n is filled by a stated rule, so that every comparison has the same number of nodes. */
import * as planner from "./planner.js";
import { PUBLISHED_TREES } from "./published_trees.js";

export const chain = (n) => Array.from({ length: n }, (_, node) => node - 1);
/** k sequences that grow in turns, so their lengths differ by one at most. */
export const sequences = (n, k) =>
  Array.from({ length: n }, (_, node) => (node === 0 ? -1 : Math.max(node - k, 0)));
/** The complete k-ary tree in breadth-first order, cut after n nodes. */
export const kary = (n, k) =>
  Array.from({ length: n }, (_, node) => (node === 0 ? -1 : Math.floor((node - 1) / k)));

/** SpecInfer's form, breadth first, cut after n nodes; when the list ends, every branch goes on as a chain. */
export function branching(n, list) {
  const parents = [-1];
  for (let depth = 0, level = [0]; parents.length < n; depth++) {
    const next = [];
    for (const node of level)
      for (let k = 0; k < (list[depth] ?? 1) && parents.length < n; k++)
        next.push(parents.push(node) - 1);
    level = next;
  }
  return parents;
}

/** The first n nodes of `given`, a list in which parents come first; beyond its end the leaves go on as chains, in turns. */
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
  rule: "cut, or carried on as chains",
  make: (n) => filled(n, PUBLISHED_TREES[name].parents),
});

const TRIED = [1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 24, 32, 48, 64];

/** The k from 1 to 64 with the most expected tokens at this size. */
export function bestK(make, n, rates, least) {
  let best = least;
  let most = -1;
  for (const k of TRIED) {
    if (k < least || k > Math.max(n - 1, least)) continue;
    const tokens = planner.expectedTokens(make(n, k), rates);
    if (tokens > most + 1e-12) [best, most] = [k, tokens];
  }
  return best;
}

const first = (rates, k) => planner.sum(rates.slice(0, k));
const under = (share) => (share < 1 - 1e-12 ? 1 / (1 - share) : Infinity);

export const SHAPES = {
  chain: {
    label: () => "Chain",
    rule: "one line",
    make: (n) => chain(n),
    ceiling: (a) => under(a[0]),
  },
  sequences: {
    label: (k) => (k === 1 ? "1 sequence" : k + " sequences"),
    rule: "lengths differ by one at most",
    make: sequences,
    least: 2,
    ceiling: (a, k) => (a[0] < 1 ? 1 + first(a, k) / (1 - a[0]) : Infinity),
  },
  kary: {
    label: (k) => k + "-ary",
    rule: "complete, its last level cut",
    make: kary,
    least: 2,
    ceiling: (a, k) => under(first(a, k)),
  },
  medusa: published("medusa"),
  eagle: published("eagle"),
  branching: {
    label: (list) => "SpecInfer ⟨" + list.join(",") + "⟩",
    rule: "cut, or carried on as chains",
    make: branching,
    // After the list every branch is a chain: what the last level is worth goes on by 1 / (1 - a1).
    ceiling: (a, list) => {
      let total = 0;
      let reach = 1;
      for (const k of list) ((total += reach), (reach *= first(a, k)));
      return a[0] < 1 ? total + reach / (1 - a[0]) : Infinity;
    },
  },
};

/** The number or list of a shape: the chosen one, or the best for this size. */
export function setting(name, n, state) {
  if (name === "branching") return state.kinds.branching;
  return !SHAPES[name].least
    ? null
    : (state.kinds[name] ?? bestK(SHAPES[name].make, n, state.even, SHAPES[name].least));
}

export const make = (name, n, state) => SHAPES[name].make(n, setting(name, n, state));
export const label = (name, n, state) =>
  name === "best"
    ? "Sequoia"
    : name === "fitted"
      ? `Sequoia, ${state.fastest?.levels ?? "?"} levels`
      : name === "hand"
        ? "Drawn by hand"
        : SHAPES[name].label(setting(name, n, state));
/** The ceilings of chain, k sequences, k-ary and the list as n grows without end. */
export const ceiling = (name, k, rates) => SHAPES[name].ceiling(rates, k);
