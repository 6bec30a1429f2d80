/* The verifiers of the toy: how children are drawn, and how they are verified. */
import { independent, likeliest, withoutReplacement } from "./chance.js";
import { match, rejectKeeping, rejectOut, walk } from "./top_down.js";
import { traverse } from "./traversal.js";

/**
 * @import { Chance } from "./chance.js"
 * @import { Drafted } from "./drafted.js"
 * @import { Verdict } from "./top_down.js"
 */

/**
 * @typedef {{p: number[], q: number[]}} Models
 * @typedef {(drafted: Drafted, models: Models, chance: Chance) => Verdict} Verify
 */

/**
 * @typedef {object} Verifier
 * @property {string} key that of sequoia/algorithm/verifiers; "chain" is Sequoia's with one child
 * @property {string} label
 * @property {(chance: Chance, q: number[], count: number) => number[]} draw tokens of siblings
 * @property {Verify} verify
 * @property {boolean} [fromLeaves]
 */

const sequoia = (drafted, models, chance) => walk(drafted, models, chance, rejectOut);
const specinfer = (drafted, models, chance) => walk(drafted, models, chance, rejectKeeping);
const topDraw = (_, q, count) => likeliest(q, count);

/** @type {Verifier[]} */
export const VERIFIERS = [
  { key: "sequoia", label: "Sequoia", draw: withoutReplacement, verify: sequoia },
  { key: "specinfer", label: "SpecInfer", draw: independent, verify: specinfer },
  { key: "topk", label: "Top-k match", draw: topDraw, verify: match },
  { key: "chain", label: "Single chain", draw: withoutReplacement, verify: sequoia },
  {
    key: "traversal",
    label: "Traversal",
    draw: withoutReplacement,
    verify: traverse,
    fromLeaves: true,
  },
];

/** @type {(key: string) => Verifier | undefined} */
export const verifierNamed = (key) => VERIFIERS.find((one) => one.key === key);
