/* Derives from a step what a picture of it needs, such as the state of every node. Pure. */
import { visible } from "./format.js";
import VERIFIERS from "./verifiers.json" with { type: "json" };

/**
 * @import { Meta } from "./run_facts.js"
 * @import { Topology } from "./tree_layout.js"
 * @import { NodeId } from "./tree_scene.js"
 */

/**
 * A step as the server sends it (`Packer` in sequoia/saved_files/run_file.py).
 * @typedef {object} Step
 * @property {number} i index of the step in its run
 * @property {number} tree index of its tree among the trees of the run
 * @property {number[]} tokens token id of each node
 * @property {(number | null)[]} [q] draft probability of each node
 * @property {(number | null)[]} [p] target probability of each node
 * @property {TrialRow[]} [trials]
 * @property {number[]} path accepted nodes, including the root
 * @property {number} bonus id of the token from the target
 * @property {number[]} emitted ids of the emitted tokens
 * @property {string[]} [text] text of each emitted token
 * @property {{draft?: number, verify?: number, overhead?: number}} [seconds]
 * @property {string | null} [finish] why the run ended, if this is its last step
 * @property {number[]} [level_seconds] seconds of each draft pass
 * @property {(number | undefined)[]} [entered] only in the toy examples of the Walk view: for each
 *   trial, the probability of accepting the path down to its node, when the walk reached that node;
 *   undefined unless the step was verified from the leaves
 * @property {ResidualRow[]} [residuals] one for each trial, and one for the token from the target
 */

/**
 * The fields of a Trial.
 * @typedef {[number, number, number, number | null, boolean, number | null]} TrialRow
 */

/** @typedef {[number[], number[], number[]?]} ResidualRow the fields of a Residual */

/**
 * p and q at one moment of the walk. With top-k match, these are the original p and q; otherwise,
 * they are the residual ones after the rejections so far. The first token is the one that was tried
 * or added. The toy examples of the Walk view have all tokens. A run has only a few of the most
 * probable others, so p and q need not sum to 1.
 * @typedef {object} Residual
 * @property {number[]} tokens ids
 * @property {number[]} p
 * @property {number[]} [q] missing where the target adds a token, because that depends on p only
 */

/**
 * The trial of one node. p and q are the residual probabilities of its token at that moment; with
 * top-k match, they are the original ones. If the step was verified from the leaves, p is the
 * probability of accepting the whole path, and q is 1.
 * @typedef {object} Trial
 * @property {number} node
 * @property {number} p
 * @property {number} q
 * @property {number | null} u the draw; null if there was none
 * @property {boolean} accepted
 * @property {number | null} mass residual mass after a rejection; null otherwise, and with
 *   top-k match
 */

/**
 * A step, prepared for a picture. The states of its nodes are root, accepted, rejected, untested
 * (not tried, but its parent was accepted or is the root) and never (all others).
 * @typedef {object} StepView
 * @property {number} i
 * @property {Step} step
 * @property {Topology} topo
 * @property {number[]} path
 * @property {Trial[]} trials
 * @property {Residual[]} residuals one for each trial, then one for the token from the target;
 *   empty if they were not recorded
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
 * @property {Record<string, number>} counts number of nodes by state; own: 1 if the target added a
 *   token, else 0
 * @property {NodeId} decisive the last node tried; if none was, "bonus", or the root if there is no
 *   token from the target either
 */

/**
 * The time of a whole step in seconds.
 * @param {Step} step
 * @returns {number}
 */
export function secondsOf({ seconds = {} }) {
  const { draft = 0, verify = 0, overhead = 0 } = seconds || {};
  return draft + verify + overhead;
}

/**
 * How many of a step's emitted tokens come from the draft.
 * @param {Step} step
 * @returns {number}
 */
export const draftedOf = ({ emitted, path }) => Math.min(emitted.length, path.length - 1);

/**
 * Prepare a step for a picture.
 * @param {Step} step
 * @param {Topology} topo
 * @param {Map<string, string>} pieces text of each token, by its id
 * @param {Meta} [meta]
 * @returns {StepView}
 */
export function viewStep(step, topo, pieces, meta) {
  const path = step.path || [0];
  const trials = (step.trials || []).map(trialOf);
  const byNode = new Map(trials.map((trial) => [trial.node, trial]));
  const state = statesOf(topo, path, trials);
  const kind = kindOf(step, topo, path);
  const idOf = (node) => (node === "bonus" ? step.bonus : step.tokens[node]);
  const textOf = (id) => pieces.get(String(id)) ?? "[" + id + "]";
  const piece = (node) => textOf(idOf(node));
  const fromTarget = kind === "none" ? 0 : "bonus";
  return {
    i: step.i,
    step,
    topo,
    path,
    trials,
    residuals: (step.residuals || []).map(([tokens, p, q]) => ({ tokens, p, q })),
    state,
    kind,
    greedy: meta?.policy?.temperature === 0,
    matched: trials.length > 0 && trials[0].u === null,
    fromLeaves: VERIFIERS[meta?.verifier]?.fromLeaves ?? false,
    keepsQ: VERIFIERS[meta?.verifier]?.keepsQ ?? false,
    trial: (node) => byNode.get(node),
    textOf,
    piece,
    label: (node) => visible(piece(node)),
    id: idOf,
    q: (node) => step.q?.[node] ?? null,
    p: (node) => step.p?.[node] ?? null,
    stateOf: (node) => (node === "bonus" ? kind : state[node]),
    seconds: secondsOf(step),
    counts: countStates(state, kind),
    decisive: trials.length ? trials.at(-1).node : fromTarget,
  };
}

/** @type {(row: TrialRow) => Trial} */
const trialOf = ([node, p, q, u, accepted, mass]) => ({ node, p, q, u, accepted, mass });

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

function countStates(state, kind) {
  /** @type {Record<string, number>} */
  const counts = { accepted: 0, rejected: 0, untested: 0, never: 0, root: 0 };
  for (const name of state) counts[name]++;
  return { ...counts, own: kind === "none" ? 0 : 1 };
}
