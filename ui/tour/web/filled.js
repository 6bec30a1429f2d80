/* The words of the tour with its numbers. */
const NAME = /\{(\w+)\}/g;

/**
 * @param {string} words with names in braces
 * @param {Record<string, string | number>} facts by name
 * @returns {string}
 * @throws {RangeError} for a name that is not among the facts
 */
export function filled(words, facts) {
  return words.replace(NAME, (_, name) => {
    if (!Object.hasOwn(facts, name)) throw new RangeError(`no value for {${name}} in: ${words}`);
    return String(facts[name]);
  });
}

/**
 * A number as a sentence gives it: whole, or with one or two decimals.
 * @param {number} value
 * @param {number} [decimals]
 * @returns {string}
 */
export const figure = (value, decimals = 1) => String(Number(value.toFixed(decimals)));
