/* What the page knows of a race, at which race time it stands, and when to paint. Reading messages and painting are the live view's. */
import { Playback, SLOWEST_FRAME } from "../../shared/web/playback.js";
import { LaneTotals } from "./lane_totals.js";

const SHORT = 2; // seconds; a recorded race shorter than this plays slower

export class RaceStore extends Playback {
  reset(race) {
    Object.assign(this, {
      race,
      meta: {},
      lanes: [],
      folds: [],
      trees: [],
      moves: [],
      results: [],
      done: false,
      stopped: false,
      broken: false,
      error: null,
      notice: null,
      t: 0,
      follow: true,
      playing: false,
      clock: 0,
      gap: null,
      lastRaw: null,
      opened: false,
      version: (this.version || 0) + 1,
      folded: (this.folded || 0) + 1,
    });
  }

  // -- what comes in -----------------------------------------------------------------------------------------------

  take(message, refill) {
    const race = message.race ?? null;
    if (race !== null && race !== this.race) this.reset(race);
    const moves = message.moves || [];
    const from = message.from ?? this.moves.length;
    const before = this.moves.length;
    const repeated = !refill && moves.length > 0 && from + moves.length <= before;
    if (message.meta) this.meta = message.meta;
    if (message.trees && !repeated)
      this.trees = refill ? message.trees : [...this.trees, ...message.trees];
    if (race !== null && from > before) this.missing(before, from);
    const late = this.put(moves, from) || refill;
    if (message.lanes) this.lanes = message.lanes;
    if (message.lanes || late) this.refold();
    else for (let i = before; i < this.moves.length; i++) this.fold(this.moves[i]);
    this.remark(message);
    this.settle();
    this.changed();
  }

  /** What a message says beside its moves. */
  remark(message) {
    if (message.done !== undefined) {
      this.done = Boolean(message.done);
      this.stopped = Boolean(message.stopped);
    }
    if (message.error !== undefined && (message.race ?? null) !== null)
      this.broken = Boolean(message.error); // else something beside it went wrong
    for (const name of ["error", "notice", "results"])
      if (message[name] !== undefined) this[name] = message[name];
  }

  /** Keep moves at their places; true where one of them came later than its successors. */
  put(moves, from) {
    const before = this.moves.length;
    let late = false;
    moves.forEach((move, k) => {
      if (this.moves[from + k]) return;
      this.moves[from + k] = move;
      late ||= from + k < before;
    });
    return late;
  }

  /** Moves [a, b) did not come: keep their places, say so, and ask for them once. */
  missing(a, b) {
    for (let i = a; i < b; i++) this.moves[i] = null;
    this.gap = { a: this.gap?.a ?? a, b };
    if (typeof this.server.get_moves !== "function") return;
    const { race } = this;
    Promise.resolve(this.server.get_moves([race, a]))
      .then((answer) => {
        const message = typeof answer === "string" ? JSON.parse(answer) : answer;
        if (!message || this.race !== race) return;
        this.take({ ...message, race, done: undefined, error: undefined, notice: undefined }, true);
        if (!this.moves.includes(null)) this.gap = null;
        this.changed();
      })
      .catch(() => {}); // the gap stays on screen, which is the report of it
  }

  fold(move) {
    if (move && this.folds[move.lane])
      this.folds[move.lane].add(move, this.trees[move.tree]?.length || 0);
  }

  /** All folds anew: after a gap was filled, or once the lanes are known. */
  refold() {
    this.folded += 1;
    this.folds = this.lanes.map(() => new LaneTotals());
    for (const move of this.moves) this.fold(move);
  }

  // -- where we stand ----------------------------------------------------------------------------------------------

  get last() {
    return this.moves.length - 1;
  }
  /** Race time of the newest move of all, in seconds. */
  get end() {
    return this.folds.reduce((most, fold) => Math.max(most, fold.clock), 0);
  }
  get state() {
    return !this.race
      ? "none"
      : !this.done
        ? "running"
        : this.stopped
          ? "stopped"
          : this.broken
            ? "broken"
            : "finished";
  }
  /** Tokens at which a lane is through. */
  get line() {
    const most = this.meta.policy?.max_new_tokens;
    return most > 0 ? most : Math.max(...this.folds.map((fold) => fold.at(this.end).tokens), 1);
  }

  /** After moves came in: a recorded race starts to play, a measured one is followed. */
  settle() {
    if (!this.end) return;
    if (!this.opened) {
      this.opened = true;
      if (this.recorded) {
        if (this.done && this.rate === "x1" && this.end < SHORT) this.rate = "x0.25";
        return this.play();
      }
    }
    if (this.follow) this.t = this.end;
  }

  /** To a race time in seconds, and stay there. */
  seek(t) {
    if (!this.end || !Number.isFinite(t)) return;
    this.follow = this.playing = false;
    this.t = Math.max(0, Math.min(this.end, t));
    this.changed();
  }

  /** Race time of the nearest move before or after the present one. */
  beside(by) {
    const times = this.folds
      .map((fold) => {
        const { sums } = fold;
        const k = fold.count(this.t);
        return sums[by > 0 ? k + 1 : sums[k].seconds < this.t ? k : k - 1]?.seconds;
      })
      .filter((time) => time !== undefined);
    return by > 0 ? Math.min(...times, this.end) : Math.max(...times, 0);
  }

  step(by) {
    this.seek(this.beside(by));
  }

  goLive() {
    if (!this.end) return;
    Object.assign(this, { playing: false, follow: true, t: this.end });
    this.changed();
  }

  play() {
    if (!this.end) return;
    if (this.t >= this.end && this.done) this.t = 0;
    Object.assign(this, { playing: true, follow: false, clock: 0, before: null });
    this.changed();
  }

  // -- time --------------------------------------------------------------------------------------------------------

  /** A rate "x0.25" is a share of real time, "s4" that many moves a second. */
  advance(now) {
    const passed = this.before ? Math.min((now - this.before) / 1000, SLOWEST_FRAME) : 0;
    const by = Number(this.rate.slice(1));
    this.before = now;
    if (this.rate[0] === "x") this.t = Math.min(this.end, this.t + passed * by);
    else
      for (this.clock += passed; this.clock >= 1 / by; this.clock -= 1 / by)
        this.t = this.beside(1);
    if (this.t < this.end) return;
    this.playing = false;
    this.follow = !this.done;
  }
}
