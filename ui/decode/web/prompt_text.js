/* The text before an answer. For a chat message, it includes the tokens of the chat template. */
import { el } from "../../shared/web/dom.js";
import { readable } from "../../shared/web/format.js";

/** @import { Meta } from "../../shared/web/run_facts.js" */

const SPECIAL = "a special token, usually from the chat template";

/** @type {(value: string) => string} readable text with a new line after each mark of one */
export const lines = (value) => readable(value).replaceAll("⏎", "⏎\n");

/** @type {(meta: Meta) => string} the text before the answer */
export const promptText = (meta) =>
  pieces(meta)
    .map(([piece]) => piece)
    .join("");

/** @type {(host: HTMLElement, meta: Meta) => void} */
export function writePrompt(host, meta) {
  host.replaceChildren();
  for (const [piece, isSpecial] of pieces(meta)) {
    const shown = lines(piece);
    if (isSpecial) el("span", { class: "sq-special", text: shown, title: SPECIAL }, host);
    else host.append(shown);
  }
}

/** @type {(meta: Meta) => [string, boolean][]} texts, and whether each is a special token */
const pieces = ({ prompt, chat, prompt_tokens: tokens }) =>
  chat && tokens?.length ? tokens : [[prompt ?? "", false]];
