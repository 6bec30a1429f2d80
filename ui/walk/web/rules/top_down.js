/* Verification from the root down: at each node of the path, one child after another is tried. The
   same rules are in sequoia.py, specinfer.py and top_k_match.py of
   sequoia/algorithm/verifiers; tests compare the results. */
import { draftAt, residualAfter, scaled, without } from "./residuals.js";

/**
 * @import { Chance } from "./chance.js"
 * @import { Drafted } from "./drafted.js"
 */

/**
 * The trial of one token. node, p, q, u, accepted and mass are as in Trial of step_view.js.
 * residual, draft: p and q as changed by the rejections of earlier siblings; unchanged with top-k
 * match. In Traversal, draft is null. There, residual is p for the token after the node, as changed
 * by the rejections of the node's children.
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
 * @property {number} [entered] only in Traversal: the probability of keeping the path down to the
 *   node, before any of its children was rejected
 */

/**
 * The result of a step. left: the distribution from which the bonus token was drawn.
 * @typedef {{path: number[], bonus: number, trials: Tried[], left: number[]}} Verdict
 */

/**
 * p and q after the rejection of a token. mass: the sum of p before it was scaled to sum to 1.
 * @typedef {{residual: number[], draft: number[], mass: number}} Left
 * @typedef {(residual: number[], draft: number[], token: number) => Left} Reject
 */

/** @type {Reject} for siblings drawn without replacement: q loses the token */
export const rejectOut = (residual, draft, token) => ({
  ...residualAfter(residual, draft),
  draft: without(draft, token),
});

/** @type {Reject} for siblings drawn independently: q stays the same */
export const rejectKeeping = (residual, draft) => ({ ...residualAfter(residual, draft), draft });

/**
 * Verify a tree by comparing u with p/q in each trial, as Sequoia and SpecInfer do.
 * @param {Drafted} drafted
 * @param {{p: number[], q: number[]}} models p and q, which do not depend on the text so far
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

// Try the children of a node in order until one of them is accepted.
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
 * Verify a tree by top-k match: at each node of the path, a token is sampled from the target. The
 * child with this token is accepted. If there is no such child, the step ends with this token.
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
