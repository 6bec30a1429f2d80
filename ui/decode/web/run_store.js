/* What the page knows of a run, where it stands in it, and when to paint. Knows no elements. */
import { Playback, SLOWEST_FRAME } from "../../shared/web/playback.js";
import { viewStep } from "./step_view.js";
import * as treeLayout from "../../shared/web/tree_layout.js";

const LARGE = 160; // nodes from which on the focus layout is the default
const FLASH = 0.2; // seconds; a step shorter than this is not seen
const NOTHING = Object.freeze({
  steps: 0,
  tokens: 0,
  seconds: 0,
  nodes: 0,
  proposed: 0,
  drafted: 0,
  most: 0,
});
export class RunStore extends Playback {
  mode = null; // "focus", "all", or null: by size
  heat = false;
  query = "";

  reset(run) {
    Object.assign(this, {
      run,
      meta: {},
      trees: [],
      pieces: new Map(),
      steps: [],
      done: false,
      end: null,
      tail: "",
      error: null,
      notice: null,
      at: -1,
      follow: true,
      playing: false,
      clock: 0,
      hover: null,
      pin: null,
      opened: new Set(),
      gap: null,
      sums: [],
      accepted: [],
      seen: [],
      views: new Map(),
      lastRaw: null,
      version: (this.version || 0) + 1,
    });
  }

  // -- what comes in -----------------------------------------------------------------------------------------------

  take(message, refill) {
    if (message.run !== undefined && message.run !== this.run) this.reset(message.run);
    const from = message.from ?? this.steps.length;
    const steps = message.steps || [];
    const repeated = !refill && steps.length > 0 && from + steps.length <= this.steps.length;
    if (message.meta) this.meta = message.meta;
    if (message.trees && !repeated) this.addTrees(message.trees, refill);
    for (const [id, text] of Object.entries(message.pieces || {})) this.pieces.set(id, text);
    const before = this.steps.length;
    if (from > before) this.missing(before, from);
    steps.forEach((step, k) => this.put(from + k, step));
    if (message.done !== undefined) {
      this.done = Boolean(message.done);
      this.end = message.end ?? null;
      this.tail = String(message.tail ?? "");
    }
    if (message.error !== undefined) this.error = message.error;
    if (message.notice !== undefined) this.notice = message.notice;
    if (steps.length) this.sum(Math.min(from, before));
    this.settle(before);
    this.changed();
  }

  addTrees(trees, refill) {
    if (refill) this.trees.length = this.seen.length = this.accepted.length = 0; // an answer to a gap names them all
    for (const parents of trees) this.trees.push(treeLayout.topology(parents));
    if (refill) this.steps.forEach((step, i) => step && this.count(i, step));
  }

  put(i, step) {
    if (this.steps[i]) return;
    this.steps[i] = step;
    this.views.delete(i);
    this.count(i, step);
  }

  /** Steps [a, b) did not come: keep their places, say so, and ask for them once. */
  missing(a, b) {
    for (let i = a; i < b; i++) this.steps[i] = null;
    this.gap = { a, b };
    if (typeof this.server.get_steps !== "function") return;
    const run = this.run;
    Promise.resolve(this.server.get_steps(run, a))
      .then((answer) => {
        const message = typeof answer === "string" ? JSON.parse(answer) : answer;
        if (!message || this.run !== run) return;
        this.take({ ...message, run, done: undefined, error: undefined, notice: undefined }, true);
        if (!this.steps.includes(null)) this.gap = null;
        this.changed();
      })
      .catch(() => {}); // the gap stays on screen, which is the report of it
  }

  // -- folds over the steps ----------------------------------------------------------------------------------------

  /** How often each slot of a tree was accepted, for the heat layer. */
  count(i, step) {
    const topo = this.trees[step.tree];
    if (!topo) return;
    const slots = (this.accepted[step.tree] ||= new Uint32Array(topo.n));
    for (const node of step.path || []) slots[node]++;
    this.seen[step.tree] = (this.seen[step.tree] || 0) + 1;
  }

  /** Share of the steps with this tree in which the slot was accepted, 0 to 1. */
  share(tree, node) {
    return this.seen[tree] ? this.accepted[tree][node] / this.seen[tree] : 0;
  }

  sum(from) {
    let last = this.sums[from - 1] || NOTHING;
    for (let i = from; i < this.steps.length; i++) {
      const step = this.steps[i];
      if (step) {
        const emitted = step.emitted.length;
        const path = step.path.length - 1;
        const { draft = 0, verify = 0, overhead = 0 } = step.seconds || {};
        last = {
          steps: last.steps + 1,
          tokens: last.tokens + emitted,
          seconds: last.seconds + draft + verify + overhead,
          nodes: last.nodes + path,
          proposed: last.proposed + step.tokens.length - 1,
          drafted: last.drafted + Math.min(path, emitted),
          most: Math.max(last.most, emitted),
        };
      }
      this.sums[i] = last;
    }
  }

