/* Where the nodes of a tree go. Pure: numbers in, numbers out; knows nothing of the page or of any step's tokens. */

/** Everything that follows from `parents`: children, depth, rank, subtree size and the comb's rows (one a leaf). */
export function topology(parents) {
  const n = parents.length;
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

/** The first child stays on its parent's row, every other child opens a new one: no two cells meet, no edges cross. */
function comb(children, n) {
  const row = new Array(n).fill(0);
  let rows = 0;
  const stack = n ? [0] : [];
  while (stack.length) {
    const node = stack.pop();
    row[node] = rows;
    if (!children[node].length) rows++;
    for (let i = children[node].length - 1; i >= 0; i--) stack.push(children[node][i]);
  }
  return { row, rows: Math.max(rows, 1) };
}

const FIRST_REJECTED = 9;
const LAST_REJECTED = 3;
const FIRST_UNTRIED = 2;

/**
 * The step's own part of a large tree: the accepted path, what was tried beside it, and folds for the rest.
 * `opened` holds keys a person has unfolded: "n<node>" shows that node's children, "g<parent>:<kind>" a whole group.
 * Items: {key, kind: "node"|"more", node, parent (item), col, row, folded (nodes hidden below), count}.
 */
export function focus(topo, view, opened, bonus) {
  const items = [];
  let rows = 0;
  const place = (item) => (items.push(item), item);
  const onPath = new Set(view.path);

  function visit(node, parent, col) {
    const item = place({
      key: "n" + node,
      kind: "node",
      node,
      parent,
      col,
      row: rows,
      folded: 0,
      open: false,
    });
    const open = onPath.has(node) || opened.has("n" + node);
    item.folded = open ? 0 : topo.size[node] - 1;
    item.open = open && !onPath.has(node);
    const end = node === view.path[view.path.length - 1];
    const entries = open ? choose(topo, view, opened, node) : [];
    item.end = !entries.length && !(bonus && end);
    entries.forEach((entry, i) => {
      if (i) rows++;
      if (entry.kind === "node") visit(entry.node, item, col + 1);
      else place({ ...entry, parent: item, col: col + 1, row: rows, node: -1, folded: 0 });
    });
    if (bonus && end) {
      if (entries.length) rows++;
      place({
        key: "bonus",
        kind: "bonus",
        node: -1,
        parent: item,
        col: col + 1,
        row: rows,
        folded: 0,
      });
    }
  }
  if (topo.n) visit(0, null, 0);
  return { items, rows: rows + 1, cols: Math.max(...items.map((item) => item.col), 0) + 1 };
}

/** Which children of an open node are drawn one by one, and which become "… 13 more (83 nodes)". */
function choose(topo, view, opened, node) {
  const children = topo.children[node];
  const rejected = children.filter((child) => view.state[child] === "rejected");
  const others = children.filter((child) => !["rejected", "accepted"].includes(view.state[child]));
  const hidden = new Map();
  fold("rejected", rejected.slice(FIRST_REJECTED, -LAST_REJECTED), rejected);
  fold("untried", others.slice(FIRST_UNTRIED), others);
  const entries = [];
  for (const child of children) {
    const group = hidden.get(child);
    if (!group) entries.push({ kind: "node", node: child });
    else if (!group.done) entries.push(((group.done = true), group.entry));
  }
  return entries;

  function fold(kind, tail, whole) {
    const key = "g" + node + ":" + kind;
    if (tail.length < 2 || tail.length === whole.length || opened.has(key)) return;
    const nodes = tail.reduce((sum, child) => sum + topo.size[child], 0);
    const group = {
      done: false,
      entry: { key, kind: "more", count: tail.length, nodes, what: kind },
    };
    tail.forEach((child) => hidden.set(child, group));
  }
}

/** The steps of an axis from 0 to at least `most`: a round distance and how many of it. */
export function ticks(most, wanted) {
  const raw = Math.max(most, 1e-9) / Math.max(wanted, 1);
  const power = 10 ** Math.floor(Math.log10(raw));
  const distance = [1, 2, 2.5, 5, 10].map((m) => m * power).find((d) => d >= raw - 1e-12);
  return { distance, count: Math.ceil(most / distance - 1e-9) || 1 };
}
