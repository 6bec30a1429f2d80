/* One step as a picture needs it: the state of every node, its trial, and the token from the
   target. Pure. */
import { visible } from "./format.js";

/**
 * @import { Meta } from "./run_facts.js"
 * @import { Topology } from "./tree_layout.js"
 * @import { NodeId } from "./tree_scene.js"
 */

const FROM_LEAVES = "traversal"; // the verifier that tries whole paths

/**
 * A step as the server sends it (`Packer` in sequoia/saved_files/run_file.py).
 * @typedef {object} Step
 * @property {number} i
 * @property {number} tree index of its tree
 * @property {number[]} tokens of the tree's nodes
 * @property {(number | null)[]} [q] draft probability of each node
 * @property {(number | null)[]} [p] target probability of each node
 * @property {TrialRow[]} [trials]
 * @property {number[]} path accepted nodes, the root included
 * @property {number} bonus the token from the target
 * @property {number[]} emitted tokens
 * @property {string[]} [text] of the emitted tokens
 * @property {{draft?: number, verify?: number, overhead?: number}} [seconds]
 * @property {string | null} [finish] why the run ended with this step
 * @property {number[]} [level_seconds] of each draft pass
 * @property {(number | undefined)[]} [entered] verified from the leaves: for each trial, the
 *   probability of keeping the path before any child of its node was rejected
 * @property {ResidualRow[]} [residuals] at each trial, and where the target adds its token
 */

/** @typedef {[number, number, number, number | null, boolean, number | null]} TrialRow a Trial */

/** @typedef {[number[], number[], number[]?]} ResidualRow a Residual */

/**
 * What was left of p and q at one moment: the token that was tried or added first, then the most
 * probable others. All that is missing to 1 belongs to other tokens.
 * @typedef {object} Residual
 * @property {number[]} tokens ids
 * @property {number[]} p
 * @property {number[]} [q] missing where the target adds its token: only p counts there
 */

/**
 * One token that was tried: p and q are the residual probabilities at that moment. Verified from
 * the leaves, p is the probability with which the whole path is taken, and q is 1.
 * @typedef {object} Trial
 * @property {number} node
 * @property {number} p
 * @property {number} q
 * @property {number | null} u the draw; null where the verifier makes none
 * @property {boolean} accepted
 * @property {number | null} mass residual mass after a rejection
 */

/**
 * States of nodes: root, accepted, rejected, untested (a sibling that the walk reached but did not
 * try), never (the walk did not come there).
 * @typedef {object} StepView
 * @property {number} i
 * @property {Step} step
 * @property {Topology} topo
 * @property {number[]} path
 * @property {Trial[]} trials
 * @property {Residual[]} residuals at each trial, and at last where the target adds its token;
 *   empty where they were not recorded
 * @property {string[]} state of each node
 * @property {"bonus" | "correction" | "none"} kind of the token from the target; none where the run
 *   ended inside the path
 * @property {boolean} greedy whether the temperature is 0
 * @property {boolean} matched whether the verifier compares with a sampled token
 * @property {boolean} fromLeaves whether whole paths were tried, from the leaves to the root
 * @property {(node: number) => Trial | undefined} trial
 * @property {(id: number) => string} textOf a token by its id
 * @property {(node: NodeId) => string} piece a token's text
 * @property {(node: NodeId) => string} label the same with invisible characters made visible
 * @property {(node: NodeId) => number} id of a token
 * @property {(node: number) => number | null} q
 * @property {(node: number) => number | null} p
 * @property {(node: NodeId) => string} stateOf
 * @property {number} seconds of the step
 * @property {Record<string, number>} counts of nodes by state
 * @property {NodeId} decisive the last token tried; without any, the token from the target
 */

/**
 * The time of a step in seconds.
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
 * @param {Step} step
 * @param {Topology} topo
 * @param {Map<string, string>} pieces texts by token id
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
    fromLeaves: meta?.verifier === FROM_LEAVES,
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
