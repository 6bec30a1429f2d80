/* How often each slot (a position in a tree) was accepted. Independent of the DOM. */

/**
 * @import { Step } from "../../shared/web/step_view.js"
 * @import { Topology } from "../../shared/web/tree_layout.js"
 */

/** The counts of one lane. */
export class SlotCounts {
  /** @type {Uint32Array[]} by tree, then by node: in how many steps it was accepted */
  accepted = [];
  /** @type {number[]} by tree: how many steps had it */
  seen = [];

  /**
   * @param {Step} step
   * @param {Topology} topo its tree
   */
  add(step, topo) {
    const slots = (this.accepted[step.tree] ||= new Uint32Array(topo.n));
    for (const node of step.verdict.path) slots[node]++;
    this.seen[step.tree] = (this.seen[step.tree] || 0) + 1;
  }

  /**
   * In how many steps a slot was accepted.
   * @param {number} tree
   * @param {number} node
   * @returns {[number, number]} the number of steps that accepted it, and of steps with this tree
   */
  counts(tree, node) {
    return [this.accepted[tree]?.[node] ?? 0, this.seen[tree] ?? 0];
  }

  /**
   * How often a slot was accepted.
   * @param {number} tree
   * @param {number} node
   * @returns {number} the share of the steps with this tree, 0 to 1
   */
  share(tree, node) {
    const [accepted, seen] = this.counts(tree, node);
    return seen ? accepted / seen : 0;
  }
}
