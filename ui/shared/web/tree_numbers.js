/* Stores the trees of a run or a race under the numbers that its steps use for them. Trees are
   numbered in the order in which steps first use them. Messages may be lost or arrive late, so the
   trees of a message cannot simply be appended. */

/**
 * Add the trees of a message to those known. A tree that is known stays the same object.
 * @template T
 * @param {T[]} known by number; empty where a tree has not arrived. New trees are added here
 * @param {T[]} trees of the message, with consecutive numbers
 * @param {number | null} first the number of the first of them; null: find it from the steps
 * @param {{tree: number}[]} steps of the message
 */
export function addTrees(known, trees, first, steps) {
  const start = first ?? firstNew(trees.length, steps) ?? known.length;
  trees.forEach((tree, k) => (known[start + k] ??= tree));
}

// The number of the first of `count` new trees. New trees have the highest numbers, and the steps
// of the same message use all of them. Null if the message has no steps that use them.
/** @type {(count: number, steps: {tree: number}[]) => number | null} */
function firstNew(count, steps) {
  const first = Math.max(...steps.map(({ tree }) => tree)) + 1 - count;
  return first >= 0 && Number.isFinite(first) ? first : null;
}
