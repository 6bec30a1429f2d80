/* The steps of a race, in the form that pictures of their trees need. Messages of a race have the
   tree, the accepted path, the emitted text and the times of each step. The details (all drafted
   tokens, probabilities, the verifier's decisions) are requested from the server, some steps of a
   lane at a time. */
import { topology } from "../../shared/web/tree_layout.js";
import { viewStep } from "../../shared/web/step_view.js";

/** @typedef {import("./race_store.js").RaceStore} RaceStore */
/** @typedef {import("./race_store.js").Step} RaceStep */
/** @typedef {import("../../shared/web/step_view.js").StepView} StepView */
/** @typedef {import("../../shared/web/step_view.js").Step} Step */
/** @typedef {import("../../shared/web/tree_layout.js").Topology} Topology */
/**
 * The server's answer, made by `steps_of` in ui/race/messages.py.
 * @typedef {{lane?: number, from?: number, trees?: number[][], steps?: Step[],
 *   pieces?: Record<string, string>}} Answer
 */

const PAUSE = 1000; // ms between two requests while a race runs
const WAIT = 4000; // ms before the same step is requested again
const NOT_LOADED = "…"; // shown for a token whose text has not arrived; an empty text is shown as ∅

/** The steps of all lanes. */
export class RaceSteps {
  #version = -1; // the store's `version` at the last update
  #built = -1; // the store's `built` at the last update
  #indexed = 0; // how many of the race's steps `update` has handled
  #hasGap = false; // whether one of these did not arrive
  #askedAt = -Infinity; // time of the last request, in ms
  #asked = ""; // race, lane and step of the last request
  /** @type {Map<string, Topology>} by the parents of a tree */
  #topologies = new Map();

  /**
   * @param {RaceStore} store
   * @param {() => void} changed called when details have arrived
   */
  constructor(store, changed) {
    this.store = store;
    this.changed = changed;
    this.forget();
  }

  forget() {
    /** @type {RaceStep[][]} */
    this.byLane = this.store.lanes.map(() => []);
    /** @type {(StepView | undefined)[][]} with the content of messages only */
    this.plain = this.store.lanes.map(() => []);
    /** @type {(StepView | undefined)[][]} with all details */
    this.whole = this.store.lanes.map(() => []);
    /** @type {number[]} for each lane, how many of its steps are before the first gap */
    this.sure = this.store.lanes.map(() => 0);
    this.#hasGap = false;
    this.#indexed = 0;
  }

