/* Makes steps for tests from a short form. */

import { viewStep as view } from "../../ui/shared/web/step_view.js";

const HEAD = ["tokens", "p", "q"];
const TRIAL = ["node", "p", "q", "u", "accepted", "mass"];

const named = (names, row) =>
  Array.isArray(row) ? Object.fromEntries(row.map((value, k) => [names[k], value])) : row;

/**
 * A step as the server sends it. In the short form, the verdict's fields are beside the others,
 * trials and residual heads may be lists of their values, and `i`, `q`, `p` and `residuals` are
 * short for `index`, `draft_p`, `target_p` and `residual_heads`.
 * @returns {any}
 */
export function aStep({ i = 0, q, p, path = [0], bonus = 0, trials = [], residuals, ...more }) {
  const verdict = { path, bonus, trials: trials.map((row) => named(TRIAL, row)) };
  const residual_heads = residuals?.map((row) => named(HEAD, row));
  return { index: i, draft_p: q, target_p: p, verdict, residual_heads, ...more };
}

/**
 * `viewStep` of a step in the short form.
 * @type {(step: any, topo: any, pieces: any, meta?: any) => any}
 */
export const viewStep = (step, ...rest) => view(aStep(step), ...rest);
