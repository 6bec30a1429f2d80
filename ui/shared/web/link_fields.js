/* The fragment of the page's address, such as #run&temperature=0.6&step=12: the open
   view and the values that it shows. First the address of each view, then its values, with types
   and bounds, then how they are written and read. Independent of the DOM. */
import PLACES from "../../../assets/places.json" with { type: "json" };

const MOST_PROMPT = 500; // characters; a longer prompt can only be shared in a saved file
const MOST_NODES = 1024;
const MOST_RATES = 1024;
const EXACT = 17; // significant digits that keep a number unchanged
const WORD = /^[\w.:-]{1,40}$/;

/**
 * The type of a value in the address. `read` parses the value's text. If the text is not valid,
 * `read` throws a RangeError that says what is expected. `write` returns the text of a value, or
 * null for a value that an address cannot contain.
 * @template T
 * @typedef {{read: (text: string) => T, write: (value: any) => string | null}} Field
 */

const refuse = (text, expected) => {
  const shown = text.length > 40 ? text.slice(0, 40) + "…" : text;
  throw new RangeError(`“${shown}” is not ${expected}`);
};

/** @type {(least: number, most: number, digits?: number) => Field<number>} */
export const number = (least, most, digits = 6) => {
  const expected = `a number from ${least} to ${most}`;
  const fits = (value) => typeof value === "number" && value >= least && value <= most;
  return {
    read(text) {
      const isPlain = /^-?\d{1,17}(\.\d{1,22})?(e-?\d{1,3})?$/.test(text);
      return isPlain && fits(Number(text)) ? Number(text) : refuse(text, expected);
    },
    write: (value) => (fits(value) ? String(Number(value.toPrecision(digits))) : null),
  };
};

/** @type {(least: number, most: number) => Field<number>} */
export const whole = (least, most) => {
  const fits = (value) => Number.isSafeInteger(value) && value >= least && value <= most;
  return {
    read(text) {
      const value = /^\d{1,16}$/.test(text) ? Number(text) : NaN;
      return fits(value) ? value : refuse(text, `a whole number from ${least} to ${most}`);
    },
    write: (value) => (fits(value) ? String(value) : null),
  };
};

/** @type {Field<boolean>} */
export const flag = {
  read: (text) => (/^[01]$/.test(text) ? text === "1" : refuse(text, "1 or 0")),
  write: (value) => (typeof value === "boolean" ? String(Number(value)) : null),
};

/** @type {Field<string>} the key of a menu entry */
export const word = {
  read: (text) => (WORD.test(text) ? text : refuse(text, "the key of a menu entry")),
  write: (value) => (WORD.test(value) ? value : null),
};

/** @type {(most: number) => Field<string>} */
export const words = (most) => ({
  read: (value) =>
    value.length <= most ? value : refuse(value, `a text of at most ${most} characters`),
  write: (value) => (typeof value === "string" && value.length <= most ? value : null),
});

/** @type {<T>(field: Field<T>, most: number) => Field<T[]>} values separated by commas */
export const list = (field, most) => ({
  read(value) {
    const parts = value.split(",");
    return parts.length <= most
      ? parts.map(field.read)
      : refuse(value, `a list of at most ${most} values`);
  },
  write(values) {
    if (!Array.isArray(values) || !values.length || values.length > most) return null;
    const parts = values.map(field.write);
    return parts.includes(null) ? null : parts.join(",");
  },
});

/** @type {Field<number[]>} the parents of a tree's nodes; the text omits the root's, which is -1 */
export const tree = {
  read(value) {
    const parents = [-1, ...list(whole(0, MOST_NODES - 2), MOST_NODES - 1).read(value)];
    const isTree = parents.every((parent, node) => parent < node);
    return isTree
      ? parents
      : refuse(value, "a tree in which each parent comes before its children");
  },
  write: (parents) =>
    Array.isArray(parents) && parents[0] === -1
      ? list(whole(0, MOST_NODES - 2), MOST_NODES - 1).write(parents.slice(1))
      : null,
};

const LANE = /^([a-z0-9_]{1,20}):([a-z0-9]{1,20}):([\d ,−-]{0,300})$/;

/** @type {Field<string[]>} a lane: kind, numbers, verifier; in the text, numbers are last */
export const lane = {
  read(value) {
    const [, kind, verifier, numbers] = LANE.exec(value) ?? refuse(value, "a lane");
    return [kind, numbers, verifier];
  },
  write([kind, numbers, verifier]) {
    const made = [kind, verifier, numbers ?? ""].join(":");
    return LANE.test(made) ? made : null;
  },
};

// The bounds of the numbers are those in sequoia/algorithm/sampling_params.py, except for the seed:
// JavaScript cannot represent every whole number above MAX_SAFE_INTEGER.
const SAMPLING = {
  prompt: words(MOST_PROMPT),
  chat: flag,
  temperature: number(0, 5),
  top_p: number(0.01, 1),
  max_new_tokens: whole(1, 4096),
  seed: whole(0, Number.MAX_SAFE_INTEGER),
};

