/* How the tokens of a text are written, and the text before them. For a chat message, that includes
   the tokens of the chat template. */
import { el } from "../../shared/web/dom.js";
import { isEnd, readable } from "../../shared/web/format.js";

/**
 * @import { LaneRun } from "./lane_run.js"
 * @import { Meta } from "../../shared/web/run_facts.js"
 * @import { Step } from "../../shared/web/step_view.js"
 * @typedef {{meta: Meta, lanes: LaneRun[]}} Prompted a run
 */

const SPECIAL = "a special token, usually from the chat template";

/** @type {(value: string) => string} readable text with a new line after each mark of one */
export const lines = (value) => readable(value).replaceAll("⏎", "⏎\n");

/** @type {(run: Prompted, lane: LaneRun) => string} the text before the answer */
export const promptText = (run, lane) =>
  pieces(run, lane)
    .map(([piece]) => piece)
    .join("");

/** @type {(host: HTMLElement, run: Prompted, lane: LaneRun) => void} */
export function writePrompt(host, run, lane) {
  for (const [piece, isSpecial] of pieces(run, lane)) {
    const shown = lines(piece);
    if (isSpecial) el("span", { class: "sq-special", text: shown, title: SPECIAL }, host);
    else host.append(shown);
  }
}

// Texts, and whether each is a special token. The first lane is on the first prompt.
/** @type {(run: Prompted, lane: LaneRun) => [string, boolean][]} */
function pieces({ meta, lanes }, lane) {
  const { prompt, second_prompt: second, chat, prompt_tokens: tokens } = meta;
  if (lane.about.prompt_name !== lanes[0].about.prompt_name) return [[second ?? "", false]];
  return chat && tokens?.length ? tokens : [[prompt ?? "", false]];
}

/**
 * Append the element of a token, which is empty for the end of the text. Leading spaces are written
 * before it, so that they are not underlined.
 * @param {HTMLElement} group the element of the step
 * @param {number} k index of the token among those that the step emitted
 * @param {Step} step
 */
export function writeToken(group, k, step) {
  const piece = String(step.text?.[k] ?? "");
  const rest = piece.replace(/^ +/, "");
  const lead = rest ? piece.slice(0, piece.length - rest.length) : "";
  if (lead) group.append(lead);
  const origin = k < step.verdict.path.length - 1 ? "sq-tok-draft" : "sq-tok-own";
  const words = isEnd(piece) ? "" : rest ? lines(rest) : piece;
  el("span", { class: "sq-tok " + origin, "data-k": k, text: words }, group);
}
