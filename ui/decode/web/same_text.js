/* How the text of a run compares with that of plain decoding, in words. The server has compared
   them token by token. */
import { count } from "../../shared/web/format.js";

/** @import { Meta } from "../../shared/web/run_facts.js" */

/**
 * @param {Meta} meta
 * @param {number} tokens how many the run emitted
 * @returns {string} what follows "than the large model alone"; "" if the texts were not compared
 */
export function textClaim({ params, plain }, tokens) {
  if (params?.temperature !== 0) return ", and the same output distribution";
  if (!plain) return "";
  const both = Math.min(plain.text.length, tokens);
  if (plain.same < both) return `; the texts differ from token ${plain.same + 1} on`;
  return both === tokens ? ", and the same text in the end" : ", and the same text so far";
}

/**
 * Where and why plain decoding was stopped before the end of the run's text.
 * @param {Meta} meta
 * @param {number} tokens how many the run emitted
 * @returns {string} "" if it was not
 */
export function earlyEnd({ params, plain }, tokens) {
  if (!plain || plain.text.length >= tokens || !isCut(plain)) return "";
  const made = plain.text.length;
  const words = `Plain decoding was stopped ${stoppedAfter(plain)}`;
  const isSame = params?.temperature === 0 && plain.same === made;
  return isSame ? `${words}; the first ${made} are the same.` : `${words}.`;
}

/** @type {(plain: any) => boolean} whether it would have gone on */
const isCut = ({ finish }) => finish === "time" || finish === "length";

/**
 * @param {any} plain
 * @returns {string} such as "after 3 s, 92 tokens"
 */
export function stoppedAfter({ finish, limit, text }) {
  const tokens = count(text.length, "token");
  return finish === "time" ? `after ${limit} s, ${tokens}` : `after ${tokens}`;
}
