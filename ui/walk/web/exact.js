/* The exact output distribution of a step of a toy (see toy.js). All outcomes of the random draws
   are visited and weighted by their probability. The work is done in parts, so that the page stays
   responsive. */
import { childrenOf, emittedBy, parentsOf, toyStep, toyTree, treeOf } from "./toy.js";
import { verifierNamed } from "./rules/verifiers.js";
import { sum } from "./rules/residuals.js";

/**
 * @import { Topology } from "../../shared/web/tree_layout.js"
 * @import { Toy } from "./toy.js"
 */

/** The maximum number of outcomes that are visited for one tree. */
export const MOST_OUTCOMES = 60_000;
const A_PART = 200; // outcomes between two pauses

/**
 * The exact figures of a step.
 * @typedef {object} Exact
 * @property {number[]} first probability of each first token
 * @property {number[]} pairs probability of each pair of first two tokens, at index
 *   first * words + second. If a step emits a single token, the second is the next step's first
 * @property {number[]} byRank for each child of the root, the probability that it is accepted
 * @property {number} tokens mean number of tokens that a step emits
 * @property {number} outcomes how many outcomes were visited
 */

/**
 * A Chance whose choices follow a script. Choices after the end of the script take the first
 * possible outcome.
 */
class Enumerator {
  weight = 1;
  /** @type {[number, number][]} for each choice so far: the index of the chosen outcome in the list
   * of possible outcomes, and the length of this list */
  taken = [];

  /** @param {number[]} script for each choice, an index in the list of possible outcomes */
  constructor(script) {
    this.script = script;
  }

  choose(weights) {
    const options = [...weights.keys()].filter((i) => weights[i] > 0);
    const number = this.script[this.taken.length] ?? 0;
    this.taken.push([number, options.length]);
    this.weight *= weights[options[number]] / sum(weights);
    return options[number];
  }

  /** @returns {number[] | null} script of the next combination of outcomes; null after the last */
  following() {
    const { taken } = this;
    while (taken.length && taken.at(-1)[0] + 1 === taken.at(-1)[1]) taken.pop();
    if (!taken.length) return null;
    const numbers = taken.map(([number]) => number);
    return [...numbers.slice(0, -1), numbers.at(-1) + 1];
  }

  accept(d, r) {
    const share = d > 0 ? Math.min(r / d, 1) : Number(r > 0);
    return { accepted: this.choose([1 - share, share]) === 1, u: null };
  }

  pick(weights) {
    return this.choose(weights);
  }
}

/**
 * Call `visit` for each outcome of a step, for at most MOST_OUTCOMES of them.
 * @param {Toy} toy
 * @param {Topology} topo tree of the step
 * @param {(path: number[], emitted: number[], weight: number) => void} visit
 * @returns {Generator<void, number>} number of outcomes; Infinity if more than MOST_OUTCOMES
 */
function* visitAll(toy, topo, visit) {
  /** @type {number[] | null} */
  let script = [];
  for (let count = 1; count <= MOST_OUTCOMES; count++) {
    const chance = new Enumerator(script);
    const { drafted, verdict } = toyStep(toy, chance, topo, true);
    visit(verdict.path, emittedBy(drafted, verdict), chance.weight);
    script = chance.following();
    if (!script) return count;
    if (count % A_PART === 0) yield;
  }
  return Infinity;
}

/**
 * The exact output of a step. The generator yields between parts of the work.
 * @param {Toy} toy
 * @returns {Generator<void, Exact | null>} null if there are too many outcomes
 */
export function* exactly(toy) {
  const children = childrenOf(toy);
  const isWhole = verifierNamed(toy.verifier).fromLeaves || parentsOf(toy.shape) || !children[1];
  return yield* isWhole ? wholeStep(toy) : levelByLevel(toy, children);
}

/** @type {(toy: Toy) => Generator<void, Exact | null>} */
function* wholeStep(toy) {
  const { alone, pairs, ...made } = yield* outcomesOf(toy, treeOf(toy));
  if (made.outcomes === Infinity) return null;
  return { ...made, pairs: added(pairs, outer(alone, made.first)) };
}

// Verification from the root down decides each level without looking at the levels below it. So
// each level can be computed on its own.
/** @type {(toy: Toy, children: number[]) => Generator<void, Exact | null>} */
function* levelByLevel(toy, [first, second]) {
  const above = yield* outcomesOf(toy, toyTree([first, 0]));
  const below = yield* outcomesOf(toy, toyTree([second, 0]));
  const outcomes = above.outcomes + below.outcomes;
  if (outcomes === Infinity) return null;
  const chosen = above.first.map((share, i) => share - above.alone[i]);
  return {
    first: above.first,
    pairs: added(outer(chosen, below.first), outer(above.alone, above.first)),
    byRank: above.byRank,
    tokens: 1 + sum(chosen) * below.tokens,
    outcomes,
  };
}

// The figures of one step. `alone`: for each word, the probability that the step emits only this
// word. `pairs` has only pairs that the step emits itself.
function* outcomesOf(toy, topo) {
  const size = toy.p.length;
  const made = {
    first: zeros(size),
    alone: zeros(size),
    pairs: zeros(size * size),
    byRank: zeros(topo.children[0].length),
    tokens: 0,
  };
  const outcomes = yield* visitAll(toy, topo, (path, emitted, weight) => {
    const [one, other] = [emitted[0], emitted[1]];
    made.tokens += weight * emitted.length;
    made.first[one] += weight;
    if (path.length > 1) made.byRank[path[1] - 1] += weight;
    if (other === undefined) made.alone[one] += weight;
    else made.pairs[one * size + other] += weight;
  });
  return { ...made, outcomes };
}

const zeros = (size) => new Array(size).fill(0);
const added = (one, other) => one.map((value, i) => value + other[i]);
const outer = (rows, columns) => rows.flatMap((row) => columns.map((column) => row * column));