  /** Sort the steps that have arrived since the last call into their lanes. */
  update() {
    const { version, built, steps } = this.store;
    if (this.#version !== version || this.#built !== built) this.forget();
    this.#version = version;
    this.#built = built;
    for (; this.#indexed < steps.length; this.#indexed++) {
      const step = steps[this.#indexed];
      if (step) this.add(step);
      else this.noteGap();
    }
  }

  /** @param {RaceStep} step */
  add(step) {
    this.byLane[step.lane]?.push(complete(step));
    if (!this.#hasGap) this.sure[step.lane]++;
  }

  // A step is missing, and its lane is not known. So the indexes of later steps may be too small in
  // any lane.
  noteGap() {
    this.#hasGap = true;
    this.whole.forEach((steps, lane) => steps.splice(this.sure[lane]));
  }

  /** @type {(lane: number, i: number) => boolean} whether step i has its true index */
  isSure(lane, i) {
    return !this.#hasGap || i < this.sure[lane];
  }

  /**
   * @param {number} lane
   * @param {number} i index of the step in its lane
   * @returns {StepView | null} null if there is no such step, or its tree is not known
   */
  at(lane, i) {
    const made = this.byLane[lane]?.[i];
    if (!made || !this.store.trees[made.tree]) return null;
    return this.whole[lane][i] ?? (this.plain[lane][i] ??= this.outline(lane, i));
  }

  /**
   * @param {number} lane
   * @param {number} i
   * @returns {boolean} whether all details of a step are known
   */
  isWhole(lane, i) {
    return Boolean(this.whole[lane]?.[i]);
  }

  /**
   * Request the details of a step and of some steps after it. Nothing is requested if the details
   * of the step itself are known, if an earlier step is missing, or if the last request was too
   * recent. A saved page requests nothing.
   * @param {number} lane
   * @param {number} i
   */
  ask(lane, i) {
    const { race, server, done } = this.store;
    const key = `${race} ${lane} ${i}`;
    const passed = performance.now() - this.#askedAt;
    const isEarly = passed < (this.#asked === key ? WAIT : done ? 0 : PAUSE);
    const isDone = this.isWhole(lane, i) || !this.isSure(lane, i);
    if (isDone || isEarly || typeof server.get_steps !== "function") return;
    this.#asked = key;
    this.#askedAt = performance.now();
    Promise.resolve(server.get_steps([race, lane, i]))
      .then((answer) => this.take(typeof answer === "string" ? JSON.parse(answer) : answer, race))
      .catch(() => {}); // without an answer, the picture keeps its outline
  }

  /**
   * @param {Answer} answer
   * @param {string} race the race that was on screen at the request
   */
  take({ lane, from, trees, steps = [], pieces = {} }, race) {
    if (this.store.race !== race || !this.whole[lane] || !steps.length) return;
    const texts = new Map(Object.entries(pieces));
    steps.forEach((step, k) => {
      if (!this.isSure(lane, from + k)) return;
      const topo = this.topology(trees[step.tree]);
      this.whole[lane][from + k] = viewStep(step, topo, texts, this.store.meta);
    });
    this.changed();
  }

  /**
   * A step with the content of messages only. Tokens that were not emitted have no text yet.
   * @param {number} lane
   * @param {number} i
   * @returns {StepView}
   */
  outline(lane, i) {
    const made = this.byLane[lane][i];
    const { path, text, seconds, finish } = made;
    const topo = this.topology(this.store.trees[made.tree]);
    const bonus = topo.n;
    const pieces = new Map(topo.parents.map((_, node) => [String(node), NOT_LOADED]));
    pieces.set("0", this.byLane[lane][i - 1]?.text.at(-1) ?? NOT_LOADED);
    path.slice(1).forEach((node, k) => pieces.set(String(node), text[k] ?? NOT_LOADED));
    pieces.set(String(bonus), text[path.length - 1] ?? NOT_LOADED);
    const tokens = topo.parents.map((_, node) => node);
    const emitted = [...path.slice(1), bonus].slice(0, text.length);
    const verdict = { path, bonus, trials: [] };
    const step = { index: i, tree: made.tree, tokens, verdict, emitted, text, seconds, finish };
    return viewStep(step, topo, pieces, this.store.meta);
  }

  /**
   * @param {number[]} parents
   * @returns {Topology} the same object for the same parents
   */
  topology(parents) {
    const key = parents.join();
    if (!this.#topologies.has(key)) this.#topologies.set(key, topology(parents));
    return this.#topologies.get(key);
  }

  /**
   * The number of rows of a lane's tallest tree so far.
   * @param {number} lane
   * @returns {number}
   */
  rows(lane) {
    const used = new Set(this.byLane[lane].map((step) => step.tree));
    const trees = [...used].map((tree) => this.store.trees[tree]).filter(Boolean);
    return Math.max(1, ...trees.map((parents) => this.topology(parents).rows));
  }

  /**
   * The step of a lane that emitted the most tokens; the first one, if several did.
   * @param {number} lane
   * @returns {number} its index, -1 if the lane has no steps
   */
  best(lane) {
    const counts = this.byLane[lane].map((step) => step.text.length);
    return counts.indexOf(Math.max(...counts));
  }
}

/**
 * The step with defaults for parts that a broken message left out. The step cannot be
 * dropped, because later steps of the lane would then have wrong indexes.
 * @param {RaceStep} step
 * @returns {RaceStep}
 */
function complete(step) {
  const { text, path, seconds } = step;
  return {
    ...step,
    text: Array.isArray(text) ? text : [],
    path: Array.isArray(path) ? path : [0],
    seconds: seconds ?? { draft: 0, verify: 0, overhead: 0 },
  };
}
