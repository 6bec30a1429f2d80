/* Presets of acceptance vectors, a parser for pasted vectors, and calculations with vectors. */
import * as planner from "../../shared/web/planner.js";

const MOST_CHARS = 64 * 1024;

/** @typedef {import("./lab_state.js").Origin} Origin */

/**
 * An entry of the menu of vectors.
 * @typedef {{key: string, label: string, origin: Origin, rates: number[]}} Preset
 */

/**
 * One entry of a pair's survey. The survey is the file acceptance.json.
 * @typedef {object} Surveyed
 * @property {string} [kind] kind of text
 * @property {number} temperature
 * @property {number[]} rates counted acceptance rates of the root's children, by rank
 * @property {number[]} accepted number of accepted children, by rank
 * @property {number} visited number of roots at which children were counted
 * @property {{rates: number[], nodes: number}} [fitted] rates fitted to the tokens per step of runs
 *   with trees of `nodes` nodes
 */

/** name: of the pair. @typedef {{measured?: Surveyed[], date?: string, name?: string}} Survey */

/** arXiv 2402.12374, appendix E: Llama3-70B-Instruct with 8B-Instruct, CNN. */
export const PAPER = [
  0.7732, 0.1039, 0.0402, 0.0206, 0.0128, 0.0081, 0.0064, 0.0043, 0.0035, 0.0026, 0.0025, 0.0021,
  0.0016, 0.0014, 0.001, 0.001, 0.001, 0.0007, 0.0007, 0.0006, 0.0007, 0.0006, 0.0004, 0.0004,
  0.0005, 0.0006, 0.0004, 0.0003, 0.0002, 0.0004, 0.0001,
];

/** Vectors that need no models. @type {Preset[]} */
export const MADE = [
  {
    key: "paper",
    label: "Llama3-70B with 8B, CNN",
    origin: { label: "paper", words: "arXiv 2402.12374, App. E" },
    rates: PAPER,
  },
  {
    key: "flat",
    label: "Flat, favours a wide tree",
    origin: { label: "synthetic", words: "flat" },
    rates: [0.35, 0.2, 0.12, 0.08],
  },
  {
    key: "peaked",
    label: "Peaked, favours a chain",
    origin: { label: "synthetic", words: "peaked" },
    rates: [0.9, 0.04, 0.02, 0.01],
  },
];

/**
 * The vectors of a survey. Each entry of the survey has a counted vector. If an entry also has a
 * fitted vector, the fitted one comes first.
 * @param {Survey} survey
 * @param {boolean} isOwn whether the loaded models are those of the survey
 * @returns {Preset[]}
 */
export function recorded(survey, isOwn) {
  const presets = (survey?.measured || []).flatMap((one) => [
    ...(one.fitted ? [fitted(one, survey)] : []),
    counted(one, survey),
  ]);
  return presets.map((one) => ({ ...one, origin: { ...one.origin, own: isOwn } }));
}

/** @type {(one: {kind?: string, temperature: number}) => {texts: string, temperature: number}} */
const countedOn = ({ kind, temperature }) => ({ texts: kind ?? "recorded text", temperature });
/** @type {(one: {kind?: string, temperature: number}) => string} */
const about = ({ kind, temperature }) => (kind ? kind + ", " : "") + "T = " + temperature;

/** @type {(one: Surveyed, survey: Survey) => Preset} */
function fitted(one, { date, name }) {
  const words = `${about(one)}, ${date}; fitted to a measured tree of ${one.fitted.nodes} nodes`;
  return {
    key: "recorded-" + about(one),
    label: `${name}, ${about(one)}`,
    rates: one.fitted.rates,
    origin: { label: "recorded", words, on: countedOn(one) },
  };
}

/** @type {(one: Surveyed, survey: Survey) => Preset} */
function counted(one, { date, name }) {
  const words = `${about(one)}, counted over ${one.visited} roots, ${date}`;
  return {
    key: "counted-" + about(one),
    label: `${name}, ${about(one)}, as counted`,
    rates: one.rates,
    origin: {
      label: "recorded",
      words,
      accepted: one.accepted,
      visited: one.visited,
      on: countedOn(one),
    },
  };
}

/**
 * Vectors that the server measured for the loaded models, each when first needed.
 * @param {{name: string, rates: number[], temperature: number}[]} [vectors]
 * @returns {Preset[]}
 */
export function own(vectors = []) {
  return vectors.map(({ name, rates, temperature }) => ({
    key: "own-" + name,
    label: name,
    rates,
    origin: {
      label: "measured",
      words: "counted quickly, on a short text",
      own: true,
      on: { texts: "a short text", temperature },
    },
  }));
}

/**
 * The vector with one rate changed. The sum may not exceed 1, because at most one child is
 * accepted. If the sum would exceed 1, the other rates are multiplied by `factor`. Otherwise
 * `factor` is 1.
 * @param {number[]} rates
 * @param {number} k
 * @param {number} rate from 0 to 1
 * @returns {{rates: number[], factor: number}}
 */
export function withRate(rates, k, rate) {
  const rest = planner.sum(rates.filter((_, other) => other !== k));
  const room = 1 - rate;
  const factor = rest > room ? room / rest : 1;
  return { rates: rates.map((one, other) => (other === k ? rate : one * factor)), factor };
}

/**
 * Rates from numbers, or from JSON: a list, an object with `rates`, or a survey, whose first entry
 * is used.
 * @param {string} text
 * @returns {number[]}
 * @throws {RangeError} with a message for the visitor
 */
export function parse(text) {
  if (text.length > MOST_CHARS)
    throw new RangeError(`${text.length} characters; at most ${MOST_CHARS} are allowed`);
  const trimmed = text.trim();
  if (!trimmed) throw new RangeError("nothing to read: paste numbers from 0 to 1");
  return planner.checked(/^[[{]/.test(trimmed) ? fromJson(trimmed) : fromNumbers(trimmed));
}

function fromJson(text) {
  let data;
  try {
    data = JSON.parse(text);
  } catch (problem) {
    throw new RangeError("not JSON: " + problem.message);
  }
  const rates = Array.isArray(data) ? data : (data.rates ?? data.measured?.[0]?.rates);
  if (!Array.isArray(rates))
    throw new RangeError(
      'the JSON has no list of rates; paste one like [0.6, 0.1] or {"rates": [0.6, 0.1]}',
    );
  return rates;
}

function fromNumbers(text) {
  return text.split(/[,;\s]+/).map((word, k) => {
    const value = Number(word);
    if (!Number.isNaN(value)) return value;
    const found = word.slice(0, 30);
    throw new RangeError(`rate ${k + 1} is "${found}"; it must be a number from 0 to 1`);
  });
}

/**
 * The 95% Wilson interval for the share of hits in trials.
 * @param {number} hits
 * @param {number} trials
 * @returns {[number, number]}
 */
export function wilson(hits, trials) {
  const z = 1.959964;
  const share = hits / trials;
  const spread = (z * z) / trials;
  const middle = (share + spread / 2) / (1 + spread);
  const noise = (share * (1 - share)) / trials + spread / (4 * trials);
  const half = (z * Math.sqrt(noise)) / (1 + spread);
  return [Math.max(middle - half, 0), Math.min(middle + half, 1)];
}
