/* The guesses of one step: the children of a node are drawn when they are first asked for. */

/** @import { Topology } from "../../../shared/web/tree_layout.js" */

/** A tree with its tokens. */
export class Drafted {
  /**
   * @param {Topology} topo
   * @param {(count: number) => number[]} draw the tokens of so many siblings
   * @param {number} root token of the root
   */
  constructor(topo, draw, root) {
    this.topo = topo;
    this.draw = draw;
    /** @type {number[]} by node; those not drawn yet are missing */
    this.tokens = [root];
  }

  /**
   * @param {number} node
   * @returns {number[]} its children, whose tokens are now known
   */
  childrenOf(node) {
    const children = this.topo.children[node];
    if (children.length && this.tokens[children[0]] === undefined) {
      const drawn = this.draw(children.length);
      children.forEach((child, i) => (this.tokens[child] = drawn[i]));
    }
    return children;
  }

  /** Draw all guesses, level by level. */
  complete() {
    for (let node = 0; node < this.topo.n; node++) this.childrenOf(node);
  }
}
