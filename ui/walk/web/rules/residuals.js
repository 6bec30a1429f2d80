/* How a rejection changes p and q for the next sibling, as in sequoia/algorithm/verifiers. Pure. */

/**
 * @param {number[]} values
 * @returns {number}
 */
export const sum = (values) => values.reduce((total, value) => total + value, 0);

/**
 * @param {number[]} values
 * @returns {number[]} the values scaled to sum to 1
 */
export const scaled = (values) => {
  const total = sum(values);
  return values.map((value) => value / total);
};

/**
 * The target's residual R after a rejection: max(R - D, 0), scaled to sum to 1. The mass is the sum
 * before scaling. If it is 0, R is returned unchanged, because R and D are equal up to rounding.
 * @param {number[]} residual R before the rejection
 * @param {number[]} draft D, the draft distribution at the rejected trial
 * @returns {{residual: number[], mass: number}}
 */
export function residualAfter(residual, draft) {
  const rest = residual.map((one, i) => Math.max(one - draft[i], 0));
  const mass = sum(rest);
  return mass > 0 ? { residual: rest.map((one) => one / mass), mass } : { residual, mass };
}

/**
 * The draft distribution without a token that was tried, scaled to sum to 1. It is zero everywhere
 * if no other token had any probability.
 * @param {number[]} draft
 * @param {number} token
 * @returns {number[]}
 */
export function without(draft, token) {
  const rest = draft.map((one, i) => (i === token ? 0 : one));
  return rest.some((one) => one > 0) ? scaled(rest) : rest;
}

/**
 * The uniform distribution over the tokens not tried yet.
 * @param {number} count number of all tokens
 * @param {number[]} tried
 * @returns {number[]}
 */
const evenExcept = (count, tried) =>
  scaled(Array.from({ length: count }, (_, token) => (tried.includes(token) ? 0 : 1)));

/**
 * The draft distribution at the next trial. If nothing is left of q, all tokens that were not tried
 * are equally probable.
 * @param {number[]} draft q after the rejections so far; may be all zeros
 * @param {number[]} tried
 * @returns {number[]}
 */
export const draftAt = (draft, tried) =>
  tried.length && !draft.some((one) => one > 0) ? evenExcept(draft.length, tried) : draft;
