/* Captions for the pictures of a step in slow motion: a few sentences about what happens. */
import { apart, count } from "./format.js";
import { draftedOf } from "./step_view.js";

/** @import { StepView, Trial } from "./step_view.js" */

// By rank; the first child has rank 0.
const ORDINALS = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh"];

// The text of a token in quotes. A line break with indentation is described in words instead.
function quoted(step, node) {
  const label = step.label(node);
  const spaces = /^⏎(·+)$/.exec(label)?.[1].length;
  return spaces ? `a new line with ${count(spaces, "space")}` : `“${label}”`;
}

const capital = (sentence) => sentence[0].toUpperCase() + sentence.slice(1);

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
  return `The large model checks all ${topo.n - 1} guesses in one pass.`;
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
export function trial(step, i) {
  const one = step.trials[i];
  const words = one.accepted ? kept(step, one) : dropped(step, one) + " " + afterwards(step, i);
  return capital(words);
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
  return `The large model finds ${word} at least as likely as the small one does, so it is accepted.`;
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
  return `${path} is accepted with probability ${chance}. The draw u = ${u} is below that, so the path is accepted.`;
}

function pathDropped(step, one) {
  const path = `the path down to ${quoted(step, one.node)}`;
  if (step.greedy) return `${path} is not what the large model writes.`;
  if (one.p === 0) return `${path} is accepted with probability 0, so it is rejected.`;
  const [u, chance] = apart(one.u, one.p);
  return `${path} is accepted with probability ${chance}. The draw u = ${u} is not below that, so the path is rejected.`;
}

function afterwards(step, i) {
  const { topo, trials } = step;
  if (step.fromLeaves)
    return i + 1 < trials.length ? "The next path is tried." : "No path is left.";
  const next = trials[i + 1];
  const hasNext = next && topo.parents[next.node] === topo.parents[trials[i].node];
  if (!hasNext) return "There is no other guess to try in its place.";
  if (chainEnd(step) !== i) return "The next guess is tried.";
  const words = `A chain, with one guess per position, would end its step here with ${count(i + 1, "token")} in all.`;
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
  const total = count(emitted.length, "token") + " from one step.";
  if (step.topo.n === 1) return `${total} There was no guess: the large model wrote its own token.`;
  if (!stayed)
    return `${total} No guess was accepted: the large model wrote its own token, as it would alone.`;
  const own = emitted.length > stayed ? "; the large model added a token of its own." : ".";
  const guesses = count(stayed, "guess was", "guesses were") + " accepted";
  return [total, guesses + own, side(step), ending(step)].filter(Boolean).join(" ");
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
  return `A chain would have ended at the rejected ${rejected}. ${saved}: ${gain}.`;
}

function ending({ step }) {
  if (step.finish === "eos") return "The text ends here.";
  if (step.finish === "length") return "The run ends here, at its token limit.";
  return "";
}
