/* Edits of a tree drawn by hand: add, remove, replace, undo. A tree is the list of its nodes'
   parents. */
import { count } from "../../shared/web/format.js";
import * as planner from "../../shared/web/planner.js";

const PAST = 200; // maximum number of edits that can be undone

/** The edits of one tree. `past` has the trees before the latest edits, for undo. */
export class TreeEdits {
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
