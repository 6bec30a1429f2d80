/* Plain decoding of the same prompt, on the clock of the run. */

/** @import { Meta } from "../../shared/web/run_facts.js" */

const CLOSE = 1e-9; // seconds, by which two times may differ that are the same

/** When each token of plain decoding was there. */
export class PlainClock {
  /** @type {Meta | null} whose plain run `#ends` is of */
  #meta = null;
  /** @type {number[]} */
  #ends = [];

  /** @param {{meta: Meta}} store */
  constructor(store) {
    this.store = store;
  }

  /** @returns {number[]} seconds; empty where it was not run */
  get ends() {
    const { meta } = this.store;
    if (this.#meta !== meta) this.#ends = sums(meta.plain?.seconds ?? []);
    this.#meta = meta;
    return this.#ends;
  }

  /**
   * How many tokens there are by a moment.
   * @param {number} time seconds
   * @returns {number}
   */
  tokens(time) {
    const found = this.ends.findIndex((end) => end > time + CLOSE);
    return found < 0 ? this.ends.length : found;
  }
}

function sums(values) {
  let sum = 0;
  return values.map((value) => {
    sum += value;
    return sum;
  });
}
