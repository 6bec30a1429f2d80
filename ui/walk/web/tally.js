/* Counts the words that many steps of a toy (see toy.js) emit, and measures how far the counts are
   from the target's distribution p. */
import { sum } from "./rules/residuals.js";
import { Dice } from "./rules/chance.js";
import { emittedBy, toyStep, treeOf } from "./toy.js";

/** @import { Toy } from "./toy.js" */

/** The counts of all runs so far. A run is one step of the toy. */
export class Tally {
  runs = 0;
  tokens = 0;

  /**
   * @param {Toy} toy
   * @param {() => number} random
   */
  constructor(toy, random) {
    this.toy = toy;
    this.chance = new Dice(random);
    this.topo = treeOf(toy);
    const size = toy.p.length;
    /** @type {number[]} how often each word came first */
    this.first = new Array(size).fill(0);
    /** @type {number[]} how often each pair of words came first, at index first * size + second */
    this.pairs = new Array(size * size).fill(0);
  }

  /** @param {number} count of runs to make */
  run(count) {
    for (let i = 0; i < count; i++) this.once();
  }

  // If the step emits a single word, another step provides the second word of the pair. That step
  // is not counted in `runs` and `tokens`.
  once() {
    const emitted = this.step();
    this.runs += 1;
    this.tokens += emitted.length;
    const [first, second = this.step()[0]] = emitted;
    this.first[first] += 1;
    this.pairs[first * this.first.length + second] += 1;
  }

  /** @returns {number[]} the words that one step emits */
  step() {
    const { drafted, verdict } = toyStep(this.toy, this.chance, this.topo);
    return emittedBy(drafted, verdict);
  }
}

/**
 * The total variation between `weights`, normalised to sum 1, and p: half the sum of the absolute
 * differences.
 * @param {number[]} weights counts or probabilities
 * @param {number[]} p
 * @returns {number} from 0 to 1
 */
export function totalVariation(weights, p) {
  const total = sum(weights);
  return sum(weights.map((weight, i) => Math.abs(weight / total - p[i]))) / 2;
}

/**
 * The mean total variation between p and the counts of `runs` draws from p itself. Uses the normal
 * approximation: for a word of probability x, the mean of |count - n x| in n draws is
 * sqrt(2 n x (1 - x) / pi).
 * @param {number[]} p
 * @param {number} runs
 * @returns {number}
 */
export const noiseFloor = (p, runs) =>
  sum(p.map((one) => Math.sqrt((2 * one * (1 - one)) / (Math.PI * runs)))) / 2;

/**
 * The standard deviation of the total variation in `noiseFloor`, by the same approximation. The
 * counts of the words are treated as independent.
 * @param {number[]} p
 * @param {number} runs
 * @returns {number}
 */
export const noiseSpread = (p, runs) =>
  Math.sqrt(((1 - 2 / Math.PI) * sum(p.map((one) => one * (1 - one)))) / runs) / 2;

// The probabilities of pairs of words drawn independently from p, ordered like `Tally.pairs`.
/** @type {(p: number[]) => number[]} */
export const squared = (p) => p.flatMap((one) => p.map((other) => one * other));
