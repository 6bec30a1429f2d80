/* Text and numbers in readable form. Independent of runs, trees and the page. */

const NAMED = { "\n": "⏎", "\t": "⇥", "\r": "␍", "\u00a0": "⍽", "\u007f": "␡" };
// Characters that are invisible or change how other characters appear: controls; format characters,
// such as bidi controls; default ignorable code points (DI), such as variation selectors and
// fillers; unusual spaces; private use; lone surrogates; non-characters; braille blank (U+2800).
const HIDDEN = /[\p{DI}\p{NChar}\p{Cf}\p{Cc}\p{Co}\p{Cs}\p{Zl}\p{Zp}\u2800]|(?! )\p{Zs}/gu;
const CACHED = 20_000; // the most results of `visible` that are cached
const DASH = "–"; // shown in place of a missing number
const GROUPED = new Intl.NumberFormat("en-US");
const shown = new Map(); // results of `visible`

function glyph(char) {
  if (NAMED[char]) return NAMED[char];
  const code = char.codePointAt(0);
  if (code < 32) return String.fromCharCode(0x2400 + code);
  return "⟨" + code.toString(16).toUpperCase().padStart(4, "0") + "⟩";
}

/**
 * Whether a token's text is the mark of the end of a text, such as <|endoftext|>.
 * @param {string} piece
 * @returns {boolean}
 */
export const isEnd = (piece) => /^<(\/s|\|?\w*(eos|eot|end)\w*\|?)>$/.test(piece);

/**
 * A token's text with every invisible character made visible, and spaces at either end as middle
 * dots.
 * @param {any} text
 * @returns {string} "∅" for an empty text
 */
export function visible(text) {
  const key = String(text ?? "");
  let out = shown.get(key);
  if (out === undefined && isEnd(key)) out = "end of text";
  if (out === undefined) {
    out = readable(key).replace(/^ +| +$/g, (run) => "·".repeat(run.length)) || "∅";
    if (shown.size >= CACHED) shown.clear();
    shown.set(key, out);
  }
  return out;
}

/**
 * A text with every invisible character made visible. Unlike in `visible`, ordinary spaces are left
 * as they are. A combining mark at the start gets a dotted circle.
 * @param {any} text
 * @returns {string}
 */
export function readable(text) {
  const plain = String(text ?? "").replace(HIDDEN, glyph);
  return /^\p{M}/u.test(plain) ? "◌" + plain : plain;
}

/**
 * A text escaped for Plotly, which otherwise interprets a few tags and links in names and hover
 * texts.
 * @param {string} words
 * @returns {string}
 */
export const plotlyText = (words) =>
  words.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

/**
 * @param {any} value
 * @returns {boolean} whether it is a finite number
 */
export const known = (value) => typeof value === "number" && Number.isFinite(value);

// Rounds to about three digits: two decimals (or `decimals`) below 10, one below 100, and none from
// 100 on.
const threeDigits = (value, decimals = 2) => {
  if (value >= 100) return value.toFixed(0);
  return value.toFixed(value >= 10 ? 1 : decimals);
};

/**
 * A probability or ratio, rounded to about three digits.
 * @param {number} value
 * @returns {string}
 */
export function prob(value) {
  if (!known(value)) return DASH;
  if (value === 0) return "0";
  if (value >= 1000) return value.toExponential(1).replace("e+", "e");
  if (value >= 1) return threeDigits(value);
  if (value >= 0.1) return value.toFixed(3);
  if (value >= 0.001) return value.toFixed(4);
  return value.toExponential(1);
}

/**
 * A number rounded to a few digits, for sentences.
 * @param {number} value
 * @returns {string}
 */
export function short(value) {
  if (!known(value)) return DASH;
  if (value === 0) return "0";
  if (value >= 0.1) return threeDigits(value);
  if (value >= 0.001) return String(Number(value.toPrecision(2)));
  return value.toExponential(0);
}

/**
 * @param {any} p a p-value
 * @returns {string}
 */
export const shortP = (p) => (known(p) && p < 1e-6 ? "below 0.000001" : short(p));

/**
 * A share with two decimals and without a leading 0. One below 0.005 is "<.01", or "0" if it is
 * almost 0.
 * @param {number} share from 0 to 1
 * @returns {string}
 */
export function twoDecimals(share) {
  if (share < 0.005) return share > 0.00005 ? "<.01" : "0";
  return share.toFixed(2).replace(/^0/, "");
}

/**
 * Two numbers as text, with enough digits (up to seven) to be distinguished.
 * @param {number} a
 * @param {number} b
 * @returns {[string, string]}
 */
export function apart(a, b) {
  /** @type {[string, string]} */
  let pair = [short(a), short(b)];
  for (let digits = 3; digits < 8 && pair[0] === pair[1] && a !== b; digits++)
    pair = [a.toPrecision(digits), b.toPrecision(digits)];
  return pair;
}

/**
 * A share in percent, rounded to about two digits.
 * @param {number} value from 0 to 1
 * @param {number} [decimals] the maximum number of decimals if the share is 10% or more
 * @returns {string}
 */
export function percent(value, decimals = 0) {
  if (!known(value)) return DASH;
  const share = value * 100;
  if (share === 0) return "0%";
  if (share < 0.01) return "under 0.01%";
  return Number(share >= 9.95 ? share.toFixed(decimals) : share.toPrecision(2)) + "%";
}

/**
 * A time in words: in milliseconds, or in seconds from ten seconds on.
 * @param {number} time seconds
 * @returns {string}
 */
export function ms(time) {
  if (!known(time)) return DASH;
  return time >= 10 ? time.toFixed(1) + " s" : threeDigits(time * 1000) + " ms";
}

/**
 * A time in words: in seconds, or in milliseconds below one second.
 * @param {number} time seconds
 * @returns {string}
 */
export function seconds(time) {
  if (!known(time)) return DASH;
  return time >= 0.9995 ? threeDigits(time, 1) + " s" : ms(time);
}

/**
 * A predicted duration.
 * @param {number} value seconds
 * @returns {string} such as "about 20 s" or "about 3 min"
 */
export function duration(value) {
  if (value < 1.5) return "about 1 s";
  if (value < 90) return `about ${Number(value.toPrecision(value < 10 ? 1 : 2))} s`;
  return `about ${Math.round(value / 60)} min`;
}

/**
 * A number, rounded to about three digits.
 * @param {number} value
 * @returns {string}
 */
export function rate(value) {
  return known(value) ? threeDigits(value) : DASH;
}

/**
 * A whole number with commas between groups of three digits.
 * @param {number} value
 * @returns {string}
 */
export const grouped = (value) => GROUPED.format(value);

/**
 * @param {string} words
 * @returns {string} the words, with a full stop appended unless they already end in one
 */
export const sentence = (words) => (words.endsWith(".") ? words : words + ".");

/**
 * @param {string} words
 * @returns {string} the words, of which the first begins with a capital
 */
export const capital = (words) => words[0].toUpperCase() + words.slice(1);

/**
 * A number with its noun.
 * @param {number} value
 * @param {string} one the noun in the singular
 * @param {string} [many] its plural; by default the singular with an s
 * @returns {string}
 */
export function count(value, one, many = one + "s") {
  return grouped(value) + " " + (value === 1 ? one : many);
}
