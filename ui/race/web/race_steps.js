/* Steps of a race as pictures of their trees need them. Messages of a race have the shape of a
   tree, the accepted path and its text. What else a picture shows (all drafted tokens,
   probabilities, the walk) is asked for, a part of a lane at a time. */
import { topology } from "../../shared/web/tree_layout.js";
import { viewStep } from "../../shared/web/step_view.js";

/** @typedef {import("./race_store.js").RaceStore} RaceStore */
/** @typedef {import("./race_store.js").Step} RaceStep */
/** @typedef {import("../../shared/web/step_view.js").StepView} StepView */
/** @typedef {import("../../shared/web/step_view.js").Step} Step */
/** @typedef {import("../../shared/web/tree_layout.js").Topology} Topology */
/**
 * What the server answers; `steps_of` in ui/race/messages.py.
 * @typedef {{lane?: number, from?: number, trees?: number[][], steps?: Step[],
 *   pieces?: Record<string, string>}} Answer
 */

const PAUSE = 1000; // ms between two questions while a race runs
const WAIT = 4000; // ms before the same step is asked for again

/** The steps of all lanes. */
export class RaceSteps {
  #version = -1; // of the race
  #built = -1; // of its lanes
  #indexed = 0; // steps of the race in `byLane`
  #askedAt = -Infinity; // ms
  #asked = ""; // lane and step
  /** @type {Map<string, Topology>} by the parents of a tree */
  #topologies = new Map();

  /**
   * @param {RaceStore} store
   * @param {() => void} changed called when details have come
   */
  constructor(store, changed) {
    this.store = store;
    this.changed = changed;
    this.forget();
  }

  forget() {
    /** @type {RaceStep[][]} */
    this.byLane = this.store.lanes.map(() => []);
    /** @type {(StepView | undefined)[][]} with only what messages have */
    this.plain = this.store.lanes.map(() => []);
    /** @type {(StepView | undefined)[][]} */
    this.whole = this.store.lanes.map(() => []);
    this.#indexed = 0;
  }

  /** Take the steps that have come since the last call. */
  update() {
    const { version, built, steps } = this.store;
    if (this.#version !== version || this.#built !== built) this.forget();
    this.#version = version;
    this.#built = built;
    for (; this.#indexed < steps.length; this.#indexed++) {
      const step = steps[this.#indexed];
      if (step) this.byLane[step.lane]?.push(complete(step));
    }
  }

  /**
   * @param {number} lane
   * @param {number} i index of the step in its lane
   * @returns {StepView | null} null where there is no such step, or its tree is not known
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
   * Ask the server for the details of a step and of those after it, unless they are known.
   * @param {number} lane
   * @param {number} i
   */
  ask(lane, i) {
    const { race, server, done } = this.store;
    const key = `${race} ${lane} ${i}`;
    const passed = performance.now() - this.#askedAt;
    const isEarly = passed < (this.#asked === key ? WAIT : done ? 0 : PAUSE);
    if (this.isWhole(lane, i) || isEarly || typeof server.get_steps !== "function") return;
    this.#asked = key;
    this.#askedAt = performance.now();
    Promise.resolve(server.get_steps([race, lane, i]))
      .then((answer) => this.take(typeof answer === "string" ? JSON.parse(answer) : answer, race))
      .catch(() => {}); // the outline stays
  }

  /**
   * @param {Answer} answer
   * @param {string} race the race on screen when it was asked for
   */
  take({ lane, from, trees, steps = [], pieces = {} }, race) {
    if (this.store.race !== race || !this.whole[lane] || !steps.length) return;
    const texts = new Map(Object.entries(pieces));
    steps.forEach((step, k) => {
      const topo = this.topology(trees[step.tree]);
      this.whole[lane][from + k] = viewStep(step, topo, texts, this.store.meta);
    });
    this.changed();
  }

  /**
   * A step with only what messages have: texts of the accepted path and of the token after it.
   * @param {number} lane
   * @param {number} i
   * @returns {StepView}
   */
  outline(lane, i) {
    const made = this.byLane[lane][i];
    const { path, text, seconds, finish } = made;
    const topo = this.topology(this.store.trees[made.tree]);
    const bonus = topo.n;
    const pieces = new Map(topo.parents.map((_, node) => [String(node), ""]));
    pieces.set("0", this.byLane[lane][i - 1]?.text.at(-1) ?? "");
    path.slice(1).forEach((node, k) => pieces.set(String(node), text[k] ?? ""));
    pieces.set(String(bonus), text[path.length - 1] ?? "");
    const tokens = topo.parents.map((_, node) => node);
    const emitted = [...path.slice(1), bonus].slice(0, text.length);
    const step = { i, tree: made.tree, tokens, path, bonus, emitted, text, seconds, finish };
    return viewStep(step, topo, pieces, this.store.meta);
  }

  /**
   * @param {number[]} parents
   * @returns {Topology} the same for the same parents
   */
  topology(parents) {
    const key = parents.join();
    if (!this.#topologies.has(key)) this.#topologies.set(key, topology(parents));
    return this.#topologies.get(key);
  }

  /**
   * Rows of a lane's tallest tree so far.
   * @param {number} lane
   * @returns {number}
   */
  rows(lane) {
    const used = new Set(this.byLane[lane].map((step) => step.tree));
    const trees = [...used].map((tree) => this.store.trees[tree]).filter(Boolean);
    return Math.max(1, ...trees.map((parents) => this.topology(parents).rows));
  }

  /**
   * The step of a lane that gave the most tokens, the first of them.
   * @param {number} lane
   * @returns {number} its index
   */
  best(lane) {
    const counts = this.byLane[lane].map((step) => step.text.length);
    return counts.indexOf(Math.max(...counts));
  }
}

/**
 * A step that keeps its place in its lane even where a broken message left a part of it out.
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
