/* Writes and reads the fragment of the page's address, such as #decode&temperature=0.6&step=12. The
   fragment contains the open tab and the values that this tab shows. Pure. */
import { FIELDS } from "./link_fields.js";

/** Maximum length of a fragment in characters, without “#”. encodeLink writes only ASCII, so its
 * fragments have at most this many bytes. */
export const MOST_CHARACTERS = 2000;

/**
 * @typedef {{tab: string, values: Record<string, any>}} LinkState
 */

/**
 * The fragment for a tab and its values. If the fragment would be too long, the longest values are
 * left out. Values that are null or undefined are ignored, and so are names that the tab does not
 * have.
 * @param {string} tab
 * @param {Record<string, any>} values by the names in link_fields.js
 * @returns {{hash: string, left: string[]}} `hash`: the fragment; `left`: the names of the values
 *   that were left out, because they are not valid or the fragment would be too long
 */
export function encodeLink(tab, values) {
  const given = Object.entries(values).filter(([, value]) => value !== null && value !== undefined);
  const known = given.filter(([name]) => Object.hasOwn(FIELDS[tab], name));
  const written = known.map(([name, value]) => [name, FIELDS[tab][name].write(value)]);
  const left = written.filter(([, text]) => text === null).map(([name]) => name);
  const parts = written
    .filter(([, text]) => text !== null)
    .map(([name, text]) => ({ name, text: String(new URLSearchParams([[name, text]])) }));
  const size = () => parts.reduce((sum, { text }) => sum + text.length + 1, tab.length);
  while (size() > MOST_CHARACTERS) left.push(dropLongest(parts));
  return { hash: ["#" + tab, ...parts.map(({ text }) => text)].join("&"), left };
}

// Removes the longest part and returns its name.
/** @type {(parts: {name: string, text: string}[]) => string} */
function dropLongest(parts) {
  const lengths = parts.map(({ text }) => text.length);
  const [{ name }] = parts.splice(lengths.indexOf(Math.max(...lengths)), 1);
  return name;
}

/**
 * The tab and values in a fragment.
 * @param {string} hash as in `location.hash`, untrusted
 * @returns {LinkState | null} null if there is no fragment
 * @throws {RangeError} if the fragment is not valid; the message says what is wrong
 */
export function decodeLink(hash) {
  const text = hash.replace(/^#/, "");
  if (!text) return null;
  if (text.length > MOST_CHARACTERS)
    throw new RangeError(
      `it has ${text.length} characters after “#”; at most ${MOST_CHARACTERS} are allowed`,
    );
  const [tab, ...rest] = text.split("&");
  if (!Object.hasOwn(FIELDS, tab)) {
    const known = Object.keys(FIELDS).join(", ");
    throw new RangeError(`“${tab.slice(0, 40)}” is not a tab; known: ${known}`);
  }
  const pairs = [...new URLSearchParams(rest.join("&"))];
  return { tab, values: Object.fromEntries(pairs.map(([name, value]) => read(tab, name, value))) };
}

/** @type {(tab: string, name: string, text: string) => [string, any]} */
function read(tab, name, text) {
  if (!Object.hasOwn(FIELDS[tab], name))
    throw new RangeError(`“${name.slice(0, 40)}” is not a setting of this tab`);
  try {
    return [name, FIELDS[tab][name].read(text)];
  } catch (problem) {
    throw new RangeError(`${name}: ${problem.message}`);
  }
}
