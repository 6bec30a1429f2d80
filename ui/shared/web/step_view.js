/* Derives from a step what a picture of it needs, such as the state of every node. Pure. */
import { visible } from "./format.js";
import { topology } from "./tree_layout.js";
import VERIFIERS from "./verifiers.json" with { type: "json" };

/**
 * @import { Meta } from "./run_facts.js"
 * @import { Topology } from "./tree_layout.js"
 * @import { NodeId } from "./tree_layout.js"
 */

/**
 * A step as the server sends it (StepTrace in sequoia/algorithm/step_trace.py). Fields that have
 * their default value are missing. In the examples of the Walk view, the residual heads have all
 * tokens, not only a few. For a step verified from the leaves, they have `entered`: for each trial,
 * the probability of accepting the path down to its node, when the walk reached that node.
 * @typedef {import("./schema.js").Trial} Trial
 * @typedef {import("./schema.js").ResidualHead} ResidualHead
 * @typedef {Partial<import("./schema.js").StepTrace> & Pick<import("./schema.js").StepTrace,
 *   "tree" | "tokens" | "verdict" | "emitted"> & {entered?: (number | undefined)[]}} Step
 */

/**
 * A step, prepared for a picture. The states of its nodes are root, accepted, rejected, untested
 * (not tried, but its parent was accepted or is the root) and never (all others).
 * @typedef {object} StepView
 * @property {number} index
 * @property {Step} step
 * @property {Topology} topo
 * @property {number[]} path
 * @property {Trial[]} trials
 * @property {ResidualHead[]} residualHeads one for each trial, then one for the token from the
 *   target; empty if they were not recorded
 * @property {string[]} state of each node
 * @property {"bonus" | "correction" | "none"} kind of the token from the target; "none" if the run
 *   ended before that token was emitted
 * @property {boolean} greedy whether the temperature is 0
 * @property {boolean} matched whether the step was verified by top-k match, which compares the
 *   children with a token sampled from the target; false if no node was tried
 * @property {boolean} fromLeaves whether whole paths were tried, from the leaves to the root
 * @property {boolean} keepsQ whether the draft's probabilities stay the same after a rejection
 * @property {(node: number) => Trial | undefined} trial
 * @property {(id: number) => string} textOf the text of a token id
 * @property {(node: NodeId) => string} piece the text of a node's token
 * @property {(node: NodeId) => string} label that text with invisible characters made visible
 * @property {(node: NodeId) => number} id the token id of a node
 * @property {(node: number) => number | null} q
 * @property {(node: number) => number | null} p
 * @property {(node: NodeId) => string} stateOf
 * @property {number} seconds time of the whole step
 * @property {NodeId} decisive the last node tried; if none was, "bonus", or the root if there is no
 *   token from the target either
 */

/**
 * The time of a whole step in seconds.
 * @param {Step} step
 * @returns {number}
 */
export function secondsOf({ seconds }) {
  const { draft = 0, verify = 0, overhead = 0 } = seconds ?? {};
  return draft + verify + overhead;
}

/**
 * How many of a step's emitted tokens come from the draft.
 * @param {Step} step
 * @returns {number}
 */
export const draftedOf = ({ emitted, verdict: { path } }) =>
  Math.min(emitted.length, path.length - 1);

/**
 * Prepare a step of a recorded run for a picture.
 * @param {{meta: Meta, trees: number[][], pieces: Record<string, string>, steps: Step[]}} run
 * @param {number} i index of the step
 * @returns {StepView}
 */
export function recordedStep({ meta, trees, pieces, steps }, i) {
  const step = steps[i];
  return viewStep(step, topology(trees[step.tree]), new Map(Object.entries(pieces)), meta);
}

/**
 * Prepare a step for a picture.
 * @param {Step} step
 * @param {Topology} topo
 * @param {Map<string, string>} pieces text of each token, by its id
 * @param {Meta} [meta]
 * @returns {StepView}
 */
export function viewStep(step, topo, pieces, meta) {
  const { path, trials } = step.verdict;
  const byNode = new Map(trials.map((trial) => [trial.node, trial]));
  const state = statesOf(topo, path, trials);
  const kind = kindOf(step, topo, path);
  const idOf = (node) => (node === "bonus" ? step.verdict.bonus : step.tokens[node]);
  const textOf = (id) => pieces.get(String(id)) ?? "[" + id + "]";
  const piece = (node) => textOf(idOf(node));
  const fromTarget = kind === "none" ? 0 : "bonus";
  return {
    index: step.index ?? 0,
    step,
    topo,
    path,
    trials,
    residualHeads: step.residual_heads ?? [],
    state,
    kind,
    greedy: meta?.params?.temperature === 0,
    matched: trials.length > 0 && trials[0].u === null,
    fromLeaves: VERIFIERS[meta?.verifier]?.fromLeaves ?? false,
    keepsQ: VERIFIERS[meta?.verifier]?.keepsQ ?? false,
    trial: (node) => byNode.get(node),
    textOf,
    piece,
    label: (node) => visible(piece(node)),
    id: idOf,
    q: (node) => step.draft_p?.[node] ?? null,
    p: (node) => step.target_p?.[node] ?? null,
    stateOf: (node) => (node === "bonus" ? kind : state[node]),
    seconds: secondsOf(step),
    decisive: trials.length ? trials.at(-1).node : fromTarget,
  };
}

/** @type {(step: Step, topo: Topology, path: number[]) => StepView["kind"]} */
function kindOf({ emitted = [] }, topo, path) {
  if (emitted.length < path.length) return "none";
  return topo.children[path.at(-1)].length ? "correction" : "bonus";
}

function statesOf(topo, path, trials) {
  const state = new Array(topo.n).fill("never");
  for (const node of path) for (const child of topo.children[node] || []) state[child] = "untested";
  for (const trial of trials) if (!trial.accepted) state[trial.node] = "rejected";
  for (const node of path) state[node] = "accepted";
  state[0] = "root";
  return state;
}
