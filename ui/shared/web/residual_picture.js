/* The contents of a picture of p and q at one moment of a walk, after the rejections so far. It has
   a row for each of a few tokens, a title and a note. Pure. */
import { percent, visible } from "./format.js";

/**
 * @import { ResidualHead, StepView } from "./step_view.js"
 * @import { NodeId } from "./tree_layout.js"
 */

/**
 * One row: for one token, or for all the tokens that have no row of their own.
 * @typedef {object} ResidualRow
 * @property {string} key
 * @property {string} label
 * @property {number} p
 * @property {number | null} q null if the picture shows only p
 * @property {number} cut the part of p that the rejection removes; 0 without a rejection
 * @property {"accepted" | "rejected" | "dropped" | "drawn" | ""} mark what happened to the token;
 *   "dropped": rejected and also removed from q; "drawn": added by the target
 */

/**
 * @typedef {object} ResidualPicture
 * @property {string} title
 * @property {(ResidualRow | null)[]} rows null: an empty row. `residualPicture` puts the row for
 *   all other tokens last; a caller may sort the rows and drop some
 * @property {string} note what a rejection changes, or what the last token is drawn from; may be
 *   empty
 */

const PLACES = 5; // default number of tokens in a picture
const REST = "others";
const TESTED = "The next child is tested against what remains of p and q.";
const EVEN =
  "Nothing is left of q: the next child was drawn with equal probability from the tokens " +
  "not tried yet.";
const GONE = 0.0005; // smaller shares and smaller relative changes are rounding errors

/**
 * The picture for the trial of a node. For "bonus", the picture for the moment when the target adds
 * its own token.
 * @param {StepView} step
 * @param {NodeId} node
 * @param {number} [most] maximum number of tokens with a row of their own
 * @returns {ResidualPicture | null} null if no residuals were recorded for that moment
 */
export function residualPicture(step, node, most = PLACES) {
  const at = momentOf(step, node);
  const moment = step.residualHeads[at];
  if (!moment) return null;
  const trial = step.trials[at];
  const isCut = Boolean(trial && !trial.accepted && trial.u !== null);
  const tokens = places(step, at, most);
  const rows = tokens.map((token) => (token === null ? null : rowOf(step, moment, token, isCut)));
  const mark = markOf(step, at);
  for (const row of rows) if (row?.key === String(moment.tokens[0])) row.mark = mark;
  return {
    title: titleOf(step, at),
    rows: [...rows, rest(rows, moment, isCut ? trial.mass : null)],
    note: noteOf(step, at),
  };
}

/** @type {(step: StepView, node: NodeId | null) => number} the index of the node's moment among the
 * trials; for "bonus", their number; -1 if the node was not tried or the target added no token */
export function momentOf({ trials, kind }, node) {
  if (node === "bonus") return kind === "none" ? -1 : trials.length;
  return trials.findIndex((trial) => trial.node === node);
}

// The node that the walk is at: the parent of the node that is tried. After the last trial, it is
// the last node of the path.
/** @type {(step: StepView, at: number) => number} */
const parentAt = ({ topo, trials, path }, at) =>
  at < trials.length ? topo.parents[trials[at].node] : path.at(-1);

// -- rows -----------------------------------------------------------------------------------------

// The token of each row. A token stays in the same row during the trials of all siblings, so that a
// person sees its bar change.
/** @type {(step: StepView, at: number, most: number) => (number | null)[]} */
function places(step, at, most) {
  const hasSameParent = (i) => i >= 0 && parentAt(step, i) === parentAt(step, at);
  const before = hasSameParent(at - 1) ? places(step, at - 1, most) : new Array(most).fill(null);
  const wanted = step.residualHeads[at].tokens.slice(0, most);
  const fresh = wanted.filter((token) => !before.includes(token));
  return before.map((token) => (wanted.includes(token) ? token : (fresh.shift() ?? null)));
}

