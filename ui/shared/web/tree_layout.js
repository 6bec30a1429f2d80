/* Where the nodes of a tree stand. Pure: knows nothing of the page or of tokens. */

/**
 * What follows from the parents of a tree's nodes, which come level by level.
 * @typedef {object} Topology
 * @property {number} n nodes
 * @property {number[]} parents of each node; -1 of the root
 * @property {number[][]} children of each node
 * @property {number[]} depth of each node; 0 of the root
 * @property {number[]} rank of each node among its siblings, from 0
 * @property {number[]} size of each node's subtree, itself included
 * @property {number} levels
 * @property {number[]} row of each node in the comb
 * @property {number} rows of the comb, one a leaf
 */

/**
 * @param {number[]} parents
 * @returns {Topology}
 */
export function topology(parents) {
  const n = parents.length;
  /** @type {number[][]} */
  const children = Array.from({ length: n }, () => []);
  const depth = new Array(n).fill(0);
  const rank = new Array(n).fill(0);
  const size = new Array(n).fill(1);
  for (let node = 1; node < n; node++) {
    const parent = parents[node];
    rank[node] = children[parent].length;
    children[parent].push(node);
    depth[node] = depth[parent] + 1;
  }
  for (let node = n - 1; node > 0; node--) size[parents[node]] += size[node];
  const levels = n ? Math.max(...depth) + 1 : 0;
  return { n, parents, children, depth, rank, size, levels, ...comb(children, n) };
}

// The first child stays on its parent's row, every other child opens a new one: no two cells meet,
// no edges cross.
function comb(children, n) {
  const row = new Array(n).fill(0);
  let rows = 0;
  const stack = n ? [0] : [];
  while (stack.length) {
    const node = stack.pop();
    row[node] = rows;
    if (!children[node].length) rows++;
    stack.push(...children[node].toReversed());
  }
  return { row, rows: Math.max(rows, 1) };
}

/**
 * The steps of an axis from 0 to at least `most`.
 * @param {number} most
 * @param {number} wanted how many steps, about
 * @returns {{distance: number, count: number}} a round distance, and how many of it
 */
export function ticks(most, wanted) {
  const raw = Math.max(most, 1e-9) / Math.max(wanted, 1);
  const power = 10 ** Math.floor(Math.log10(raw));
  const distance = [1, 2, 2.5, 5, 10].map((m) => m * power).find((d) => d >= raw - 1e-12);
  return { distance, count: Math.ceil(most / distance - 1e-9) || 1 };
}
