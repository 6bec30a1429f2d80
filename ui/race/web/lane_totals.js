/* What a race comes to at a time t: sums of a lane's moves, speed-up over the plain lane with its range, places. Pure. */
import { Repeats } from "../../shared/web/repeats.js";

const STRETCHES = 8;
const LEAST_STRETCHES = 3;
const STUDENT = [, , , 4.303, 3.182, 2.776, 2.571, 2.447, 2.365]; // as in sequoia/spread.py
const START = Object.freeze({
  moves: 0,
  tokens: 0,
  grams: 0,
  repeats: 0,
  drafted: 0,
  nodes: 0,
  seconds: 0,
  draft: 0,
  verify: 0,
  overhead: 0,
});

const amount = (value) => (Number.isFinite(value) && value > 0 ? value : 0);

/** How many leading items of `list` have `of(item) <= bound`; `of` never falls along the list. */
function upTo(list, bound, of) {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (of(list[middle]) <= bound) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** One lane's moves with their running sums: `sums[k]` stands after k moves, its seconds on the lane's own clock. */
export class LaneTotals {
  constructor() {
    this.moves = [];
    this.sums = [START];
    this.eights = new Repeats();
  }

  add(move, nodes) {
    const last = this.sums[this.moves.length];
    const text = Array.isArray(move.text) ? move.text : [];
    const drafted = Math.min(amount(move.drafted), text.length);
    const [draft, verify, overhead] = ["draft", "verify", "overhead"].map((phase) =>
      amount(move.seconds?.[phase]),
    );
    this.moves.push({ text, drafted, finish: move.finish ?? null });
    this.sums.push({
      ...this.eights.add(text),
      moves: last.moves + 1,
      tokens: last.tokens + text.length,
      drafted: last.drafted + drafted,
      nodes: last.nodes + nodes,
      seconds: last.seconds + draft + verify + overhead,
      draft: last.draft + draft,
      verify: last.verify + verify,
      overhead: last.overhead + overhead,
    });
  }

  get clock() {
    return this.sums[this.moves.length].seconds;
  }
  /** Why the lane ended; null while it goes on. */
  get finish() {
    return this.moves.length ? this.moves[this.moves.length - 1].finish : null;
  }

  /** The lane's pace to t: {log of seconds a token, its standard error by the jackknife over stretches, their number}, or null. */
  pace(t) {
    const k = this.count(t);
    if (this.paced?.k !== k) this.paced = { k, pace: pace(stretches(this.sums.slice(0, k + 1))) };
    return this.paced.pace;
  }

  /** Number of moves that are over at t. */
  count(t) {
    return upTo(this.sums, t, (sum) => sum.seconds) - 1;
  }
  at(t) {
    return t < 0 ? START : this.sums[this.count(t)];
  }
}

const rate = (sum) => sum.tokens / sum.seconds;

/** Tokens a second of `lane` over those of `other`, each at its newest move at t; NaN while either has none. */
export const speedRatio = (lane, other, t) => rate(lane.at(t)) / rate(other.at(t));

/** Tokens and seconds of about eight stretches of equal token count. */
function stretches(sums) {
  const { tokens } = sums[sums.length - 1];
  const ends = new Set([0]);
  for (let k = 1; k <= STRETCHES; k++)
    ends.add(upTo(sums, (k * tokens) / STRETCHES - 1e-9, (sum) => sum.tokens));
  const cut = [...ends].filter((end) => end < sums.length).map((end) => sums[end]);
  return cut.slice(1).map((sum, k) => ({
    tokens: sum.tokens - cut[k].tokens,
    seconds: sum.seconds - cut[k].seconds,
  }));
}

function pace(parts) {
  const total = (of) => parts.reduce((sum, part) => sum + of(part), 0);
  const tokens = total((part) => part.tokens);
  const seconds = total((part) => part.seconds);
  if (parts.length < LEAST_STRETCHES || !parts.every((part) => seconds - part.seconds > 0))
    return null;
  const without = parts.map((part) => Math.log((seconds - part.seconds) / (tokens - part.tokens)));
  const n = without.length;
  const mean = without.reduce((sum, one) => sum + one, 0) / n;
  const squares = without.reduce((sum, one) => sum + (one - mean) ** 2, 0);
  return { log: Math.log(seconds / tokens), error: Math.sqrt(((n - 1) / n) * squares), count: n };
}

/** {least, most, verdict: "faster", "slower" or "even"} of the ratio, about 95 % sure, or null where there are too few stretches. */
export function speedInterval(lane, other, t) {
  const own = lane.pace(t);
  const base = other.pace(t);
  if (!own || !base) return null;
  const wide = STUDENT[Math.min(own.count, base.count)] * Math.hypot(own.error, base.error);
  const log = base.log - own.log;
  const least = Math.exp(log - wide);
  const most = Math.exp(log + wide);
  return { least, most, verdict: least > 1 ? "faster" : most < 1 ? "slower" : "even" };
}

export const EVEN = "no clear difference";

/** A range in words, with where it comes from. */
export const intervalInWords = (spread, word) =>
  `${spread.least.toFixed(2)}–${spread.most.toFixed(2)} ${word}${spread.verdict === "even" ? ", " + EVEN : ""}`;

/** Index of the lane that others are compared with at t: the plain one, else the slowest; -1 where none has moved. */
export function referenceLane(lanes, folds, t) {
  const plain = lanes.findIndex((lane) => lane.plain);
  if (plain >= 0) return plain;
  let slowest = -1;
  folds.forEach((fold, i) => {
    if (fold.at(t).tokens && (slowest < 0 || rate(fold.at(t)) < rate(folds[slowest].at(t))))
      slowest = i;
  });
  return slowest;
}

/**
 * Place of each lane at t, {place from 1, tied}; null where it has not finished, or where one that is behind on its
 * clock may still overtake it. A place counts the lanes that finished earlier and were clearly faster, and is never
 * better than that of a lane that finished earlier: so lanes that share one are neighbours in the order of finish.
 */
export function lanePlaces(folds, t, done) {
  const finished = folds
    .filter((fold) => fold.finish && fold.clock <= t)
    .sort((a, b) => a.clock - b.clock);
  const ahead = (other, fold) =>
    other.clock < fold.clock && speedInterval(other, fold, t)?.verdict !== "even";
  const taken = [];
  for (const fold of finished) {
    const faster = finished.filter((other) => ahead(other, fold)).length;
    taken.push(Math.max(taken.at(-1) ?? 1, 1 + faster));
  }
  const behind = (clock) => !done && folds.some((fold) => !fold.finish && fold.clock < clock);
  return folds.map((fold) => {
    const place = taken[finished.indexOf(fold)];
    if (!place || behind(fold.clock)) return null;
    return { place, tied: taken.indexOf(place) !== taken.lastIndexOf(place) };
  });
}

/** A place in words: "1st", or "shared 1st". */
export const placeInWords = ({ place, tied }) => (tied ? "shared " : "") + ordinal(place);
export const ordinal = (place) => place + (["th", "st", "nd", "rd"][place] || "th");
