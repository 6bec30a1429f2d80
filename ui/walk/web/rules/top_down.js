/* Verification from the root down: child after child at each node. As in
   sequoia/algorithm/verifiers/walk.py and top_k_match.py; tests compare them. */
import { draftAt, residualAfter, scaled, without } from "./residuals.js";

/**
 * @import { Chance } from "./chance.js"
 * @import { Drafted } from "./drafted.js"
 */

/**
 * One token that was tried. residual and draft: the distributions at that moment.
 * @typedef {object} Tried
 * @property {number} node
 * @property {number} token
 * @property {number} p
 * @property {number} q
 * @property {number | null} u
 * @property {boolean} accepted
 * @property {number | null} mass
 * @property {number[]} residual
 * @property {number[] | null} draft
 * @property {number} [entered] verified from the leaves: the probability with which the path stood
 *   before any child of the node was rejected
 */

/**
 * The result of a step. left: the distribution from which the target's own token is drawn.
 * @typedef {{path: number[], bonus: number, trials: Tried[], left: number[]}} Verdict
 */

/**
 * What is left of p and q after the rejection of a token.
 * @typedef {{residual: number[], draft: number[], mass: number}} Left
 * @typedef {(residual: number[], draft: number[], token: number) => Left} Reject
 */

/** @type {Reject} siblings drawn without replacement: the token is taken out of q */
export const rejectOut = (residual, draft, token) => ({
  ...residualAfter(residual, draft),
  draft: without(draft, token),
});

/** @type {Reject} siblings drawn independently: q stays */
export const rejectKeeping = (residual, draft) => ({ ...residualAfter(residual, draft), draft });

/**
 * @param {Drafted} drafted
 * @param {{p: number[], q: number[]}} models the same distributions after every token
 * @param {Chance} chance
 * @param {Reject} reject
 * @returns {Verdict}
 */
export function walk(drafted, { p, q }, chance, reject) {
  const path = [0];
  /** @type {Tried[]} */
  const trials = [];
  for (;;) {
    const { child, tried, residual } = tryChildren(drafted, path.at(-1), { p, q }, chance, reject);
    trials.push(...tried);
    if (child === undefined) return { path, bonus: chance.pick(residual), trials, left: residual };
    path.push(child);
  }
}

// The children of one node, up to the accepted one; without one, what is left of p.
function tryChildren(drafted, node, { p, q }, chance, reject) {
  let left = { residual: p, draft: scaled(q), mass: 1 };
  /** @type {Tried[]} */
  const tried = [];
  for (const child of drafted.childrenOf(node)) {
    const token = drafted.tokens[child];
    const { residual } = left;
    const draft = draftAt(
      left.draft,
      tried.map((one) => one.token),
    );
    const weights = { p: residual[token], q: draft[token] };
    const { accepted, u } = chance.accept(weights.q, weights.p);
    if (!accepted) left = reject(residual, draft, token);
    const mass = accepted ? null : left.mass;
    tried.push({ node: child, token, ...weights, u, accepted, mass, residual, draft });
    if (accepted) return { child, tried, residual };
  }
  return { child: undefined, tried, residual: left.residual };
}

/**
 * The target samples its own token at every node; the child that has it is accepted.
 * @param {Drafted} drafted
 * @param {{p: number[], q: number[]}} models
 * @param {Chance} chance
 * @returns {Verdict}
 */
export function match(drafted, { p, q }, chance) {
  const path = [0];
  /** @type {Tried[]} */
  const trials = [];
  for (;;) {
    const drawn = chance.pick(p);
    const children = drafted.childrenOf(path.at(-1));
    const found = children.find((child) => drafted.tokens[child] === drawn);
    const until = found === undefined ? children.length : children.indexOf(found) + 1;
    for (const node of children.slice(0, until)) {
      const token = drafted.tokens[node];
      const weights = { p: p[token], q: q[token], u: null, residual: p, draft: q };
      trials.push({ node, token, ...weights, accepted: node === found, mass: null });
    }
    if (found === undefined) return { path, bonus: drawn, trials, left: p };
    path.push(found);
  }
}
