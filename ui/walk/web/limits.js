/* The limits of node-by-node verification on a toy: the best that a verifier can do if it is
   lossless at every single node. Pure. */
import { nodeLimit, tokensLimit } from "./rules/limit.js";
import { scaled } from "./rules/residuals.js";
import { verifierNamed } from "./rules/verifiers.js";
import { treeOf } from "./toy.js";

/** @import { Toy } from "./toy.js" */

const ROUNDING = 1e-9;

/**
 * none: the least possible probability that no child of the root is accepted. tokens: the largest
 * possible mean number of tokens per step.
 * @typedef {{none: number, tokens: number}} Limits
 */

/**
 * The limits for verifiers that draw children in the same way as the toy's verifier.
 * @param {Toy} toy
 * @returns {Limits}
 */
export function limitsOf(toy) {
  const { drawn } = verifierNamed(toy.verifier);
  const topo = treeOf(toy);
  const [p, q] = [scaled(toy.p), scaled(toy.q)];
  return {
    none: 1 - nodeLimit(p, q, topo.children[0].length, drawn),
    tokens: tokensLimit(p, q, topo, drawn),
  };
}

/**
 * Whether a verifier exceeds the limit on tokens. Only a verifier that tests whole paths can do so.
 * @param {number} tokens its mean number of tokens per step
 * @param {Limits} limits
 * @returns {boolean}
 */
export const passes = (tokens, limits) => tokens > limits.tokens + ROUNDING;
