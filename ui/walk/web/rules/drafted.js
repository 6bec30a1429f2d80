/* The guesses of one step. The children of a node are drawn when they are first needed. */

/** @import { Topology } from "../../../shared/web/tree_layout.js" */

/** A tree and the tokens of its nodes. */
export class Drafted {
  /**
   * @param {Topology} topo
   * @param {(count: number) => number[]} draw returns the tokens of `count` siblings
   * @param {number} root token of the root
   */
  constructor(topo, draw, root) {
    this.topo = topo;
    this.draw = draw;
    /** @type {number[]} by node; undefined until drawn */
    this.tokens = [root];
  }

  /**
   * The children of a node. Their tokens are drawn if they are not known yet.
   * @param {number} node
   * @returns {number[]}
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
