/* Acceptance vectors from elsewhere: published and made-up ones, and text someone pasted. Pure. */
import * as planner from "./planner.js";

const MOST_CHARS = 64 * 1024;

// arXiv 2402.12374, appendix E: Llama3-70B-Instruct with 8B-Instruct, CNN.
export const PAPER = [
  0.7732, 0.1039, 0.0402, 0.0206, 0.0128, 0.0081, 0.0064, 0.0043, 0.0035, 0.0026, 0.0025, 0.0021,
  0.0016, 0.0014, 0.001, 0.001, 0.001, 0.0007, 0.0007, 0.0006, 0.0007, 0.0006, 0.0004, 0.0004,
  0.0005, 0.0006, 0.0004, 0.0003, 0.0002, 0.0004, 0.0001,
];
// G printed there: [nodes, levels or null, expected tokens].
export const PRINTED = [
  [64, null, 5.917],
  [128, null, 6.607],
  [256, null, 7.289],
  [512, null, 7.968],
  [768, 18, 8.337],
  [1024, 18, 8.609],
];

export const MADE = [
  {
    key: "paper",
    label: "Llama3-70B with 8B, CNN",
    origin: { label: "paper", words: "arXiv 2402.12374, App. E" },
    rates: PAPER,
  },
  { key: "power", label: "Power law", origin: { label: "made up", words: "power law" } },
  {
    key: "flat",
    label: "Flat: a wide tree",
    origin: { label: "made up", words: "flat" },
    rates: [0.35, 0.2, 0.12, 0.08],
  },
  {
    key: "peaked",
    label: "Peaked: a chain",
    origin: { label: "made up", words: "peaked" },
    rates: [0.9, 0.04, 0.02, 0.01],
  },
];

/** The vectors in a survey of a pair, two a kind of text and temperature: fitted to what trees made, which all
 * tabs plan with, and as counted at the first level, with the counts. */
export function recorded(survey) {
  return (survey?.measured || []).flatMap((one) => [
    ...(one.fitted ? [fitted(one, survey)] : []),
    counted(one, survey),
  ]);
}

const about = (one) => (one.kind ? one.kind + ", " : "") + "T = " + one.temperature;

function fitted(one, survey) {
  const words = `${about(one)}, fitted to trees of ${one.fitted.nodes} nodes, ${survey.date}`;
  return {
    key: "recorded-" + about(one),
    label: "Bundled pair, " + about(one),
    temperature: one.temperature,
    rates: one.fitted.rates,
    origin: { label: "recorded", words },
  };
}

function counted(one, survey) {
  const words = `${about(one)}, counted over ${one.visited} nodes, ${survey.date}`;
  return {
    key: "counted-" + about(one),
    label: `Bundled pair, ${about(one)}, counted`,
    temperature: one.temperature,
    rates: one.rates,
    origin: { label: "recorded", words, accepted: one.accepted, visited: one.visited },
  };
}

/** Vectors that were counted of the models in use as they were first needed: [{name, rates, temperature}]. */
export function own(counted) {
  return (counted || []).map((one) => ({
    key: "own-" + one.name,
    label: one.name,
    temperature: one.temperature,
    rates: one.rates,
    origin: { label: "measured", words: "counted quickly, on a short text" },
  }));
}

/** A power law whose sum is at most 1: [rates, first], the first rate lowered where it has to be. */
export function power(exponent, first, length) {
  const shape = planner.sum(planner.powerLaw(exponent, 1, length));
  const most = Math.floor((1 / shape) * 1e6) / 1e6;
  const used = Math.min(first, most);
  return [planner.powerLaw(exponent, used, length), used];
}

/** Rates from JSON (a list, or an object with `rates`) or CSV (one or more numbers a line, or rank,rate). Throws RangeError. */
export function parse(text) {
  if (text.length > MOST_CHARS)
    throw new RangeError(`${text.length} characters; allowed are ${MOST_CHARS}`);
  const trimmed = text.trim();
  if (!trimmed) throw new RangeError("nothing to read: paste numbers from 0 to 1, JSON or CSV");
  return planner.checked(/^[[{]/.test(trimmed) ? fromJson(trimmed) : fromCsv(trimmed));
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
      'the JSON has no list of rates: wanted is [0.6, 0.1] or {"rates": [0.6, 0.1]}',
    );
  return rates;
}

function fromCsv(text) {
  const lines = text
    .split(/\r?\n/)
    .map((line) => line.split(/[,;\s]+/).filter(Boolean))
    .filter((line) => line.length);
  if (lines.length > 1 && lines[0].every((word) => Number.isNaN(Number(word)))) lines.shift(); // names of columns
  const ranked =
    lines.length > 0 &&
    lines.every((line, i) => line.length === 2 && Number(line[0]) === Number(lines[0][0]) + i) &&
    ["0", "1"].includes(lines[0][0]);
  return (ranked ? lines.map((line) => line[1]) : lines.flat()).map((word, k) => {
    const value = Number(word);
    if (Number.isNaN(value))
      throw new RangeError(
        `rate ${k + 1} is "${word.slice(0, 30)}"; it must be a number from 0 to 1`,
      );
    return value;
  });
}

/** [first, exponent] of the nearest power law, as Acceptance.fit_power_law; null for fewer than two positive rates. */
export function fitPower(rates) {
  const points = rates
    .map((rate, k) => [Math.log(k + 1), Math.log(rate), rate])
    .filter(([, , rate]) => rate > 0);
  if (points.length < 2) return null;
  const total = planner.sum(points.map(([, , w]) => w));
  const mx = planner.sum(points.map(([x, , w]) => w * x)) / total;
  const my = planner.sum(points.map(([, y, w]) => w * y)) / total;
  const slope =
    planner.sum(points.map(([x, y, w]) => w * (x - mx) * (y - my))) /
    planner.sum(points.map(([x, , w]) => w * (x - mx) ** 2));
  return [Math.exp(my - slope * mx), -slope];
}

/** The 95 % Wilson interval of hits in trials. */
export function wilson(hits, trials) {
  const z = 1.959964;
  const share = hits / trials;
  const spread = (z * z) / trials;
  const middle = (share + spread / 2) / (1 + spread);
  const half =
    (z * Math.sqrt((share * (1 - share)) / trials + spread / (4 * trials))) / (1 + spread);
  return [Math.max(middle - half, 0), Math.min(middle + half, 1)];
}
