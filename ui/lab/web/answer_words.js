/* The sentences of the answer: the best tree, why it is the best, and what a run measured. Pure. */
import * as planner from "../../shared/web/planner.js";
import { count } from "../../shared/web/format.js";
import { rounded, speedupWords } from "../../shared/web/verdict_words.js";

/**
 * @import { LabState, Origin, Plan } from "./lab_state.js"
 * @import { FinishedRun } from "../../shared/web/between_tabs.js"
 *
 * A tree that was sent to Run, with what was predicted for it and the source of the acceptance.
 * @typedef {object} SentTree
 * @property {number[]} parents in breadth-first order
 * @property {number | null} predicted speed-up; null without times
 * @property {string} basis "predicted" or "hypothetical"
 * @property {Origin} origin
 */

const NEARLY = 0.97; // of the best speed-up: from here on, a chain does nearly as well
const MEMORY_BOUND = 1.25; // the most that a pass over such a tree takes, in passes over one node
const SHOWN = 40; // characters of a prompt

const times = (ratio) => ratio.toFixed(2) + "×";
const pace = (ratio) => (ratio < 1 ? `${rounded(1 / ratio)}× slower` : `${rounded(ratio)}× faster`);

/**
 * The tree shown, and how fast it is predicted to be.
 * @param {Pick<LabState, "plan" | "parents" | "even" | "profile">} state
 * @returns {string}
 */
export function answerWords({ plan, parents, even, profile }) {
  if (!plan) return tokensWords(parents, even);
  const { length } = plan.parents;
  if (length === 1 && parents.length === 1) return "Plain decoding: no tree is faster";
  const { speedup } = planner.predict(parents, even, profile);
  return `${shapeWords(parents)}: ${times(speedup)} plain decoding`;
}

const tokensWords = (parents, even) =>
  `${count(parents.length, "node")}: ` +
  `${planner.expectedTokens(parents, even).toFixed(2)} tokens per step`;

/** @type {(parents: number[]) => string} */
function shapeWords(parents) {
  const { length } = parents;
  const levels = planner.widths(parents).length + 1;
  if (length === 1) return "The root alone";
  return levels === length ? `A chain of ${length} nodes` : `${length} nodes in ${levels} levels`;
}

/**
 * Why the planned tree is the best: how it compares with the best chain, and what a pass over it
 * costs on this machine. If another tree is shown, first the planned one.
 * @param {Pick<LabState, "plan" | "parents" | "even" | "profile" | "basis">} state
 * @returns {string}
 */
export function whyWords({ plan, parents, even, profile, basis }) {
  if (!plan) return "No speed-up yet: the machine is not timed.";
  const best = planner.isSameTree(parents, plan.parents)
    ? ""
    : `The best is ${times(plan.speedup)} (${basis}): ${shapeWords(plan.parents).toLowerCase()}. `;
  return best + planWords({ plan, even, profile });
}

function planWords({ plan, even, profile }) {
  const { length } = plan.parents;
  const chain = bestChain(even, profile, plan.largest);
  if (length === 1) return slowWords(chain, planner.plainSeconds(profile));
  const beside = plan.levels === length ? gainWords(length, even) : chainWords(chain, plan.speedup);
  return beside + slackWords(plan) + passWords(plan, profile);
}

// Says so if a tree with fewer tokens is faster.
function slackWords({ speedup, fastest }) {
  if (times(speedup) === times(fastest)) return "";
  const share = `${planner.SLACK * 100}%`;
  return `Of the trees within ${share} of the fastest (${times(fastest)}), it has the most tokens. `;
}

function slowWords({ nodes, tokens, seconds }, plain) {
  const time = `${(seconds / plain).toFixed(2)} times the time of one token`;
  return `Even the best chain, ${nodes} nodes, takes ${time} for ${tokens.toFixed(2)} tokens.`;
}

function gainWords(nodes, even) {
  const [last, second] = [even[0] ** (nodes - 1), even[1] ?? 0].map((one) => one.toPrecision(2));
  return `Its last node adds ${last} tokens per step, a second child of the root only ${second}. `;
}

function chainWords({ nodes, speedup }, best) {
  if (speedup <= 1) return "No chain is faster than plain decoding. ";
  const isEqual = speedup >= best; // see `slack` in plan_for_machine.py
  const fast = isEqual ? "is as fast within the accuracy of the times:" : "is nearly as fast:";
  const gets = speedup > NEARLY * best ? fast : "gets only";
  return `The best chain, ${nodes} nodes, ${gets} ${times(speedup)}. `;
}

function passWords({ parents: { length }, largest }, { target_seconds: points }) {
  const ratio = planner.secondsAt(points, length) / planner.secondsAt(points, 1);
  const bound = ratio <= MEMORY_BOUND ? ": memory bound" : "";
  const most = length === largest ? " No larger tree was tried." : "";
  return `A pass over ${length} nodes takes ${times(ratio)} as long as over one${bound}.${most}`;
}

// The chain that Run tunes: the longest of at least two nodes within SLACK of the fastest. It may
// have as many levels as a planned tree.
function bestChain(even, profile, largest) {
  const most = Math.max(2, Math.min(largest, planner.levelsFor(largest)));
  const growth = planner.bestFirst(even.slice(0, 1), most, null);
  const plain = planner.plainSeconds(profile);
  const chains = planner.growthSeconds(growth, profile).map((seconds, i) => {
    const tokens = growth.totals[i];
    return { nodes: i + 1, tokens, seconds, speedup: (tokens * plain) / seconds };
  });
  const fastest = Math.max(...chains.slice(1).map((one) => one.speedup));
  const least = Math.max(fastest * (1 - planner.SLACK), Math.min(fastest, 1));
  return chains.slice(1).findLast((one) => one.speedup >= least);
}

/**
 * What a run measured, beside the prediction for its tree. Says what it ran on, and what the
 * acceptance was counted on.
 * @param {FinishedRun} run
 * @param {SentTree} sent
 * @returns {string}
 */
export function runWords({ label, speedup, meta }, { parents, predicted, basis, origin }) {
  const { times: ratio, word, interval } = speedup ? speedupWords(speedup) : {};
  const found = speedup ? `${ratio} ${word} (${interval})` : "plain decoding was not timed";
  const before = predicted === null ? "" : `; ${basis}: ${pace(predicted)}`;
  const { temperature } = meta.params ?? {};
  const prompt = [...String(meta.prompt ?? "").replace(/\s+/g, " ")];
  const cut = prompt.slice(0, SHOWN).join("") + (prompt.length > SHOWN ? "…" : "");
  return (
    `${count(parents.length, "node")}, ${label}: ${found}${before}. ` +
    `Run: “${cut}”, T = ${temperature}, ${meta.target} + ${meta.draft}. ` +
    `Acceptance: ${acceptanceWords(origin, temperature)}.`
  );
}

/** @type {(origin: Origin, temperature: number) => string} */
function acceptanceWords(origin, temperature) {
  const { on, own, label, words } = origin.from ?? origin;
  const edited = origin.from ? ", edited by hand" : "";
  if (!on) return `${label}, ${words}${edited}`;
  const heat = on.temperature === temperature ? "the same T" : `T = ${on.temperature}`;
  return `${on.texts}, ${heat}, ${own ? "the same pair" : "another pair"}${edited}`;
}
