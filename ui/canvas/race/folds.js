/* What a race comes to at a time t: sums of a lane's moves, speed-up over the plain lane with its spread, places. Pure. */
(function (S) {
  "use strict";

  const R = (S.race = S.race || {});
  const STRETCHES = 8, LEAST_STRETCHES = 3;
  const START = Object.freeze({ moves: 0, tokens: 0, drafted: 0, nodes: 0, seconds: 0, draft: 0, verify: 0, overhead: 0 });

  const amount = (value) => (Number.isFinite(value) && value > 0 ? value : 0);

  /** How many leading items of `list` have `of(item) <= bound`; `of` never falls along the list. */
  function upTo(list, bound, of) {
    let low = 0, high = list.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (of(list[middle]) <= bound) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** One lane's moves with their running sums: `sums[k]` stands after k moves, its seconds on the lane's own clock. */
  R.Fold = class {
    constructor() {
      this.moves = [];
      this.sums = [START];
    }

    add(move, nodes) {
      const last = this.sums[this.moves.length], text = Array.isArray(move.text) ? move.text : [], drafted = Math.min(amount(move.drafted), text.length);
      const [draft, verify, overhead] = ["draft", "verify", "overhead"].map((phase) => amount(move.seconds?.[phase]));
      this.moves.push({ text, drafted, finish: move.finish ?? null });
      this.sums.push({
        moves: last.moves + 1, tokens: last.tokens + text.length, drafted: last.drafted + drafted, nodes: last.nodes + nodes,
        seconds: last.seconds + draft + verify + overhead, draft: last.draft + draft, verify: last.verify + verify, overhead: last.overhead + overhead,
      });
    }

    get clock() { return this.sums[this.moves.length].seconds; }
    /** Why the lane ended; null while it goes on. */
    get finish() { return this.moves.length ? this.moves[this.moves.length - 1].finish : null; }

    /** Number of moves that are over at t. */
    count(t) { return upTo(this.sums, t, (sum) => sum.seconds) - 1; }
    at(t) { return t < 0 ? START : this.sums[this.count(t)]; }
  };

  const rate = (sum) => sum.tokens / sum.seconds;

  /** Tokens a second of `lane` over those of `other`, each at its newest move at t; NaN while either has none. */
  R.ratio = (lane, other, t) => rate(lane.at(t)) / rate(other.at(t));

  /** Its ratio within one stretch of time. Where `other` did not move in it (it has finished), its whole run to t stands in. */
  function within(lane, other, from, to, t) {
    const between = (fold) => {
      const a = fold.at(from), b = fold.at(to);
      return (b.tokens - a.tokens) / (b.seconds - a.seconds);
    };
    const base = between(other);
    return between(lane) / (Number.isFinite(base) ? base : rate(other.at(t)));
  }

  /** Times at which the lane's run to t is cut into about eight stretches of equal token count. */
  function cuts(lane, t) {
    const sums = lane.sums.slice(0, lane.count(t) + 1), { tokens } = sums[sums.length - 1], ends = new Set([0]);
    for (let k = 1; k <= STRETCHES; k++) ends.add(upTo(sums, (k * tokens) / STRETCHES - 1e-9, (sum) => sum.tokens));
    return [...ends].filter((end) => end < sums.length).map((end) => sums[end].seconds);
  }

  /** {least, median, most, stretches} of the ratio over consecutive stretches, or null where there are too few. */
  R.spread = function (lane, other, t) {
    const ends = cuts(lane, t), ratios = [];
    for (let k = 1; k < ends.length; k++) ratios.push(within(lane, other, ends[k - 1], ends[k], t));
    const sorted = ratios.filter(Number.isFinite).sort((a, b) => a - b), n = sorted.length;
    if (n < LEAST_STRETCHES) return null;
    return { least: sorted[0], median: (sorted[(n - 1) >> 1] + sorted[n >> 1]) / 2, most: sorted[n - 1], stretches: n };
  };

  /** Index of the lane that others are compared with at t: the plain one, else the slowest; -1 where none has moved. */
  R.reference = function (lanes, folds, t) {
    const plain = lanes.findIndex((lane) => lane.plain);
    if (plain >= 0) return plain;
    let slowest = -1;
    folds.forEach((fold, i) => {
      if (fold.at(t).tokens && (slowest < 0 || rate(fold.at(t)) < rate(folds[slowest].at(t)))) slowest = i;
    });
    return slowest;
  };

  /** Place of each lane at t, from 1; null where it has not finished, or where one behind on its clock may still overtake it. */
  R.places = function (folds, t, done) {
    const over = folds.map((fold) => (fold.finish && fold.clock <= t ? fold.clock : null));
    const behind = (clock) => !done && folds.some((fold) => !fold.finish && fold.clock < clock);
    return over.map((clock) => (clock === null || behind(clock) ? null : 1 + folds.filter((fold) => fold.finish && fold.clock < clock).length));
  };

  R.ordinal = (place) => place + (["th", "st", "nd", "rd"][place] || "th");
})((window.Sequoia = window.Sequoia || {}));
