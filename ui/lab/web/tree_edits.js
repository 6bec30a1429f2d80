/* A tree drawn by hand: adding and taking away nodes, and the way back. Pure but for its own past. */
import * as planner from "./planner.js";

const PAST = 200;

export class TreeEdits {
  constructor() {
    this.past = [];
  }

  /** `parents` with a last child below `node`, or a RangeError where the budget or the level cap forbids it. */
  add(parents, node, budget, cap) {
    if (parents.length >= budget)
      throw new RangeError(
        `the budget is ${budget} nodes and all are in use; take some away or raise it`,
      );
    if (cap !== null && planner.depthsOf(parents)[node] + 2 > cap)
      throw new RangeError(
        `a child here would stand on level ${planner.depthsOf(parents)[node] + 2}; the cap is ${cap}`,
      );
    this.keep(parents);
    return [...parents, node];
  }

  /** `parents` without `node` and all below it; the root stays. */
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

  /** Another whole tree in its place. */
  replace(parents, next) {
    this.keep(parents);
    return next.slice();
  }

  undo(parents) {
    return this.past.pop() || parents;
  }

  keep(parents) {
    this.past.push(parents);
    if (this.past.length > PAST) this.past.shift();
  }
}
