/* How many tokens plain decoding of a run's prompt has emitted by a given time. */

/** @import { Meta } from "../../shared/web/run_facts.js" */

const CLOSE = 1e-9; // seconds; times that differ by less count as equal

/** When plain decoding emitted each of its tokens. */
export class PlainClock {
  /** @type {Meta | null} the meta from which `#ends` was computed */
  #meta = null;
  /** @type {number[]} the cached value of `ends` */
  #ends = [];

  /** @param {{meta: Meta}} store */
  constructor(store) {
    this.store = store;
  }

  /**
   * @returns {number[]} seconds from the start of plain decoding to each of its tokens; empty if
   *   the times of its tokens are not known
   */
  get ends() {
    const { meta } = this.store;
    if (this.#meta !== meta) this.#ends = runningSums(meta.plain?.seconds ?? []);
    this.#meta = meta;
    return this.#ends;
  }

  /**
   * How many tokens plain decoding has emitted by a moment.
   * @param {number} time seconds from the start of plain decoding
   * @returns {number}
   */
  tokens(time) {
    const found = this.ends.findIndex((end) => end > time + CLOSE);
    return found < 0 ? this.ends.length : found;
  }
}

function runningSums(values) {
  let sum = 0;
  return values.map((value) => {
    sum += value;
    return sum;
  });
}
