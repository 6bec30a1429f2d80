/* A toy: a target with the distribution p, a draft with the distribution q, a small tree, and a
   verifier. Neither p nor q depends on the text so far. Pure. */
import { seeded } from "../../shared/web/random.js";
import { viewStep } from "../../shared/web/step_view.js";
import { topology } from "../../shared/web/tree_layout.js";
import { Dice } from "./rules/chance.js";
import { Drafted } from "./rules/drafted.js";
import { verifierNamed } from "./rules/verifiers.js";

/**
 * @import { StepView } from "../../shared/web/step_view.js"
 * @import { Topology } from "../../shared/web/tree_layout.js"
 * @import { Chance } from "./rules/chance.js"
 * @import { Tried, Verdict } from "./rules/top_down.js"
 */

/**
 * The settings of a toy.
 * @typedef {object} Toy
 * @property {number[]} p
 * @property {number[]} q
 * @property {number[]} children number of children of the root, and of each of its children
 * @property {string} verifier key
 * @property {string} [shape] of the tree, a key of SHAPES; by default "levels"
 */

/** The words of the toys. A toy uses the first `p.length` of them. */
export const WORDS = ["cat", "dog", "owl", "fox", "hen", "cow", "bear", "crow"];
export const LEAST_WORDS = 2;
export const MOST_WORDS = WORDS.length;
/** The largest number of children of the root, and of each of its children. */
export const MOST_CHILDREN = [5, 3];

/**
 * Shapes of a toy's tree. parents: of the nodes; null: the toy's `children` define the tree.
 * @type {{key: string, label: string, parents: number[] | null}[]}
 */
export const SHAPES = [
  { key: "levels", label: "children per level, as set below", parents: null },
  {
    key: "uneven",
    label: "uneven: 1 child, 2 below it, 1 below the second",
    parents: [-1, 0, 1, 1, 3],
  },
];

/**
 * The tree of a toy. For the verifier "chain", it is a chain with as many levels as the tree of the
 * other verifiers.
 * @param {Toy} toy
 * @returns {Topology}
 */
export function treeOf(toy) {
  const parents = parentsOf(toy.shape);
  if (!parents) return toyTree(childrenOf(toy));
  const made = topology(parents);
  if (toy.verifier !== "chain") return made;
  const levels = Math.max(...made.depth);
  return topology(Array.from({ length: levels + 1 }, (_, node) => node - 1));
}

/**
 * The parents of a shape's nodes; null if the toy's `children` define the tree.
 * @param {string | undefined} shape
 * @returns {number[] | null}
 */
export const parentsOf = (shape) => SHAPES.find(({ key }) => key === shape)?.parents ?? null;

/**
 * The numbers of children in the tree of a toy with the shape "levels": `toy.children`, but at most
 * MOST_CHILDREN, at most the number of words, and at most 1 in a chain. The root has at least one
 * child.
 * @param {Toy} toy
 * @returns {number[]} of the root, and of each of its children
 */
export function childrenOf({ p, children, verifier }) {
  const most = verifier === "chain" ? 1 : p.length;
  const [first, second] = children.map((count, i) => Math.min(count, most, MOST_CHILDREN[i]));
  return [Math.max(first, 1), second];
}

/**
 * A tree with the given numbers of children.
 * @param {number[]} children of the root, and of each of its children
 * @returns {Topology}
 */
export function toyTree([first, second]) {
  const below = Array.from({ length: first * second }, (_, i) => 1 + Math.floor(i / second));
  return topology([-1, ...new Array(first).fill(0), ...below]);
}

/**
 * Make one step of a toy.
 * @param {Toy} toy
 * @param {Chance} chance
 * @param {Topology} topo
 * @param {boolean} [isLazy] whether to draw only the guesses that verification reaches; this does
 *   not change the distribution of the output
 * @returns {{drafted: Drafted, verdict: Verdict}}
 */
export function toyStep(toy, chance, topo, isLazy = false) {
  const verifier = verifierNamed(toy.verifier);
  const draw = (count) => verifier.draw(chance, toy.q, count);
  const drafted = new Drafted(topo, draw, toy.p.length);
  if (!isLazy) drafted.complete();
  return { drafted, verdict: verifier.verify(drafted, toy, chance) };
}

/** @type {(drafted: Drafted, verdict: Verdict) => number[]} tokens that a step emits */
export const emittedBy = ({ tokens }, { path, bonus }) => [
  ...path.slice(1).map((node) => tokens[node]),
  bonus,
];

/**
 * A step of a toy in the form that the pictures need. The seed determines all random numbers.
 * @param {Toy} toy
 * @param {number} seed
 * @returns {StepView}
 */
export function toyView(toy, seed) {
  const topo = treeOf(toy);
  const { drafted, verdict } = toyStep(toy, new Dice(seeded(seed)), topo);
  const { path, bonus, trials } = verdict;
  const below = drafted.tokens.slice(1);
  const step = {
    index: 0,
    tree: 0,
    tokens: drafted.tokens,
    draft_p: [null, ...below.map((token) => toy.q[token])],
    target_p: [null, ...below.map((token) => toy.p[token])],
    verdict: { path, bonus, trials },
    emitted: emittedBy(drafted, verdict),
    residual_heads: headsOf(verdict),
    entered: trials.map((one) => one.entered),
  };
  const words = toy.p.map((_, i) => /** @type {[string, string]} */ ([String(i), WORDS[i]]));
  const pieces = new Map([...words, [String(toy.p.length), "…"]]);
  return viewStep(step, topo, pieces, { params: { temperature: 1 }, verifier: toy.verifier });
}

/** @type {(verdict: Verdict) => import("../../shared/web/step_view.js").ResidualHead[]} */
function headsOf({ trials, bonus, left }) {
  if (trials.some(({ draft }) => !draft)) return [];
  const at = trials.map(({ token, residual, draft }) => headOf(token, residual, draft));
  const { tokens, p } = headOf(bonus, left, left);
  return [...at, { tokens, p }];
}

// All tokens, `token` first.
/** @type {(token: number, p: number[], q: number[]) =>
 *   import("../../shared/web/step_view.js").ResidualHead} */
function headOf(token, p, q) {
  const others = [...p.keys()].filter((one) => one !== token);
  const tokens = [token, ...others];
  return { tokens, p: tokens.map((one) => p[one]), q: tokens.map((one) => q[one]) };
}
