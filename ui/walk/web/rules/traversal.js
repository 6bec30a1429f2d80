/* Traversal verification, from the leaves to the root. The same rule is in
   sequoia/algorithm/verifiers/traversal.py; tests compare the results. */
import { draftAt, scaled, sum, without } from "./residuals.js";

/**
 * @import { Chance } from "./chance.js"
 * @import { Drafted } from "./drafted.js"
 * @import { Tried, Verdict } from "./top_down.js"
 */

/** A node on the current path, and the residual p and q after the children rejected so far. */
class Place {
  /** @type {number[]} */
  tried = [];

  /**
   * @param {number} node
   * @param {number} stands probability of keeping the path down to the node
   * @param {number[]} target residual p
   * @param {number[]} draft residual q
   * @param {number[]} children to be tried
   */
  constructor(node, stands, target, draft, children) {
    this.node = node;
    this.stands = stands;
    this.entered = stands; // `stands` before any child was rejected
    this.target = target;
    this.draft = draft;
    this.waiting = [...children];
  }

  // The probability of keeping the path if it continues with `token`.
  chanceOf(token) {
    this.draft = draftAt(this.draft, this.tried);
    const weight = this.stands * this.target[token];
    return weight < this.draft[token] ? weight / this.draft[token] : 1;
  }

  // Update the residual p and q after a child was rejected. Returns the remaining mass of p.
  reject(token) {
    const rest = this.target.map((one, i) => Math.max(this.stands * one - this.draft[i], 0));
    const mass = sum(rest);
    if (mass > 0) {
      this.target = rest.map((one) => one / mass);
      this.stands = mass / (mass + (1 - this.stands)); // the divisor is never 0
    } else if (this.stands < 1) this.stands = 0;
    this.draft = without(this.draft, token);
    this.tried.push(token);
    return mass;
  }
}

/**
 * Verify a tree from the leaves up.
 * @param {Drafted} drafted
 * @param {{p: number[], q: number[]}} models p and q, which do not depend on the text so far
 * @param {Chance} chance
 * @returns {Verdict}
 */
export function traverse(drafted, { p, q }, chance) {
  const draft = scaled(q);
  const enter = (node, stands) =>
    new Place(node, stands, p, draft, stands > 0 ? drafted.childrenOf(node) : []);
  /** @type {Tried[]} */
  const trials = [];
  const places = [enter(0, 1)];
  for (;;) {
    const place = places.at(-1);
    const child = place.waiting.shift();
    if (child !== undefined) {
      places.push(enter(child, place.chanceOf(drafted.tokens[child])));
      continue;
    }
    if (places.length === 1 || isTaken(places, drafted, chance, trials)) break;
  }
  const { target } = places.at(-1);
  return { path: places.map(({ node }) => node), bonus: chance.pick(target), trials, left: target };
}

// Test the path down to the last place, which is removed if the path is rejected. Returns whether
// the path was accepted.
function isTaken(places, drafted, chance, trials) {
  const { node, stands, entered, target } = places.at(-1);
  const token = drafted.tokens[node];
  const { accepted, u } = chance.accept(1, stands);
  const trial = {
    node,
    token,
    p: stands,
    q: 1,
    u,
    accepted,
    entered,
    residual: target,
    draft: null,
  };
  if (!accepted) places.pop();
  trials.push({ ...trial, mass: accepted ? null : places.at(-1).reject(token) });
  return accepted;
}
