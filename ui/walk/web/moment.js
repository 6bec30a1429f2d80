/* One moment of a walk: a trial with p and q before it, and p and q afterwards. Pure. */
import { residualPicture } from "../../shared/web/residual_picture.js";
import * as stepWords from "../../shared/web/step_words.js";

/**
 * @import { ResidualPicture } from "../../shared/web/residual_picture.js"
 * @import { StepView, Trial } from "../../shared/web/step_view.js"
 * @import { NodeId } from "../../shared/web/tree_scene.js"
 */

const PLACES = 8; // tokens in a picture
const NOTHING = 1e-6; // probabilities up to this are rounding errors

/**
 * What the panel of a moment shows.
 * @typedef {object} Moment
 * @property {string} title says which trial it is
 * @property {Trial | null} trial null where the target adds its own token
 * @property {string} state of the node
 * @property {string} label of the node
 * @property {string} why explains the state in a sentence
 * @property {ResidualPicture | null} now p and q before the trial; null if they are not known
 * @property {ResidualPicture | null} next what is left of p and q after a rejection, or p and q
 *   below an accepted node
 * @property {string} nextTitle
 * @property {number | undefined} entered the probability of keeping the path when the walk reached
 *   the node; only Traversal has it
 */

/**
 * The moment at which a node is tried; for "bonus", the moment at which the target adds its own
 * token.
 * @param {StepView} step
 * @param {NodeId | null} node
 * @returns {Moment | null} null if the node was not tried
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
  if (!trial) return "The target’s own token";
  const { topo } = step;
  const siblings = topo.children[topo.parents[trial.node]].length;
  const child = `child ${topo.rank[trial.node] + 1} of ${siblings}`;
  return `Trial ${at + 1} of ${step.trials.length}: ${child}`;
}

function nextTitle(step, trial, next) {
  if (trial.accepted && next !== "bonus") return `Next: below “${step.label(trial.node)}”`;
  return next === "bonus" ? "Next: the target’s own token" : "Next: another child";
}

/** @type {(step: StepView, node: NodeId) => ResidualPicture | null} */
function pictureOf(step, node) {
  const picture = residualPicture(step, node, PLACES);
  if (!picture) return null;
  const isThere = (row) => row && !(row.key === "rest" && !(row.p > NOTHING || row.q > NOTHING));
  const rows = picture.rows.filter(isThere);
  const isWhole = rows.every(({ key }) => key !== "rest"); // a toy, whose words keep their order
  return { ...picture, rows: isWhole ? rows.sort((a, b) => Number(a.key) - Number(b.key)) : rows };
}

// The picture of the next trial without its outcome.
/** @type {(picture: ResidualPicture | null, next: NodeId | null) => ResidualPicture | null} */
function ahead(picture, next) {
  if (!picture || next === "bonus") return picture;
  const rows = picture.rows.map((row) => /** @type {const} */ ({ ...row, cut: 0, mark: "" }));
  return { ...picture, rows, note: "" };
}
