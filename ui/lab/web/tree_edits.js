/* A tree drawn by hand: adding and removing nodes, and undo. */
import * as planner from "../../shared/web/planner.js";

const PAST = 200; // changes that can be undone

/** The changes of one drawn tree. */
export class TreeEdits {
  /** @type {number[][]} */
  past = [];

  /**
   * @param {number[]} parents
   * @param {number} node
   * @param {number} budget
   * @param {number | null} cap on levels
   * @returns {number[]} with a last child below `node`
   * @throws {RangeError} where the budget or the level cap forbids it
   */
  add(parents, node, budget, cap) {
    if (parents.length >= budget)
      throw new RangeError(
        `the budget is ${budget} nodes and all are in use; remove some or raise it`,
      );
    const level = planner.depthsOf(parents)[node] + 2;
    if (cap !== null && level > cap)
      throw new RangeError(`a child here would be on level ${level}; the cap is ${cap}`);
    this.keep(parents);
    return [...parents, node];
  }

  /**
   * @param {number[]} parents
   * @param {number} node
   * @returns {number[]} without `node` and all below it
   * @throws {RangeError} for the root
   */
  remove(parents, node) {
    if (node === 0) throw new RangeError("the root is the last token of the text; it stays");
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
   * @param {number[]} parents
   * @param {number[]} next another whole tree in its place
   * @returns {number[]}
   */
  replace(parents, next) {
    this.keep(parents);
    return next.slice();
  }

  /**
   * @param {number[]} parents
   * @returns {number[]} the tree before the last change
   */
  undo(parents) {
    return this.past.pop() || parents;
  }

  /** @param {number[]} parents */
  keep(parents) {
    this.past.push(parents);
    if (this.past.length > PAST) this.past.shift();
  }
}
