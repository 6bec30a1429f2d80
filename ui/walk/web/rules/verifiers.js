/* The verifiers that a toy (see ../toy.js) can have. Each has a way to draw children and a way to
   verify them. */
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
 * @property {string} key as in sequoia/algorithm/verifiers; "chain" is Sequoia's rule with one
 *   child per node
 * @property {string} label
 * @property {(chance: Chance, q: number[], count: number) => number[]} draw tokens of siblings
 * @property {import("./limit.js").Drawn} drawn how `draw` works
 * @property {Verify} verify
 * @property {boolean} [fromLeaves] whether it tests whole paths, from the leaves up
 */

const sequoia = (drafted, models, chance) => walk(drafted, models, chance, rejectOut);
const specinfer = (drafted, models, chance) => walk(drafted, models, chance, rejectKeeping);

const DISTINCT = { draw: withoutReplacement, drawn: /** @type {const} */ ("distinct") };
const INDEPENDENT = { draw: independent, drawn: /** @type {const} */ ("independent") };
const TOP = {
  draw: (_, q, count) => likeliest(q, count),
  drawn: /** @type {const} */ ("top"),
};

/** @type {Verifier[]} */
export const VERIFIERS = [
  { key: "sequoia", label: "Sequoia", ...DISTINCT, verify: sequoia },
  { key: "specinfer", label: "SpecInfer", ...INDEPENDENT, verify: specinfer },
  { key: "topk", label: "Top-k match", ...TOP, verify: match },
  { key: "chain", label: "Single chain", ...DISTINCT, verify: sequoia },
  { key: "traversal", label: "Traversal", ...DISTINCT, verify: traverse, fromLeaves: true },
];

/** @type {(key: string) => Verifier | undefined} */
export const verifierNamed = (key) => VERIFIERS.find((one) => one.key === key);
