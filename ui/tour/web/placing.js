/* Trees that a visitor builds by placing guesses. A place is named by the ranks on the path to it,
   counted from 0: "0" is the root's first child, "01" is the second child of "0". */
import { bestFirst, expectedTokens, stepSeconds } from "../../shared/web/planner.js";

/** @import { Profile } from "../../shared/web/planner.js" */

const byDepth = (one, other) => one.length - other.length || (one < other ? -1 : 1);

/**
 * @param {string[]} placed
 * @returns {number[]} the parent of each node, in breadth-first order; -1 for the root
 */
export function parentsOf(placed) {
  const order = [...placed].sort(byDepth);
  return [-1, ...order.map((place) => order.indexOf(place.slice(0, -1)) + 1)];
}

/**
 * @param {number[]} parents
 * @returns {string[]} the places of all nodes but the root
 */
export function placesOf(parents) {
  const places = [""];
  const children = parents.map(() => 0);
  for (const parent of parents.slice(1)) places.push(places[parent] + children[parent]++);
  return places.slice(1);
}

/**
 * The places for one more guess: the next child of each node with fewer than `ranks` children.
 * @param {string[]} placed
 * @param {number} ranks
 * @returns {string[]}
 */
export function freePlaces(placed, ranks) {
  const nodes = ["", ...placed];
  return nodes
    .map((node) => {
      const taken = placed.filter((one) => one.length === node.length + 1 && one.startsWith(node));
      return taken.length < ranks ? node + taken.length : "";
    })
    .filter(Boolean);
}

/**
 * The places that stay when a guess is removed. Its later siblings are removed too, because a
 * second guess needs a first. So are the descendants of all these.
 * @param {string[]} placed
 * @param {string} place
 * @returns {string[]}
 */
export function without(placed, place) {
  const parent = place.slice(0, -1);
  const rank = place.at(-1);
  return placed.filter((one) => !one.startsWith(parent) || !(one[parent.length] >= rank));
}

/**
 * The probability that a guess is tried and kept: the product of the rates on the path to it.
 * @param {string} place
 * @param {number[]} rates
 * @returns {number}
 */
export const chanceAt = (place, rates) =>
  [...place].reduce((chance, rank) => chance * rates[Number(rank)], 1);

/**
 * Guesses kept per step on average.
 * @param {string[]} placed
 * @param {number[]} rates
 * @returns {number}
 */
export const keeps = (placed, rates) => expectedTokens(parentsOf(placed), rates) - 1;

/** @type {(nodes: number) => string[]} the places of a chain of `nodes` guesses */
export const chainPlaces = (nodes) =>
  Array.from({ length: nodes }, (_, depth) => "0".repeat(depth + 1));

/**
 * The tree that keeps the most guesses per step on average.
 * @param {number[]} rates
 * @param {number} nodes without the root
 * @returns {string[]}
 */
export const bestPlaces = (rates, nodes) => placesOf(bestFirst(rates, nodes + 1, null).parents);

/**
 * The best tree and a chain, compared at the same rates.
 * @param {{rates: number[], nodes: number, levels: number, guesses: number}} settings
 *   `nodes` and `levels`: the size and the level cap of the tree, root included; `guesses`: the
 *   length of the chain, without its root
 * @returns {{tree: number[], chain: number[], treeTokens: number, chainTokens: number,
 *   ratio: number}} ratio: treeTokens / chainTokens
 */
export function compared({ rates, nodes, levels, guesses }) {
  const tree = bestFirst(rates, nodes, levels).parents;
  const chain = parentsOf(chainPlaces(guesses));
  const treeTokens = expectedTokens(tree, rates);
  const chainTokens = expectedTokens(chain, rates);
  return { tree, chain, treeTokens, chainTokens, ratio: treeTokens / chainTokens };
}

/**
 * The time of a step with the tree, divided by that of a step with the chain.
 * @param {{tree: number[], chain: number[]}} trees
 * @param {Profile} profile
 * @returns {number}
 */
export const timesLonger = ({ tree, chain }, profile) =>
  stepSeconds(tree, profile) / stepSeconds(chain, profile);
