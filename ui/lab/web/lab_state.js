/* What the Lab's panels share: the acceptance vector, the node budget, the tree shown and the times
   of the chosen machine. */
import * as shapes from "./tree_shapes.js";
import { oncePerFrame } from "../../shared/web/dom.js";
import { count } from "../../shared/web/format.js";
import * as planner from "../../shared/web/planner.js";

/**
 * The source of an acceptance vector.
 * @typedef {object} Origin
 * @property {string} label "measured", "recorded", "paper", "synthetic", "imported", ...
 * @property {string} words more about the source, such as the prompt and the temperature
 * @property {number[]} [accepted] number of accepted children by rank, if measured; at text
 *   positions, the expected number, which may be a fraction
 * @property {number} [visited] number of tree roots or text positions where that was measured
 * @property {Origin} [from] the origin of the vector before it was edited by hand
 * @property {boolean} [own] whether it was counted with the loaded models
 * @property {{texts: string, temperature: number}} [on] what it was counted on
 */

/**
 * Settings of the shapes. `sequences`: the number of sequences. `kary`: the k of the k-ary tree.
 * For both, null stands for the number that is best at the tree's size. `branching`: for each
 * level of the branching tree, the number of children of each node.
 * @typedef {{sequences: number | null, kary: number | null, branching: number[]}} Kinds
 */

// If one of these changes, a tree or its numbers may change.
const OF_THE_TREE = ["rates", "n", "levels", "shown", "hand", "kinds", "profile", "most"];

/**
 * The tree that Run plans for the acceptance and the machine.
 * @typedef {ReturnType<typeof planner.bestPlan> & {levels: number, cap: number | null,
 *   largest: number}} Plan `cap`: the level cap under which it is the best tree of its size; null:
 *   none. `largest`: nodes of the largest tree considered
 */

const FIRST_NODES = 64; // the node budget before any times are known

/** The state of one Lab. Change it with `set`, which calls the watchers in the next frame. */
export class LabState {
  rates = [0.6, 0.15, 0.05];
  even = this.rates; // the rates that trees are planned with, smoothed so that they never increase
  /** @type {Origin} */
  origin = { label: "synthetic", words: "" };
  shown = "best"; // or "fitted" (see `fastest`), "hand", or a shape's name
  hand = [-1]; // parents of the tree drawn by hand
  past = new TreeEdits(); // edits of the tree drawn by hand, for undo
  /** @type {import("../../shared/web/planner.js").Profile | null} */
  profile = null;
  /** @type {string | null} */
  elsewhere = null; // name of the chosen profile; null if it is this machine's
  most = planner.MAX_NODES; // max nodes of a tree that can run here
  /** @type {Kinds} */
  kinds = { sequences: null, kary: null, branching: [1, 1, 3, 1, 1, 1, 1, 1] };
  pick = 0; // index of the rate being edited
  version = 0; // number of changes of the properties in OF_THE_TREE

  /** @type {number | null} */
  #size = null; // node budget as it was entered; null: that of the plan
  /** @type {number | null} */
  #limit = null; // level cap as it was entered; null: none
  /** @type {(() => void)[]} */
  #watchers = [];
  #cache = new Map();

  /** Whether budget and level cap are those of the plan, and follow it. */
  get isPlanned() {
    return this.#size === null;
  }

  /** The node budget, root included. Null makes it that of the plan. */
  get n() {
    return this.#size ?? this.plan?.parents.length ?? FIRST_NODES;
  }

  set n(size) {
    this.#size = size;
  }

  /** The level cap; null: none. A cap that is entered keeps the budget as it is. */
  get levels() {
    return this.isPlanned ? (this.plan?.cap ?? null) : this.#limit;
  }

  set levels(cap) {
    this.#size = this.n;
    this.#limit = cap;
  }

  /** @param {() => void} call called in the frame after a change */
  watch(call) {
    this.#watchers.push(call);
  }

  /** @param {Partial<LabState>} changes */
  set(changes) {
    Object.assign(this, changes);
    if ("rates" in changes) {
      this.even = planner.isMonotone(this.rates) ? this.rates : planner.smooth(this.rates);
      this.pick = Math.min(this.pick, this.rates.length - 1);
    }
    if (OF_THE_TREE.some((name) => name in changes)) this.version++;
    this.changed();
  }

  /**
   * Replace the acceptance vector.
   * @param {number[]} rates
   * @param {Origin} origin
   * @throws {RangeError} if the rates are invalid; nothing is changed then
   */
  take(rates, origin) {
    this.set({ rates: planner.checked(rates), origin });
  }

