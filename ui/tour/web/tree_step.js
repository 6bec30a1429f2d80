/* A step in which the target rejected the draft's first guess for a token and kept the second. Also
   what a chain, which has no second guess, would have given there. */
import { chainEnd } from "../../shared/web/step_words.js";

/** @import { StepView, Trial } from "../../shared/web/step_view.js" */

/**
 * @typedef {object} Rescue
 * @property {number[]} chain nodes of the path of first children, without the root
 * @property {number} end the rejected node of that path
 * @property {number} chainTokens how many tokens the step would have emitted with the chain
 * @property {number} tokens how many tokens the step emitted with the tree
 * @property {number} second the node that was tried next, and kept
 * @property {number} ratio p/q of `end`
 * @property {Trial[]} tries the trials of the chain; the last one is that of `end`
 * @property {Trial} trial the trial of `second`
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
  return {
    chain: firstGuesses(step),
    end: last.node,
    ratio: last.p / last.q,
    at,
    chainTokens: at + 1,
    tokens: step.step.emitted.length,
    second: next.node,
    tries: step.trials.slice(0, at + 1),
    trial: next,
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
