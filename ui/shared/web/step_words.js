/* Plain sentences about a step, about its nodes, and about a run that has ended or paused. */
import { apart, count, ms, percent, short } from "./format.js";
import { finished, sourced } from "./run_words.js";

/**
 * @import { StepView, Trial } from "./step_view.js"
 * @import { NodeId } from "./tree_layout.js"
 */

/** @type {Record<string, string>} the states of nodes in words */
export const states = {
  root: "last token so far",
  accepted: "accepted",
  rejected: "rejected",
  untested: "not tried",
  never: "out of reach",
  bonus: "bonus, from the target",
  correction: "correction, from the target",
};

const token = (view, node) => "“" + view.label(node) + "”";

/**
 * p/q of a trial. Its token is accepted if the draw u is below p/q.
 * @param {Trial} trial
 * @returns {number} may be over 1, or Infinity
 */
export const acceptanceRatio = ({ p, q }) => (q > 0 ? p / q : p > 0 ? Infinity : 0);

/**
 * The token of a node with its depth and state, for a screen reader.
 * @param {StepView} view
 * @param {NodeId} node
 * @returns {string}
 */
export function spokenNode(view, node) {
  const depth = node === "bonus" || !node ? "" : ", guess " + view.topo.depth[node];
  return `${view.label(node)}${depth}, ${states[view.stateOf(node)]}`;
}

/** @type {(view: StepView, trial: Trial) => number} how many siblings were rejected before it */
function rejectedBefore({ topo, trials }, { node }) {
  const siblings = trials.filter((trial) => topo.parents[trial.node] === topo.parents[node]);
  return siblings.findIndex((trial) => trial.node === node);
}

/**
 * Whether a trial compared residual probabilities, because a sibling was rejected before it. Top-k
 * match has none. Not for steps verified from the leaves.
 * @param {StepView} view
 * @param {Trial} trial
 * @returns {boolean}
 */
export const isResidual = (view, trial) => !view.matched && rejectedBefore(view, trial) > 0;

/** @type {(view: StepView, trial: Trial) => string} the probabilities that the trial compared */
function odds(view, trial) {
  const [p, q] = [percent(trial.p, 1), percent(trial.q, 1)];
  const before = rejectedBefore(view, trial);
  if (!before) return `The target gives this token p = ${p}, the draft q = ${q}.`;
  return (
    `${before === 1 ? "A sibling was" : "Siblings were"} rejected before. In what is left of the ` +
    `target’s distribution (the residual), this token has p = ${p}; the draft ` +
    `${view.keepsQ ? "still" : "now"} gives it q = ${q}.`
  );
}

// If a step is verified from the leaves, a trial accepts or rejects the whole path to its node.
function pathOdds(view, { p, u }, isTaken) {
  const chance = `The whole path down to here is accepted with probability ${percent(p, 1)}.`;
  if (p >= 1 || p === 0) return chance;
  const [draw, bound] = apart(u, p);
  const drawn = `${chance} The random number u = ${draw} is`;
  if (isTaken) return `${drawn} below ${bound}, so the path is accepted.`;
  return `${drawn} above ${bound}, so the path ends higher up, or another path is tried.`;
}

function accepted(view, trial) {
  if (view.fromLeaves) return pathOdds(view, trial, true);
  if (trial.u === null) return "The target sampled this very token, so it is accepted.";
  if (view.greedy) return "This is the target’s most probable token, so it is accepted.";
  const ratio = acceptanceRatio(trial);
  if (ratio >= 1) return odds(view, trial) + " Since p ≥ q, it is always accepted.";
  const [u, bound] = apart(trial.u, ratio);
  return `${odds(view, trial)} The random number u = ${u} is below p/q = ${bound}, so the token is accepted.`;
}

