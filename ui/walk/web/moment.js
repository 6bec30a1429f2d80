/* One moment of the verification of a step: a node is tried, or the target adds a token. Pure. */
import { momentOf, residualPicture } from "../../shared/web/residual_picture.js";
import * as stepWords from "../../shared/web/step_words.js";

/**
 * @import { ResidualPicture } from "../../shared/web/residual_picture.js"
 * @import { StepView, Trial } from "../../shared/web/step_view.js"
 * @import { NodeId } from "../../shared/web/tree_layout.js"
 */

const PLACES = 8; // max tokens in a picture
const NOTHING = 1e-6; // probabilities up to this are rounding errors

/**
 * What the panel of a moment shows.
 * @typedef {object} Moment
 * @property {string} title says which trial it is, or that the target adds a token
 * @property {Trial | null} trial null if the target adds a token
 * @property {string} state of the node
 * @property {string} label of the node
 * @property {string} why explains the state in a sentence
 * @property {ResidualPicture | null} now p and q before the trial, or the p from which the target's
 *   token is drawn; null if they are not known
 * @property {number | undefined} entered only for a toy with Traversal: the probability of
 *   keeping the path down to the node, before any child of that node was rejected
 */

/**
 * The moment at which a node is tried; for "bonus", the moment at which the target adds a token.
 * @param {StepView} step
 * @param {NodeId | null} node
 * @returns {Moment | null} null if there was no such moment
 */
export function momentAt(step, node) {
  const at = momentOf(step, node);
  if (at < 0) return null;
  const trial = step.trials[at] ?? null;
  return {
    title: titleOf(step, at),
    trial,
    state: step.stateOf(node),
    label: step.label(node),
    why: stepWords.why(step, node),
    now: pictureOf(step, node),
    entered: step.step.entered?.[at],
  };
}

function titleOf(step, at) {
  const trial = step.trials[at];
  if (!trial) return "The token from the large model";
  const { topo } = step;
  const parent = topo.parents[trial.node];
  const place = parent ? `“${step.label(parent)}”` : "the root";
  return `Trial ${at + 1} of ${step.trials.length}: child ${topo.rank[trial.node] + 1} of ${place}`;
}

/** @type {(step: StepView, node: NodeId) => ResidualPicture | null} */
function pictureOf(step, node) {
  const picture = residualPicture(step, node, PLACES);
  if (!picture) return null;
  const isShown = (row) => row && (row.key !== "rest" || row.p > NOTHING || row.q > NOTHING);
  const rows = picture.rows.filter(isShown);
  // If every token has a row, as with the few words of a toy, sort the rows by token id.
  const hasAll = rows.every(({ key }) => key !== "rest");
  return { ...picture, rows: hasAll ? rows.sort((a, b) => Number(a.key) - Number(b.key)) : rows };
}