  changed = oncePerFrame(() => {
    for (const call of this.#watchers) call();
  });

  /**
   * A cached value. `make` is called again only if one of `inputs` has changed.
   * @template T
   * @param {string} name
   * @param {any[]} inputs
   * @param {() => T} make
   * @returns {T}
   */
  once(name, inputs, make) {
    const held = this.#cache.get(name);
    if (held && held.inputs.every((one, i) => one === inputs[i])) return held.value;
    const value = make();
    this.#cache.set(name, { inputs, value });
    return value;
  }

  /** The best trees of all sizes under the level cap. The first n nodes are the tree of size n. */
  get growth() {
    const { even, cap } = this;
    return this.once("growth", [even, cap], () => planner.bestFirst(even, planner.MAX_NODES, cap));
  }

  /** The best trees of all sizes without a level cap. */
  get freeGrowth() {
    return this.once("free", [this.even], () =>
      planner.bestFirst(this.even, planner.MAX_NODES, null),
    );
  }

  /** The level cap; null: none. At least 2, as one level has room for the root only. */
  get cap() {
    return this.levels === null ? null : Math.max(this.levels, 2);
  }

  /** The plan; null without a profile. @type {Plan | null} */
  get plan() {
    const { even, profile, most } = this;
    return profile && this.once("plan", [even, profile, most], () => this.#planned());
  }

  #planned() {
    const { even, profile, most } = this;
    const largest = Math.min(planner.nodesFor(profile), most);
    const plan = planner.bestPlan(even, profile, largest);
    const levels = planner.widths(plan.parents).length + 1;
    const free = planner.canonical(this.freeGrowth.parents.slice(0, plan.parents.length));
    const isFree = plan.parents.every((parent, node) => parent === free[node]);
    return { ...plan, levels, cap: isFree ? null : Math.max(2, levels), largest };
  }

  /** Whether the step times and the acceptance are not those of one pair of models. */
  get isHypothetical() {
    const { profile, elsewhere, origin } = this;
    return Boolean(profile) && (elsewhere !== null || !origin.own);
  }

  /** The label of predictions. */
  get basis() {
    return this.isHypothetical ? "hypothetical" : "predicted";
  }

  /** Predicted seconds of a step with the first 1, 2, ... nodes of the growth; needs a profile. */
  get times() {
    return this.once("times", [this.growth, this.profile], () =>
      planner.growthSeconds(this.growth, this.profile),
    );
  }

  /** The parents of the tree shown; its size is `n` unless it was drawn by hand. */
  get parents() {
    return this.parentsOf(this.shown);
  }

  /**
   * The tree of n nodes that the profile predicts to be fastest; null without a profile. Only the
   * best tree under each level cap is considered.
   */
  get fastest() {
    const { even, n, profile } = this;
    if (!profile) return null;
    return this.once("fastest", [even, n, profile], () => fastestCap(even, n, profile));
  }

  /**
   * The parents of a tree.
   * @param {string} name "best", "fitted", "hand" or a shape's name
   * @returns {number[]}
   */
  parentsOf(name) {
    if (name === "fitted") return this.fastest ? this.fastest.parents : this.parentsOf("best");
    if (name === "hand") return this.hand;
    if (name === "best") return this.growth.parents.slice(0, this.n);
    return shapes.make(name, this.n, this);
  }
}

// Tries one level cap after another. Stops at the first that does not bind, or at the last that
// planning allows.
function fastestCap(even, n, profile) {
  let found = { levels: 1, speedup: 1, parents: [-1] };
  for (let levels = 2; levels <= planner.levelsFor(n) && n > 1; levels++) {
    const growth = planner.bestFirst(even, n, levels);
    const { speedup } = planner.predict(growth.parents, even, profile);
    if (levels === 2 || speedup > found.speedup)
      found = { levels, speedup, parents: growth.parents };
    if (Math.max(...growth.depths) + 1 < levels) break; // the cap no longer binds
  }
  return found;
}

const PAST = 200; // maximum number of edits that can be undone

/** The edits of one tree. `past` has the trees before the latest edits, for undo. */
class TreeEdits {
  /** @type {number[][]} */
  past = [];

  /**
   * @param {number[]} parents
   * @param {number} node
   * @param {number} budget max nodes
   * @param {number | null} cap max levels; null: any number
   * @returns {number[]} the tree with one more child of `node`
   * @throws {RangeError} if the tree would exceed the budget or the level cap
   */
  add(parents, node, budget, cap) {
    if (parents.length >= budget)
      throw new RangeError(
        `the budget of ${count(budget, "node")} is used up; remove a node or raise the budget`,
      );
    const level = planner.depthsOf(parents)[node] + 2;
    if (cap !== null && level > cap)
      throw new RangeError(`a child here would be on level ${level}; the cap is ${cap} levels`);
    this.keep(parents);
    return [...parents, node];
  }

  /**
   * @param {number[]} parents
   * @param {number} node
   * @returns {number[]} the tree without `node` and its descendants
   * @throws {RangeError} for the root
   */
  remove(parents, node) {
    if (node === 0)
      throw new RangeError("the root is the last token of the text and cannot be removed");
    this.keep(parents);
    const place = [0];
    const result = [-1];
    for (let i = 1; i < parents.length; i++) {
      const above = place[parents[i]];
      place[i] = i === node || above === undefined ? undefined : result.push(above) - 1;
    }
    return result;
  }

  /**
   * Use another tree instead.
   * @param {number[]} parents
   * @param {number[]} next
   * @returns {number[]} a copy of `next`
   */
  replace(parents, next) {
    this.keep(parents);
    return next.slice();
  }

  /**
   * @param {number[]} parents
   * @returns {number[]} the tree before the last edit; `parents` if there is no edit to undo
   */
  undo(parents) {
    return this.past.pop() || parents;
  }

  /**
   * Remember a tree for undo.
   * @param {number[]} parents
   */
  keep(parents) {
    this.past.push(parents);
    if (this.past.length > PAST) this.past.shift();
  }
}
