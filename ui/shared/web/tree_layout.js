/* Places the nodes of a tree in rows and columns, and divides an axis into steps. Pure. */

/**
 * A tree, with what can be derived from the parents of its nodes. Each parent comes before its
 * children. The comb is the usual drawing of a tree: a node's column is its depth, and its row is
 * `row`.
 * @typedef {object} Topology
 * @property {number} n number of nodes
 * @property {number[]} parents of each node; -1 for the root
 * @property {number[][]} children of each node
 * @property {number[]} depth of each node; 0 for the root
 * @property {number[]} rank of each node among its siblings, from 0
 * @property {number[]} size of each node's subtree, including the node
 * @property {number} levels number of levels, including that of the root
 * @property {number[]} row of each node in the comb
 * @property {number} rows number of rows of the comb: one per leaf, at least 1
 */

/**
 * @param {number[]} parents of the nodes, each before its children; -1 for the root
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

// The first child is in the row of its parent, and every other child starts a new row. So no two
// nodes share a place, and no edges cross.
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
 * Divide an axis from 0 to at least `most` into steps of a round size.
 * @param {number} most
 * @param {number} wanted approximate number of steps
 * @returns {{distance: number, count: number}} size and number of the steps
 */
export function ticks(most, wanted) {
  const raw = Math.max(most, 1e-9) / Math.max(wanted, 1);
  const power = 10 ** Math.floor(Math.log10(raw));
  const distance = [1, 2, 2.5, 5, 10].map((m) => m * power).find((d) => d >= raw - 1e-12);
  return { distance, count: Math.ceil(most / distance - 1e-9) || 1 };
}
