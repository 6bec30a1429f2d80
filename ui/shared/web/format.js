/* Text and numbers as a person reads them. Knows nothing of runs, trees or the page. */

const NAMED = { "\n": "⏎", "\t": "⇥", "\r": "␍", "\u00a0": "⍽", "\u007f": "␡" };
// Format characters, bidi controls, odd spaces, private use, lone surrogates and what is no character: never drawn as they are.
const HIDDEN =
  /[\p{NChar}\p{Cf}\p{Cc}\p{Co}\p{Cs}\p{Zl}\p{Zp}\u115f\u1160\u3164\uffa0\u034f\ufe00-\ufe0f]|(?! )\p{Zs}/gu;
const shown = new Map();

function glyph(char) {
  if (NAMED[char]) return NAMED[char];
  const code = char.codePointAt(0);
  if (code < 32) return String.fromCharCode(0x2400 + code);
  return "⟨" + code.toString(16).toUpperCase().padStart(4, "0") + "⟩";
}

/** A token's text with every invisible character made visible; spaces at either end become a middle dot. */
export function visible(text) {
  const key = String(text ?? "");
  let out = shown.get(key);
  if (out === undefined) {
    out = readable(key).replace(/^ +| +$/g, (run) => "·".repeat(run.length)) || "∅";
    if (shown.size > 20000) shown.clear();
    shown.set(key, out);
  }
  return out;
}

/** The same, with ordinary spaces left as they are: for running text. */
export function readable(text) {
  const plain = String(text ?? "").replace(HIDDEN, glyph);
  return /^\p{M}/u.test(plain) ? "◌" + plain : plain;
}

export const known = (value) => typeof value === "number" && Number.isFinite(value);

/** A probability or ratio with about three digits. */
export function prob(value) {
  if (!known(value)) return "–";
  if (value === 0) return "0";
  if (value >= 1000) return value.toExponential(1).replace("e+", "e");
  if (value >= 10) return value.toFixed(value >= 100 ? 0 : 1);
  if (value >= 1) return value.toFixed(2);
  if (value >= 0.1) return value.toFixed(3);
  if (value >= 0.001) return value.toFixed(4);
  return value.toExponential(1);
}
/** Two digits, for sentences. */
export function short(value) {
  if (!known(value)) return "–";
  if (value === 0) return "0";
  if (value >= 100) return value.toFixed(0);
  if (value >= 10) return value.toFixed(1);
  if (value >= 0.1) return value.toFixed(2);
  if (value >= 0.001) return String(Number(value.toPrecision(2)));
  return value.toExponential(0);
}
/** Two numbers with as many digits as it takes to tell them apart: [a, b]. */
export function apart(a, b) {
  let pair = [short(a), short(b)];
  for (let digits = 3; digits < 8 && pair[0] === pair[1] && a !== b; digits++)
    pair = [a.toPrecision(digits), b.toPrecision(digits)];
  return pair;
}
export function percent(value) {
  if (!known(value)) return "–";
  const share = value * 100;
  if (share === 0) return "0 %";
  if (share < 0.01) return "under 0.01 %";
  return (share >= 9.95 ? share.toFixed(0) : Number(share.toPrecision(2))) + " %";
}
export function ms(seconds) {
  if (!known(seconds)) return "–";
  const ms = seconds * 1000;
  if (ms >= 10000) return (ms / 1000).toFixed(1) + " s";
  return (ms >= 100 ? ms.toFixed(0) : ms >= 10 ? ms.toFixed(1) : ms.toFixed(2)) + " ms";
}
export function seconds(value) {
  if (!known(value)) return "–";
  return value >= 100 ? value.toFixed(0) + " s" : value >= 1 ? value.toFixed(1) + " s" : ms(value);
}
export function rate(value) {
  if (!known(value)) return "–";
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}
export function count(value, one, many) {
  return value.toLocaleString("en-US") + " " + (value === 1 ? one : many || one + "s");
}
