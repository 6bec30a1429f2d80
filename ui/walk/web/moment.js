/* One moment of the verification of a step: a node is tried, or the target adds a token. Pure. */
import { residualPicture } from "../../shared/web/residual_picture.js";
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
 * @property {ResidualPicture | null} next p and q at the next moment; null if there is no next
 *   moment or they are not known
 * @property {string} nextTitle
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
  const at =
    node === "bonus" ? step.trials.length : step.trials.findIndex((one) => one.node === node);
  if (node === null || at < 0 || (node === "bonus" && step.kind === "none")) return null;
  const trial = step.trials[at] ?? null;
  const next = trial ? (step.trials[at + 1]?.node ?? "bonus") : null;
  const hasNext = next !== null && !(next === "bonus" && step.kind === "none");
  return {
    title: titleOf(step, at),
    trial,
    state: step.stateOf(node),
    label: step.label(node),
    why: stepWords.why(step, node),
    now: pictureOf(step, node),
    next: hasNext ? ahead(pictureOf(step, next), next) : null,
    nextTitle: trial ? nextTitle(step, trial, next) : "",
    entered: step.step.entered?.[at],
  };
}

function titleOf(step, at) {
  const trial = step.trials[at];
  if (!trial) return "The token from the target";
  const { topo } = step;
  const parent = topo.parents[trial.node];
  const place = parent ? `“${step.label(parent)}”` : "the root";
  return `Trial ${at + 1} of ${step.trials.length}: child ${topo.rank[trial.node] + 1} of ${place}`;
}

function nextTitle(step, trial, next) {
  if (trial.accepted && next !== "bonus") return `Next: below “${step.label(trial.node)}”`;
  return next === "bonus" ? "Next: the token from the target" : "Next: another child";
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

// The picture of the next moment before its trial, that is, without an outcome.
/** @type {(picture: ResidualPicture | null, next: NodeId | null) => ResidualPicture | null} */
function ahead(picture, next) {
  if (!picture || next === "bonus") return picture;
  const rows = picture.rows.map((row) => /** @type {const} */ ({ ...row, cut: 0, mark: "" }));
  return { ...picture, rows, note: "" };
}
