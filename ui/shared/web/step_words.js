/* Plain sentences about a step and its nodes, and the captions of its pictures in slow motion. */
import { apart, capital, count, percent } from "./format.js";
import { draftedOf } from "./step_view.js";

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
  bonus: "bonus, from the large model",
  correction: "correction, from the large model",
};

const WHAT_IS_LEFT =
  "What comes next depends on the rest: the large model’s probabilities minus the small " +
  "model’s (never below " +
  "0), rescaled to sum to 1.";

const token = (view, node) => "“" + view.label(node) + "”";

/**
 * What is known of a node that the picture has not decided yet.
 * @param {StepView} view
 * @param {NodeId} node
 * @returns {string}
 */
export const undecided = (view, node) =>
  node === "bonus"
    ? ""
    : `The small model gives it the probability q = ${percent(view.q(node))}. It is not tried yet.`;

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
  if (!before) return `The large model gives this token p = ${p}, the small model q = ${q}.`;
  return (
    `${before === 1 ? "A sibling was" : "Siblings were"} rejected before. In what is left of the ` +
    `large model’s distribution (the residual), this token has p = ${p}; the small model ` +
    `${view.keepsQ ? "still" : "now"} gives it q = ${q}.`
  );
}

// What the walk compared, and what follows from it.
/** @type {(view: StepView, trial: Trial) => string} */
function decided(view, trial) {
  const said = decision(view, trial);
  if (view.fromLeaves || view.greedy || trial.u === null) return said;
  const rest = trial.accepted || trial.p === 0 ? "" : " " + WHAT_IS_LEFT;
  return `${odds(view, trial)} ${said}${rest}`;
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
  if (topo.n === 1) return "Nothing was drafted, as in plain decoding.";
  return path.length === topo.levels
    ? "All drafted levels were accepted: the large model adds one token for free."
    : "The accepted path ends at a leaf of the tree: the large model adds one token for free.";
}