  /** Totals of the run up to and with step i. */
  totals(i = this.at) {
    const sum = this.sums[i] || NOTHING;
    const plain = this.meta.plain_seconds;
    return {
      ...sum,
      tokensPerStep: sum.steps ? sum.tokens / sum.steps : NaN,
      tokensPerSecond: sum.seconds ? sum.tokens / sum.seconds : NaN,
      draftShare: sum.tokens ? sum.drafted / sum.tokens : NaN,
      acceptedPerStep: sum.steps ? sum.nodes / sum.steps : NaN,
      proposedPerStep: sum.steps ? sum.proposed / sum.steps : NaN,
      speedup: plain && sum.seconds ? (plain * sum.tokens) / sum.seconds : NaN,
      whole: i === this.last, // the range is that of the whole run
      speedups:
        plain && sum.seconds && i === this.last
          ? (this.meta.plain_spread || []).map((one) => (one * sum.tokens) / sum.seconds)
          : [],
    };
  }

  /** The step at i as views want it, or null where it is missing. */
  view(i = this.at) {
    const step = this.steps[i];
    const topo = step && this.trees[step.tree];
    if (!topo) return null;
    let view = this.views.get(i);
    if (!view) {
      view = viewStep(step, topo, this.pieces, this.meta);
      if (this.views.size > 200) this.views.clear();
      this.views.set(i, view);
    }
    return view;
  }

  // -- where we stand ----------------------------------------------------------------------------------------------

  /** Why the run ended, in a word of words.js; null while it goes on. A file says it with its last step or not at all. */
  get ending() {
    return this.done ? this.end || this.steps[this.last]?.finish || "stopped" : null;
  }
  get last() {
    return this.steps.length - 1;
  }
  get focused() {
    return this.mode ? this.mode === "focus" : this.largest.n > LARGE;
  }

  /** Most nodes, rows and levels of any tree of the run: the layout follows these, so that a short step does not turn it over. */
  get largest() {
    const most = (name, least) =>
      this.trees.reduce((top, topo) => Math.max(top, topo[name]), least);
    return { n: most("n", 0), rows: most("rows", 1), levels: most("levels", 1) };
  }

  /** After steps came in: a recorded run starts to play, a measured one is followed. */
  settle(before) {
    if (!this.steps.length) return;
    if (before === 0 || this.at < 0) {
      this.at = this.recorded ? 0 : this.last;
      this.follow = !this.recorded;
      if (this.recorded && this.steps.length > 1) {
        if (this.rate === "x1" && this.duration(this.last) < FLASH) this.rate = "s2"; // at real speed it would be over at once
        this.play();
        this.opening = true;
      }
    } else if (this.follow) this.move(this.last);
  }

  move(i) {
    const to = Math.max(0, Math.min(this.last, i));
    if (this.last < 0 || to === this.at) return;
    const tree = this.steps[this.at]?.tree;
    this.at = to;
    this.hover = null;
    if (this.steps[to]?.tree !== tree) {
      this.pin = null;
      this.opened = new Set();
    }
  }

  /** Go to a step and stay there. */
  seek(i, { pin } = {}) {
    if (this.last < 0) return;
    this.follow = this.playing = false;
    this.move(Math.round(i));
    if (pin !== undefined) this.pin = pin;
    this.changed();
  }

  step(by) {
    this.seek(this.at + by);
  }

  /** To the newest step, and on with it as more come. */
  goLive() {
    if (this.last < 0) return;
    this.playing = false;
    this.follow = true;
    this.move(this.last);
    this.changed();
  }

  play() {
    if (this.last < 0) return;
    if (this.at >= this.last && this.done) this.move(0);
    Object.assign(this, { playing: true, follow: false, opening: false, clock: 0, before: null });
    this.changed();
  }

  get selected() {
    const view = this.view();
    if (!view) return null;
    const fits = (node) =>
      node !== null && (node === "bonus" ? view.kind !== "none" : node < view.topo.n);
    return fits(this.hover) ? this.hover : fits(this.pin) ? this.pin : view.decisive;
  }

  unfold(key) {
    if (this.opened.has(key)) this.opened.delete(key);
    else this.opened.add(key);
    this.changed();
  }

  // -- time and paint ----------------------------------------------------------------------------------------------

  /** Seconds step i stays on screen at the chosen speed: its own time, or a fixed rate. */
  duration(i) {
    const by = Number(this.rate.slice(1));
    if (this.rate[0] === "s") return 1 / by;
    const sums = this.sums;
    const own = (sums[i]?.seconds || 0) - (sums[i - 1]?.seconds || 0);
    return own / by;
  }

  advance(now) {
    const passed = this.before ? Math.min((now - this.before) / 1000, SLOWEST_FRAME) : 0;
    this.before = now;
    this.clock += passed;
    while (this.at < this.last && this.clock >= this.duration(this.at + 1)) {
      this.clock -= this.duration(this.at + 1);
      this.move(this.at + 1);
    }
    if (this.at >= this.last) {
      this.clock = 0;
      if (this.done) this.rest();
    }
  }

  /** The last step with a full-sized tree, one of the size that most steps have or larger; -1 where none arrived. */
  get lastFull() {
    const sizes = this.steps.map((step) => (step && this.trees[step.tree]?.n) || 0);
    const counts = new Map();
    for (const n of sizes) counts.set(n, (counts.get(n) || 0) + 1);
    const [usual] = [...counts].reduce(
      (best, one) =>
        one[0] && (one[1] > best[1] || (one[1] === best[1] && one[0] > best[0])) ? one : best,
      [1, 0],
    );
    return sizes.findLastIndex((n) => n >= usual && n > 0);
  }

  /** The end of the run. What plays by itself when the page opens comes to rest on the last step with a full-sized tree. */
  rest() {
    this.playing = false;
    if (this.opening) this.move(this.lastFull);
    this.opening = false;
  }
}