const slug = (name) => name.toLowerCase().replaceAll(" ", "-");
const paths = ([place, views]) =>
  Object.entries(views).map(([view, name], _i, all) => [
    view,
    slug(all.length > 1 ? `${place}/${name}` : place),
  ]);

/** @type {Record<string, string>} by view: place and view, as in the address; only the place if it
 * has one view */
export const ADDRESSES = Object.fromEntries(Object.entries(PLACES).flatMap(paths));

/** @type {Record<string, Record<string, Field<any>>>} by view */
export const FIELDS = {
  run: {
    ...SAMPLING,
    second_prompt: words(MOST_PROMPT),
    check: flag,
    clock: words(80),
    lane: whole(1, 4),
    step: whole(0, 100_000),
    lane1: lane,
    lane2: lane,
    lane3: lane,
    lane4: lane,
  },
  lab: {
    vector: words(80),
    rates: list(number(0, 1), MOST_RATES),
    n: whole(1, MOST_NODES),
    levels: whole(2, MOST_NODES),
    shown: word,
    hand: tree,
    sequences: whole(1, MOST_NODES),
    kary: whole(1, MOST_NODES),
    branching: list(whole(1, MOST_NODES), 40),
    profile: words(80),
  },
  walk: {
    p: list(number(0, 1, EXACT), 8), // rounded values might no longer sum to 1
    q: list(number(0, 1, EXACT), 8),
    children: list(whole(0, 8), 2),
    verifier: word,
    shape: word,
    seed: whole(0, 1_000_000_000),
    example: word,
    step: whole(0, 100_000),
  },
  hardware: {
    profile: words(80),
    against: words(80),
    rates: words(80),
    nodes: whole(1, MOST_NODES),
  },
  film: { lane: whole(1, 4), step: whole(0, 100_000) },
  tour: {},
  engines: {},
  lossless: {},
  experiments: { name: word },
  paper: {},
};

/** Maximum length of a fragment in characters, without “#”. encodeLink writes only ASCII, so its
 * fragments have at most this many bytes. */
export const MOST_CHARACTERS = 2000;

/**
 * @typedef {{view: string, values: Record<string, any>}} LinkState
 */

/**
 * The fragment for a view and its values. If the fragment would be too long, the longest values are
 * left out. Values that are null or undefined are ignored, and so are names that the view
 * does not have.
 * @param {string} view
 * @param {Record<string, any>} values by the names in link_fields.js
 * @returns {{hash: string, left: string[]}} `hash`: the fragment; `left`: the names of the values
 *   that were left out, because they are not valid or the fragment would be too long
 */
export function encodeLink(view, values) {
  const address = ADDRESSES[view];
  const given = Object.entries(values).filter(([, value]) => value !== null && value !== undefined);
  const known = given.filter(([name]) => Object.hasOwn(FIELDS[view], name));
  const written = known.map(([name, value]) => [name, FIELDS[view][name].write(value)]);
  const left = written.filter(([, text]) => text === null).map(([name]) => name);
  const parts = written
    .filter(([, text]) => text !== null)
    .map(([name, text]) => ({ name, text: String(new URLSearchParams([[name, text]])) }));
  const size = () => parts.reduce((sum, { text }) => sum + text.length + 1, address.length);
  while (size() > MOST_CHARACTERS) left.push(dropLongest(parts));
  return { hash: ["#" + address, ...parts.map(({ text }) => text)].join("&"), left };
}

// Removes the longest part and returns its name.
/** @type {(parts: {name: string, text: string}[]) => string} */
function dropLongest(parts) {
  const lengths = parts.map(({ text }) => text.length);
  const [{ name }] = parts.splice(lengths.indexOf(Math.max(...lengths)), 1);
  return name;
}

/**
 * The view and values in a fragment.
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
  const [address, ...rest] = text.split("&");
  // A place alone stands for its first view.
  const view = Object.keys(ADDRESSES).find((one) =>
    [ADDRESSES[one], ADDRESSES[one].split("/")[0]].includes(address),
  );
  if (!view) {
    const known = Object.values(ADDRESSES).join(", ");
    throw new RangeError(`“${address.slice(0, 40)}” is not a view; known: ${known}`);
  }
  const pairs = [...new URLSearchParams(rest.join("&"))];
  return {
    view,
    values: Object.fromEntries(pairs.map(([name, value]) => read(view, name, value))),
  };
}

/** @type {(view: string, name: string, text: string) => [string, any]} */
function read(view, name, text) {
  if (!Object.hasOwn(FIELDS[view], name))
    throw new RangeError(`“${name.slice(0, 40)}” is not a setting of this view`);
  try {
    return [name, FIELDS[view][name].read(text)];
  } catch (problem) {
    throw new RangeError(`${name}: ${problem.message}`);
  }
}