function correction({ topo, path, matched, greedy }) {
  const children = topo.children[path.at(-1)].length;
  const none =
    children === 1 ? "The only child was not the " : `None of the ${children} children was the `;
  if (matched)
    return none + "token that the large model sampled, so the large model emits that token.";
  if (greedy)
    return none + "large model’s most probable token, so the large model emits that token.";
  const all = ["", "The only child was", "Both children were"][children];
  return (
    (all || `All ${children} children were`) +
    " rejected: the large model corrects with a token from the residual distribution."
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
      return "The last token known before this step. The small model’s guesses continue from it.";
    case "accepted":
    case "rejected":
      return trial ? decided(view, trial) : "On the accepted path.";
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
export function stepLine({ topo, trials, path, kind }) {
  if (topo.n === 1) return "Nothing drafted; the large model decoded one token.";
  const drafted = count(topo.n - 1, "token");
  const end =
    kind === "none"
      ? "; the run ended before the large model’s own token."
      : ", plus one from the large model.";
  return `${drafted} drafted, ${trials.length} tried, ${path.length - 1} accepted${end}`;
}

// By rank; the first child has rank 0.
const ORDINALS = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh"];

// The text of a token in quotes. A line break with indentation is described in words instead.
function quoted(step, node) {
  const label = step.label(node);
  const spaces = /^⏎(·+)$/.exec(label)?.[1].length;
  return spaces ? `a new line with ${count(spaces, "space")}` : `“${label}”`;
}

/**
 * The caption once the draft has added a level.
 * @param {StepView} step
 * @param {number} level that was added; the first below the root is 1
 * @returns {string}
 */
export function guess({ topo }, level) {
  const { levels, depth, n } = topo;
  const here = depth.filter((one) => one > 0 && one <= level).length;
  if (level === levels - 1) {
    if (levels === 2) return `The small model has guessed ${count(n - 1, "token")}.`;
    if (n === levels) return `The small model has guessed ${n - 1} tokens, one after another.`;
    return `The small model has guessed ${count(n - 1, "token")}, up to ${levels - 1} in a row.`;
  }
  if (level === 1) return "The small model guesses what may come next.";
  return `The small model continues these guesses: ${count(here, "token")} so far.`;
}

/**
 * The caption while the target checks all nodes.
 * @param {StepView} step
 * @returns {string}
 */
export function check({ topo }) {
  if (topo.n === 1) return "The large model runs alone.";
  if (topo.n === 2) return "The large model checks the guess.";
  return (
    `The large model checks all ${topo.n - 1} guesses in one pass (with the root, ${topo.n} ` +
    "nodes)."
  );
}

/**
 * Index of the trial at which a chain of first children would have ended, while the tree had
 * another guess to try. -1 if there is no such trial. A step verified from the leaves never has
 * one.
 * @param {StepView} step
 * @returns {number}
 */
export function chainEnd({ topo, trials, fromLeaves }) {
  if (fromLeaves) return -1;
  const at = trials.findIndex(({ accepted }) => !accepted);
  if (at < 0 || at === trials.length - 1) return -1;
  const isSibling = topo.parents[trials[at + 1].node] === topo.parents[trials[at].node];
  return isSibling ? at : -1;
}

/**
 * The caption once a trial is decided.
 * @param {StepView} step
 * @param {number} i index of the trial
 * @returns {string}
 */
export function trialCaption(step, i) {
  const one = step.trials[i];
  return decision(step, one) + (one.accepted ? "" : " " + afterwards(step, i));
}

/**
 * Why the token of a trial was accepted or rejected.
 * @param {StepView} step
 * @param {Trial} one
 * @returns {string}
 */
export function decision(step, one) {
  return capital(one.accepted ? kept(step, one) : dropped(step, one));
}

function kept(step, one) {
  const word = quoted(step, one.node);
  if (step.fromLeaves) return pathKept(step, one);
  if (one.u === null) return `${word} is the token that the large model drew, so it is accepted.`;
  if (step.greedy) return `${word} is what the large model writes, so it is accepted.`;
  if (one.p >= one.q) return certainlyKept(step, one);
  const [u, ratio] = apart(one.u, one.p / one.q);
  return `The draw u = ${u} is below p/q = ${ratio}, so ${word} is accepted.`;
}

// After a sibling was rejected, p and q are residual probabilities.
function certainlyKept(step, one) {
  const { parents } = step.topo;
  const word = quoted(step, one.node);
  const isRejected = ({ node, accepted }) => !accepted && parents[node] === parents[one.node];
  if (step.trials.some(isRejected))
    return `In the residual after a rejection, p is at least q for ${word}, so it is accepted.`;
  return (
    `The large model finds ${word} at least as likely as the small one does, so it is ` +
    "accepted."
  );
}

function dropped(step, one) {
  const word = quoted(step, one.node);
  if (step.fromLeaves) return pathDropped(step, one);
  if (one.u === null) return `${word} is not the token that the large model drew.`;
  if (step.greedy) return `${word} is not what the large model writes.`;
  if (one.p === 0) return `For ${word}, p is 0, so it is rejected.`;
  const [u, ratio] = apart(one.u, one.q > 0 ? one.p / one.q : 0);
  return `The draw u = ${u} is not below p/q = ${ratio}, so ${word} is rejected.`;
}

// If a step is verified from the leaves, a trial decides about the whole path down to its node.
function pathKept(step, one) {
  const path = `the path down to ${quoted(step, one.node)}`;
  if (step.greedy) return `${path} is what the large model writes, so it is accepted.`;
  if (one.p >= 1) return `${path} is certain to be accepted.`;
  const [u, chance] = apart(one.u, one.p);
  return (
    `${path} is accepted with probability ${chance}. The draw u = ${u} is below that, so the ` +
    "path is accepted."
  );
}

function pathDropped(step, one) {
  const path = `the path down to ${quoted(step, one.node)}`;
  if (step.greedy) return `${path} is not what the large model writes.`;
  if (one.p === 0) return `${path} is accepted with probability 0, so it is rejected.`;
  const [u, chance] = apart(one.u, one.p);
  return (
    `${path} is accepted with probability ${chance}. The draw u = ${u} is not below that, so ` +
    "the path is rejected."
  );
}

function afterwards(step, i) {
  const { topo, trials } = step;
  if (step.fromLeaves)
    return i + 1 < trials.length ? "The next path is tried." : "No path is left.";
  const next = trials[i + 1];
  const hasNext = next && topo.parents[next.node] === topo.parents[trials[i].node];
  if (!hasNext) return "There is no other guess to try in its place.";
  if (chainEnd(step) !== i) return "The next guess is tried.";
  const words =
    "A chain, with one guess per position, would end its step here with " +
    `${count(i + 1, "token")} in all.`;
  return `${words} The tree has another guess to try.`;
}

/**
 * The caption of the result.
 * @param {StepView} step
 * @returns {string}
 */
export function result(step) {
  const { emitted } = step.step;
  const stayed = draftedOf(step.step);
  const total = count(emitted.length, "token") + " from one step";
  if (step.topo.n === 1) return `${total}. No guess: the large model wrote its own.`;
  if (!stayed)
    return (
      `${total}. No guess was accepted: the large model wrote its own token, as it would ` +
      "alone."
    );
  const own = emitted.length > stayed ? " and the large model’s own." : ".";
  const guesses = count(stayed, "accepted guess", "accepted guesses");
  return [`${total}: ${guesses}${own}`, side(step), ending(step)].filter(Boolean).join(" ");
}

// A sentence about what the tree gained over a chain of first children; "" if nothing.
function side(step) {
  const at = chainEnd(step);
  if (at < 0) return "";
  const gained = step.step.emitted.length - (at + 1);
  const child = step.trials.slice(at).find(({ accepted }) => accepted);
  if (!child || gained < 1) return "";
  const rank = step.topo.rank[child.node];
  const name = ORDINALS[rank] ? `a ${ORDINALS[rank]} guess` : `guess number ${rank + 1}`;
  const rejected = quoted(step, step.trials[at].node);
  const saved = `The tree had ${name} there, ${quoted(step, child.node)}`;
  const gain = `${count(gained, "token")} more`;
  return `A chain would have ended at ${rejected}, which was rejected. ${saved}: ${gain}.`;
}

function ending({ step }) {
  if (step.finish === "eos") return "The text ends here.";
  if (step.finish === "length") return "The run ends here, at its token limit.";
  return "";
}
