/* A step in which the target rejected the draft's first guess for a token and kept the second. Also
   what a chain, which has no second guess, would have given there. */
import { chainEnd } from "../../shared/web/step_captions.js";
import { topology } from "../../shared/web/tree_layout.js";
import { viewStep } from "../../shared/web/step_view.js";
import { keepChance } from "./draws.js";

/**
 * @import { StepView } from "../../shared/web/step_view.js"
 * @import { Recorded } from "./tour_view.js"
 */

/**
 * One step of a recorded run, prepared for a picture.
 * @param {Recorded} run
 * @param {number} i index of the step
 * @returns {StepView}
 */
export function recordedStep({ meta, trees, pieces, steps }, i) {
  const step = steps[i];
  return viewStep(step, topology(trees[step.tree]), new Map(Object.entries(pieces)), meta);
}

/**
 * @typedef {object} Rescue
 * @property {number[]} chain nodes of the path of first children, without the root
 * @property {number} end the rejected node of that path
 * @property {number} chainTokens how many tokens the step would have emitted with the chain
 * @property {number} tokens how many tokens the step emitted with the tree
 * @property {number} second the node that was tried next, and kept
 * @property {number} ratio p/q of `end`
 * @property {{p: number, q: number, u: number, keep: number}} trial p, q and u of
 *   the trial of `second`; keep: the probability that `second` is kept
 * @property {number} at index of the trial in which `end` was rejected
 */

/**
 * @param {StepView} step a step in which the first rejected node is followed by a kept sibling
 * @returns {Rescue}
 */
export function rescueOf(step) {
  const at = chainEnd(step);
  const next = step.trials[at + 1];
  const last = step.trials[at];
  const { p, q, u } = next;
  return {
    chain: firstGuesses(step),
    end: last.node,
    ratio: last.p / last.q,
    at,
    chainTokens: at + 1,
    tokens: step.step.emitted.length,
    second: next.node,
    trial: { p, q, u, keep: keepChance(p, q) },
  };
}

function firstGuesses({ topo }) {
  const chain = [];
  let node = topo.children[0][0];
  while (node !== undefined) {
    chain.push(node);
    node = topo.children[node][0];
  }
  return chain;
}