function rejected(view, trial) {
  if (view.fromLeaves) return pathOdds(view, trial, false);
  if (trial.u === null) return "The target sampled another token, so this one is rejected.";
  if (view.greedy)
    return "At temperature 0 only the target’s most probable token is accepted, and this is not it.";
  if (trial.p === 0) return odds(view, trial) + " Since p = 0, it is always rejected.";
  const [u, bound] = apart(trial.u, acceptanceRatio(trial));
  return (
    `${odds(view, trial)} The random number u = ${u} is above p/q = ${bound}, so the token is ` +
    "rejected. What comes next depends on the rest: the target’s probabilities minus the draft’s " +
    "(never below 0), rescaled to sum to 1."
  );
}

function untested(view, node) {
  const parent = view.topo.parents[node];
  const taken = view.topo.children[parent].find((child) => view.state[child] === "accepted");
  if (taken === undefined) return "Not tried: the walk ended earlier.";
  return "Not tried: an earlier sibling, " + token(view, taken) + ", was accepted.";
}

// The reason is the nearest ancestor whose state is not "never".
function outOfReach(view, node) {
  const { parents } = view.topo;
  let above = parents[node];
  while (above > 0 && view.state[above] === "never") above = parents[above];
  const where = above === parents[node] ? "its parent " : "its ancestor ";
  const isRejected = view.state[above] === "rejected";
  const reason = isRejected ? " was rejected." : " was not tried: an earlier sibling was accepted.";
  return "Out of reach: " + where + token(view, above) + reason;
}

function bonus({ topo, path }) {
  if (topo.n === 1)
    return "Nothing was drafted: the target decodes this token alone, as in plain decoding.";
  return path.length === topo.levels
    ? "All drafted levels were accepted: the target adds one token for free."
    : "The accepted path ends at a leaf of the tree: the target adds one token for free.";
}

function correction({ topo, path, matched, greedy }) {
  const children = topo.children[path.at(-1)].length;
  const none =
    children === 1 ? "The only child was not the " : `None of the ${children} children was the `;
  if (matched) return none + "token that the target sampled, so the target emits that token.";
  if (greedy) return none + "target’s most probable token, so the target emits that token.";
  const all = ["", "The only child was", "Both children were"][children];
  return (
    (all || `All ${children} children were`) +
    " rejected: the target corrects with a token from the residual distribution."
  );
}

/**
 * Why a node has the state it has.
 * @param {StepView} view
 * @param {NodeId} node
 * @returns {string}
 */
export function why(view, node) {
  if (node === "bonus") return view.kind === "bonus" ? bonus(view) : correction(view);
  const trial = view.trial(node);
  switch (view.state[node]) {
    case "root":
      return "The last token known before this step. The draft’s guesses continue from it.";
    case "accepted":
      return trial ? accepted(view, trial) : "On the accepted path.";
    case "rejected":
      return rejected(view, trial);
    case "untested":
      return untested(view, node);
    default:
      return outOfReach(view, node);
  }
}

/**
 * A step in one line: how many tokens were drafted, tried and accepted.
 * @param {StepView} view
 * @returns {string}
 */
export function step({ topo, trials, path, kind }) {
  if (topo.n === 1) return "Nothing drafted; the target decoded one token.";
  const drafted = count(topo.n - 1, "token");
  const end =
    kind === "none"
      ? "; the run ended before the target’s own token."
      : ", plus one from the target.";
  return `${drafted} drafted, ${trials.length} tried, ${path.length - 1} accepted${end}`;
}

/**
 * The summary that screen readers announce when a run ends or pauses.
 * @param {{tokens: number, steps: number, tokensPerStep: number, seconds: number}} totals
 * @param {string} end why it ended or paused: a key of ENDS in run_words.js
 * @param {string} word the source of the times, such as "measured"
 * @returns {string}
 */
export function summary({ tokens, steps, tokensPerStep, seconds }, end, word) {
  const ended = `Run ${finished(end)}: `;
  const made = `${count(tokens, "token")} in ${count(steps, "step")}`;
  const time = sourced(ms(seconds), word);
  return `${ended}${made}, ${short(tokensPerStep)} tokens per step, ${time} in total.`;
}
