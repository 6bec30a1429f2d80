/* Trees in the formats that the Lab exports (export_tree.js), or as the parents of their nodes.
   Python's reader is sequoia/algorithm/tree_formats.py. Pure. */
import * as planner from "../../shared/web/planner.js";

const MOST_CHARS = 2 ** 21; // the paths of a chain of 1,024 nodes have 1.6 million

/**
 * @param {string} text
 * @returns {number[]} the parents of the nodes, in breadth-first order
 * @throws {RangeError} with a message for the visitor
 */
export function readTree(text) {
  if (text.length > MOST_CHARS)
    throw new RangeError(`${text.length} characters; at most ${MOST_CHARS} are allowed`);
  const trimmed = text.trim();
  if (!trimmed) throw new RangeError("nothing to read: paste a tree, such as -1 0 0 1");
  if (!/^[[{]/.test(trimmed)) return fromWords(trimmed.split(/[,;\s]+/));
  const found = parsed(trimmed);
  if (Array.isArray(found)) return Array.isArray(found[0]) ? fromPaths(found) : fromNumbers(found);
  if (Array.isArray(found.nodes)) return fromNodeLink(found);
  if (Array.isArray(found.parents)) return fromParents(found.parents);
  throw new RangeError("the JSON is no tree: it has neither parents nor nodes and edges");
}

function fromWords(words) {
  const wrong = words.find((word) => Number.isNaN(Number(word)));
  if (wrong !== undefined)
    throw new RangeError(
      `“${wrong.slice(0, 20)}” is not a number; paste JSON, or the parent of each node: -1 0 0 1`,
    );
  return fromNumbers(words.map(Number));
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch (problem) {
    throw new RangeError("not JSON: " + problem.message);
  }
}

// A list of parents begins with -1, that of the root; SpecInfer's branching list does not.
const fromNumbers = (numbers) =>
  numbers[0] === -1 ? fromParents(numbers) : fromBranching(numbers);

function fromParents(parents) {
  requireSize(parents.length);
  parents.forEach((parent, node) => {
    const isRight = node ? Number.isInteger(parent) && parent >= 0 && parent < node : parent === -1;
    if (!isRight)
      throw new RangeError(
        `parents[${node}] is ${shown(parent)}; expected ` +
          (node ? `a node before it, 0 to ${node - 1}` : "-1, for the root"),
      );
  });
  return planner.canonical(parents);
}

function fromBranching(branching) {
  const parents = [-1];
  let level = [0];
  for (const k of branching) {
    if (!Number.isInteger(k) || k < 1)
      throw new RangeError(`${shown(k)} is not a number of children from 1`);
    requireSize(parents.length + k * level.length);
    level = level.flatMap((node) => Array.from({ length: k }, () => parents.push(node) - 1));
  }
  return parents;
}

function fromPaths(paths) {
  requireSize(paths.length + 1);
  if (!paths.every((path) => Array.isArray(path) && path.length && path.every(isRank)))
    throw new RangeError("each path must be a list of ranks, 0 for a first child");
  const order = paths.toSorted((one, other) => one.length - other.length || compare(one, other));
  const number = new Map([["", 0]]);
  const parents = [-1];
  for (const path of order) {
    const above = number.get(path.slice(0, -1).join());
    const before = path.at(-1) && number.get([...path.slice(0, -1), path.at(-1) - 1].join());
    if (number.has(path.join())) throw new RangeError(`the path [${path}] stands there twice`);
    if (above === undefined || before === undefined)
      throw new RangeError(`the path [${path}] needs a node that no other path describes`);
    number.set(path.join(), parents.push(above) - 1);
  }
  return parents;
}

const isRank = (rank) => Number.isInteger(rank) && rank >= 0;

function compare(one, other) {
  const i = one.findIndex((rank, k) => rank !== other[k]);
  return i < 0 ? 0 : one[i] - other[i];
}

// networkx's node-link format. Siblings are in the order of their `rank`, else of their edges.
function fromNodeLink({ nodes, edges }) {
  requireSize(nodes.length);
  const rank = new Map(nodes.map((node) => [node?.id, node?.rank ?? 0]));
  const below = new Map(nodes.map((node) => [node?.id, []]));
  const roots = new Set(below.keys());
  for (const { source, target } of Array.isArray(edges) ? edges : []) {
    below.get(source)?.push(target);
    roots.delete(target);
  }
  const order = [...roots];
  const parents = [-1];
  for (let i = 0; i < order.length && order.length <= nodes.length; i++) {
    const children = (below.get(order[i]) ?? []).sort((a, b) => rank.get(a) - rank.get(b));
    order.push(...children);
    parents.push(...children.map(() => i));
  }
  if (roots.size !== 1 || new Set(order).size !== nodes.length || order.length !== nodes.length)
    throw new RangeError("the nodes and edges are not one tree with edges away from its root");
  return parents;
}

function requireSize(nodes) {
  if (nodes < 1 || nodes > planner.MAX_NODES)
    throw new RangeError(`the tree has ${nodes} nodes; expected 1 to ${planner.MAX_NODES}`);
}

const shown = (value) => String(JSON.stringify(value)).slice(0, 20);
