/* How much of a text stood in it before: what loops is easy to draft, and flatters every speculative decoder. Pure. */
import * as format from "./format.js";

const GRAM = 8; // tokens that have to come again in a row to count as a repeat
const LOOPS = 0.1;
const LEAST = 16; // share of repeated 8-grams from which a text is said to repeat itself, and 8-grams it has to have

/** Counts over a text as it grows, as `repetition` of sequoia/trace.py: 8-grams, and how many of them stood in it before. */
export class Repeats {
  constructor() {
    Object.assign(this, { recent: [], known: new Set(), grams: 0, repeats: 0 });
  }

  /** Tokens that follow, as ids or texts; answers the counts. */
  add(tokens) {
    for (const token of tokens) {
      this.recent = [...this.recent, token].slice(-GRAM);
      if (this.recent.length < GRAM) continue;
      const gram = JSON.stringify(this.recent);
      this.grams += 1;
      this.repeats += this.known.has(gram) ? 1 : 0;
      this.known.add(gram);
    }
    return { grams: this.grams, repeats: this.repeats };
  }
}

/** What is said of such counts; "" where there is little to say. */
export const repeatsInWords = ({ grams, repeats }) =>
  grams >= LEAST && repeats / grams >= LOOPS
    ? `repeats itself (${format.percent(repeats / grams)} of its 8-grams), which is easier to draft`
    : "";