/** @type {(step: StepView, moment: ResidualHead, token: number, isCut: boolean) => ResidualRow} */
function rowOf(step, moment, token, isCut) {
  const i = moment.tokens.indexOf(token);
  const p = moment.p[i];
  const q = moment.q ? moment.q[i] : null;
  const label = visible(step.textOf(token));
  return { key: String(token), label, p, q, cut: isCut ? Math.min(p, q) : 0, mark: "" };
}

// The row of all tokens that have no row of their own. mass: the residual mass after a rejection;
// null without one. The cuts of all rows sum to 1 - mass.
/** @type {(rows: (ResidualRow | null)[], moment: ResidualHead, mass?: number | null) =>
 *   ResidualRow} */
function rest(rows, moment, mass) {
  const missing = (name) => rows.reduce((left, row) => left - (row?.[name] ?? 0), 1);
  const p = Math.max(0, missing("p"));
  const shown = rows.reduce((sum, row) => sum + (row?.cut ?? 0), 0);
  const cut = mass === null ? 0 : Math.max(0, Math.min(p, 1 - mass - shown));
  const q = moment.q ? Math.max(0, missing("q")) : null;
  return { key: "rest", label: REST, p, q, cut, mark: "" };
}

/** @type {(step: StepView, at: number) => ResidualRow["mark"]} */
function markOf(step, at) {
  const trial = step.trials[at];
  if (!trial) return "drawn";
  if (trial.accepted) return "accepted";
  return isDropped(step, at) ? "dropped" : "rejected";
}

// Whether the rejected token is removed from q, as when siblings are drawn without replacement.
// Removing it rescales q, so another token's share is larger at the next trial. False if no sibling
// is tried next.
function isDropped(step, at) {
  if (!hasSibling(step, at)) return false;
  const [moment, next] = [step.residualHeads[at], step.residualHeads[at + 1]];
  return moment.tokens.some((token, i) => {
    const then = next.q?.[next.tokens.indexOf(token)];
    return i > 0 && then > moment.q[i] * (1 + GONE);
  });
}

// Whether nothing is left of q after the rejected token is removed from it.
const isUsedUp = (step, at) => isDropped(step, at) && step.residualHeads[at].q[0] > 1 - GONE;

// -- words ----------------------------------------------------------------------------------------

// Whether the next trial is that of a sibling.
const hasSibling = (step, at) =>
  at + 1 < step.trials.length && parentAt(step, at + 1) === parentAt(step, at);

// Whether no child of the walk's current node was tried before, so that p and q are still whole.
const isFirst = (step, at) => at === 0 || parentAt(step, at - 1) !== parentAt(step, at);

/** @type {(step: StepView, at: number) => string} */
function titleOf(step, at) {
  const isLast = at === step.trials.length;
  const isWhole = isFirst(step, at) || step.matched;
  if (isLast) return isWhole ? "p of the next token" : "What is left of p";
  return isWhole ? "p and q of the next token" : "What is left of p and q";
}

/** @type {(step: StepView, at: number) => string} */
function noteOf(step, at) {
  const trial = step.trials[at];
  if (!trial) return drawn(step, at);
  if (trial.u === null || trial.accepted) return "";
  if (!(trial.mass > 0)) return "p and q are equal, so p stays as it is.";
  const dropped = isDropped(step, at) ? `, and q loses “${step.label(trial.node)}”` : "";
  const removed = `Hatched parts are removed: p loses its overlap with q${dropped}.`;
  const left = `${removed} ${rescaled(step, at)}`;
  if (!hasSibling(step, at)) return left + ", and the last token is drawn from it.";
  return `${left}. ${isUsedUp(step, at) ? EVEN : TESTED}`;
}

function rescaled(step, at) {
  const p = `The remaining ${percent(step.trials[at].mass)} of p`;
  if (!isDropped(step, at) || isUsedUp(step, at)) return `${p} is rescaled to sum to 1`;
  const q = percent(1 - step.residualHeads[at].q[0]);
  return `${p} and ${q} of q are each rescaled to sum to 1`;
}

const drawn = (step, at) => {
  const from = isFirst(step, at) || step.matched ? "p" : "what is left of p";
  return `“${step.label("bonus")}” is drawn from ${from}.`;
};
