/* One step seen as a picture needs it: the state of every node, its trial, and the target's own token. Pure. */
import { visible } from "../../shared/web/format.js";

/**
 * `step` and `topo` in, a frozen reading out. States: root, accepted, rejected, untested (a sibling at which the walk
 * stood but did not try), never (the walk did not come there). kind: bonus, correction, or none (the run ended in the path).
 */
export function viewStep(step, topo, pieces, meta) {
  const path = step.path || [0];
  const trials = (step.trials || []).map(([node, p, q, u, accepted, mass]) => ({
    node,
    p,
    q,
    u,
    accepted,
    mass,
  }));
  const byNode = new Map(trials.map((trial) => [trial.node, trial]));
  const state = states(topo, path, trials);
  const last = path[path.length - 1];
  const whole = (step.emitted || []).length >= path.length;
  const kind = !whole ? "none" : topo.children[last].length ? "correction" : "bonus";
  const piece = (id) => pieces.get(String(id)) ?? "[" + id + "]";
  const policy = (meta && meta.policy) || {};
  const seconds = step.seconds || {};
  return {
    i: step.i,
    step,
    topo,
    path,
    trials,
    state,
    kind,
    greedy: policy.temperature === 0,
    matched: trials.length > 0 && trials[0].u === null,
    trial: (node) => byNode.get(node),
    piece: (node) => (node === "bonus" ? piece(step.bonus) : piece(step.tokens[node])),
    label: (node) => visible(node === "bonus" ? piece(step.bonus) : piece(step.tokens[node])),
    id: (node) => (node === "bonus" ? step.bonus : step.tokens[node]),
    q: (node) => step.q?.[node] ?? null,
    p: (node) => step.p?.[node] ?? null,
    stateOf: (node) => (node === "bonus" ? kind : state[node]),
    seconds: (seconds.draft || 0) + (seconds.verify || 0) + (seconds.overhead || 0),
    counts: counted(state, kind),
    // The trial that ended the walk; without any, the target's own token.
    decisive: trials.length ? trials[trials.length - 1].node : kind === "none" ? 0 : "bonus",
  };
}

function states(topo, path, trials) {
  const state = new Array(topo.n).fill("never");
  for (const node of path) for (const child of topo.children[node] || []) state[child] = "untested";
  for (const trial of trials) if (!trial.accepted) state[trial.node] = "rejected";
  for (const node of path) state[node] = "accepted";
  state[0] = "root";
  return state;
}

function counted(state, kind) {
  const counts = {
    accepted: 0,
    rejected: 0,
    untested: 0,
    never: 0,
    own: kind === "none" ? 0 : 1,
  };
  for (const name of state) if (name !== "root") counts[name]++;
  return counts;
}
