/* Puts values into the sentences of the tour. */
const ROUNDING = 1e-9; // rounding may make a computed value too large by up to this much
const NAME = /\{(\w+)\}/g;

/**
 * @param {string} words with names in braces
 * @param {Record<string, string | number>} facts the value of each name
 * @returns {string}
 * @throws {RangeError} if a name is not among the facts
 */
export function filled(words, facts) {
  return words.replace(NAME, (_, name) => {
    if (!Object.hasOwn(facts, name)) throw new RangeError(`no value for {${name}} in: ${words}`);
    return String(facts[name]);
  });
}

/**
 * A number for a sentence, rounded to `decimals` decimals, without trailing zeros.
 * @param {number} value
 * @param {number} [decimals]
 * @returns {string}
 */
export const figure = (value, decimals = 1) => String(Number(value.toFixed(decimals)));

/**
 * The upper limit that a sentence states for `value`: rounded up to one decimal.
 * @param {number} value
 * @returns {string}
 */
export const bound = (value) => figure(Math.ceil(10 * value - ROUNDING) / 10);
