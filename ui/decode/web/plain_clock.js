/* How many tokens plain decoding of the same prompt has emitted at a moment of the run's clock. */

/** @import { Meta } from "../../shared/web/run_facts.js" */

const CLOSE = 1e-9; // seconds; times that differ by less are equal

/** When plain decoding emitted each of its tokens. */
export class PlainClock {
  /** @type {Meta | null} the meta from which `#ends` was computed */
  #meta = null;
  /** @type {number[]} */
  #ends = [];

  /** @param {{meta: Meta}} store */
  constructor(store) {
    this.store = store;
  }

  /** @returns {number[]} time of each token in seconds; empty if plain decoding was not timed */
  get ends() {
    const { meta } = this.store;
    if (this.#meta !== meta) this.#ends = sums(meta.plain?.seconds ?? []);
    this.#meta = meta;
    return this.#ends;
  }

  /**
   * How many tokens plain decoding has emitted at a moment.
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
