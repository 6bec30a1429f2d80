/* Traversal verification: from the leaves to the root. As in
   sequoia/algorithm/verifiers/traversal.py; tests compare the two. */
import { draftAt, scaled, sum, without } from "./residuals.js";

/**
 * @import { Chance } from "./chance.js"
 * @import { Drafted } from "./drafted.js"
 * @import { Tried, Verdict } from "./top_down.js"
 */

/** A node on the current path, and what is left of p and q there. */
class Place {
  /** @type {number[]} */
  tried = [];

  /**
   * @param {number} node
   * @param {number} stands probability that the path down to it stands
   * @param {number[]} target
   * @param {number[]} draft
   * @param {number[]} children
   */
  constructor(node, stands, target, draft, children) {
    this.node = node;
    this.stands = stands;
    this.entered = stands; // before any of its children was rejected
    this.target = target;
    this.draft = draft;
    this.waiting = [...children];
  }

  // The probability that the path stands when extended by a token.
  chanceOf(token) {
    this.draft = draftAt(this.draft, this.tried);
    const weight = this.stands * this.target[token];
    return weight < this.draft[token] ? weight / this.draft[token] : 1;
  }

  // Take a child's token out of both. Returns the mass left of the target.
  reject(token) {
    const rest = this.target.map((one, i) => Math.max(this.stands * one - this.draft[i], 0));
    const mass = sum(rest);
    if (mass > 0) {
      this.target = rest.map((one) => one / mass);
      this.stands = mass / (mass + (1 - this.stands)); // never 0 by rounding
    } else if (this.stands < 1) this.stands = 0;
    this.draft = without(this.draft, token);
    this.tried.push(token);
    return mass;
  }
}

/**
 * @param {Drafted} drafted
 * @param {{p: number[], q: number[]}} models the same distributions after every token
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

// Whether the walk ends at the last place. If not, the place is removed and its parent goes on.
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
