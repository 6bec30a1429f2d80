/* The trees of a run or a race, in the order in which its steps first use them. Messages may be
   missed or overtaken by the answer to a request for missing steps, so each tree gets the number
   that the steps call it by. Pure. */

/**
 * Add the trees of a message to those known. A tree that is known stays the same object.
 * @template T
 * @param {T[]} known by number; empty where a tree has not arrived. Is changed
 * @param {T[]} trees of the message: all of the run, or those that no earlier step used
 * @param {number | null} first the number of the first of them; null: see `firstNew`
 * @param {{tree: number}[]} steps of the message
 */
export function addTrees(known, trees, first, steps) {
  const start = first ?? firstNew(trees.length, steps) ?? known.length;
  trees.forEach((tree, k) => (known[start + k] ??= tree));
}

// The number of the first of `count` new trees. They have the highest numbers, and the steps that
// arrive with them use them all. Null if the steps do not tell.
/** @type {(count: number, steps: {tree: number}[]) => number | null} */
function firstNew(count, steps) {
  const first = Math.max(...steps.map(({ tree }) => tree)) + 1 - count;
  return first >= 0 && Number.isFinite(first) ? first : null;
}
