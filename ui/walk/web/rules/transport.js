/* Finds the best coupling of the drawn siblings with the target's token, by solving an optimal
   transport problem. Each sibling has its own worth if it is accepted. Flow is added along one path
   after another, always the path with the largest gain. Pure. */

const NOTHING = 1e-12; // smaller amounts are rounding errors

/**
 * room: how much more flow the arc can take. gain: per unit of flow.
 * @typedef {{from: number, to: number, room: number, gain: number}} Arc
 */

/**
 * The mean worth of the accepted sibling under the best coupling of the siblings with the token. If
 * no sibling is accepted, the worth is 0.
 * @param {{tokens: number[], weight: number}[]} drawn sequences of siblings, with their
 *   probabilities
 * @param {number[]} p the target's distribution
 * @param {number[]} worth of each sibling if it is accepted, in the order drawn
 * @returns {number}
 */
export function bestTransport(drawn, p, worth) {
  const { arcs, source, sink } = network(drawn, p, worth);
  let total = 0;
  for (;;) {
    const path = bestPath(arcs, source, sink);
    const gain = path.reduce((sum, at) => sum + arcs[at].gain, 0);
    if (!path.length || gain <= NOTHING) return total;
    const amount = Math.min(...path.map((at) => arcs[at].room));
    for (const at of path) {
      arcs[at].room -= amount;
      arcs[at ^ 1].room += amount;
    }
    total += amount * gain;
  }
}

// The arcs lead from the source to each sequence, on to its tokens, and from each token to the
// sink. Arc 2 i + 1 is the reverse of arc 2 i.
function network(drawn, p, worth) {
  /** @type {Arc[]} */
  const arcs = [];
  const add = (from, to, room, gain = 0) =>
    arcs.push({ from, to, room, gain }, { from: to, to: from, room: 0, gain: -gain });
  const source = drawn.length + p.length;
  const sink = source + 1;
  drawn.forEach(({ tokens, weight }, i) => {
    add(source, i, weight);
    tokens.forEach((token, rank) => add(i, drawn.length + token, 1, worth[rank]));
  });
  p.forEach((share, token) => add(drawn.length + token, sink, share));
  return { arcs, source, sink };
}

// Of the paths with room left, the one with the largest gain, as indices of its arcs
// (Bellman-Ford). Empty if no path has room left.
function bestPath(arcs, source, sink) {
  const best = new Array(sink + 1).fill(-Infinity);
  /** @type {number[]} */
  const last = new Array(sink + 1).fill(-1);
  best[source] = 0;
  for (let round = 0, isBetter = true; isBetter && round <= sink; round++) {
    isBetter = false;
    arcs.forEach(({ from, to, room, gain }, at) => {
      if (room <= NOTHING || best[from] + gain <= best[to] + NOTHING) return;
      best[to] = best[from] + gain;
      last[to] = at;
      isBetter = true;
    });
  }
  const path = [];
  for (let node = sink; last[node] >= 0; node = arcs[last[node]].from) path.unshift(last[node]);
  return path;
}
