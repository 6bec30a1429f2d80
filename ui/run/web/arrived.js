/* What has arrived of a run with its one to four lanes. Painted at most once per frame. Independent
   of the DOM. */
import { CHAINS, LaneRun } from "./lane_run.js";
import { Following } from "../../shared/web/following.js";
import { topology } from "../../shared/web/tree_layout.js";

/**
 * @import { Meta } from "../../shared/web/run_facts.js"
 * @import { Step } from "../../shared/web/step_view.js"
 * @import { Topology } from "../../shared/web/tree_layout.js"
 * @import { AnalysisShown, LaneShown, PoolShown } from "../../shared/web/schema.js"
 * @import { RaceVerdict, Result } from "../../shared/web/schema.js"
 */

/**
 * A message from the server (ui/run/messages.py). A message without a name has only words to show.
 * @typedef {StepsMessage & StateMessage & JudgedMessage} Message
 *
 * @typedef {object} StepsMessage
 * @property {number} [from] index of the first of `steps`
 * @property {number[][]} [trees] the trees that no earlier message had, each as the parents of its
 *   nodes; if `from` is 0, all trees so far
 * @property {Record<string, string>} [pieces] texts by token id: those that no earlier message had
 * @property {Step[]} [steps]
 * @property {LaneShown[]} [lanes]
 * @property {number[]} [step_lanes] the lane of each step
 *
 * @typedef {object} StateMessage
 * @property {string | null} [run] name of the run
 * @property {Meta} [meta]
 * @property {boolean} [done]
 * @property {boolean} [stopped] whether a lane has not finished
 * @property {string} [end] why the run ended or paused
 * @property {string | null} [error]
 * @property {string | null} [notice]
 * @property {string[]} [notes] sentences about the choice of the trees
 *
 * @typedef {object} JudgedMessage
 * @property {(Result | null)[]} [results]
 * @property {AnalysisShown[]} [analysis]
 * @property {Verdict} [verdict]
 * @property {PoolShown} [pool] the further runs
 */

/**
 * Who won and how sure that is. `reasons`, `details`: the sentences under "How sure?".
 * @typedef {RaceVerdict & {reasons: string[], details: string[]}} Verdict
 */

const NO_LANE = new LaneRun();
const KEPT = ["notes", "error", "notice", "results", "analysis", "verdict", "pool"];

// Whether a message is about further runs of a run that is over.
/** @type {(message: Message) => boolean} */
const isOfFurtherRuns = ({ pool, done }) => pool !== undefined && done === undefined;

/** A run as far as it has arrived. */
export class Arrived {
  playing = false; // whether every frame is painted
  frame = 0; // id of the requested animation frame; 0: none
  /** @type {((store: any) => void)[]} */
  listeners = [];
  version = 0; // counts the calls of `reset`
  hasHeard = false; // whether a message has arrived
  following = new Following();

  constructor() {
    this.reset(null);
  }

  /** @param {string | null} name of the run that follows */
  reset(name) {
    this.name = name;
    /** @type {Meta} */
    this.meta = {};
    /** @type {LaneRun[]} */
    this.lanes = [];
    this.chosen = 0; // index of the lane whose steps are shown
    /** @type {Topology[]} */
    this.trees = [];
    /** @type {Map<string, string>} */
    this.pieces = new Map();
    /** @type {Step[]} of all lanes, in the order in which they came */
    this.arrived = [];
    /** @type {number[]} the lane of each of these steps */
    this.stepLanes = [];
    this.done = false; // whether the run has ended or paused
    this.hasPaused = false; // whether it had ended or paused before the newest step
    /** @type {string | null} */
    this.reason = null; // why the run ended
    this.error = null;
    /** @type {string | null} */
    this.notice = null;
    /** @type {string[]} */
    this.notes = [];
    this.stopped = false;
    this.failed = false;
    /** @type {(Result | null)[]} */
    this.results = [];
    /** @type {AnalysisShown[]} */
    this.analysis = [];
    /** @type {Verdict | null} */
    this.verdict = null;
    /** @type {PoolShown | null} */
    this.pool = null;
    this.isEarlier = false; // whether the form was changed since the run appeared
    this.version += 1;
  }

  // -- messages ----------------------------------------------------------------------------------

  /**
   * Take a message, unless steps before it are missing.
   * @param {Message} message
   */
  ingest(message) {
    const has = (message.run ?? null) === this.name ? this.arrived.length : 0;
    if ((message.from ?? 0) > has)
      this.set({ error: "Some steps did not arrive. Reload the page." });
    else this.take(message);
  }

  /** @param {Message} message */
  take(message) {
    this.hasHeard = true;
    const name = message.run ?? null;
    if (isOfFurtherRuns(message) && name !== this.name) return; // the page shows another run
    if (name !== null && name !== this.name) this.reset(name);
    const before = this.steps.length;
    this.hasPaused ||= this.done;
    if (message.meta) this.meta = message.meta;
    this.takeSteps(message);
    this.takeState(message);
    this.settle(before);
    if (message.steps?.length) this.hasPaused = false;
    this.changed();
  }

  /** @param {StepsMessage} message */
  takeSteps({ from = this.arrived.length, steps = [], trees = [], pieces = {}, ...rest }) {
    const before = this.arrived.length;
    // A message that begins with the first step has all trees so far.
    const first = from === 0 ? 0 : this.trees.length;
    const isRepeated = steps.length > 0 && from + steps.length <= before;
    if (!isRepeated) trees.forEach((tree, k) => (this.trees[first + k] ??= topology(tree)));
    for (const [id, text] of Object.entries(pieces)) this.pieces.set(id, text);
    rest.step_lanes?.forEach((lane, k) => (this.stepLanes[from + k] = lane));
    this.arrived.push(...steps.slice(before - from));
    if (rest.lanes) this.takeLanes(rest.lanes);
    else for (let i = before; i < this.arrived.length; i++) this.add(i);
  }

  /**
   * Take the lanes, and count their steps again.
   * @param {LaneShown[]} lanes
   */
  takeLanes(lanes) {
    const isFirst = !this.lanes.length;
    this.lanes = lanes.map((about, i) => new LaneRun(about, i));
    if (isFirst) this.chosen = this.first;
    this.arrived.forEach((_, i) => this.add(i));
  }

  /** @param {number} i index among the steps of all lanes */
  add(i) {
    const step = this.arrived[i];
    this.lanes[this.stepLanes[i]].add(step, this.trees[step.tree]);
  }

  /** @param {Message} message */
  takeState(message) {
    const { done, end = null, stopped = false, error } = message;
    if (done !== undefined) {
      this.done = Boolean(done);
      this.stopped = stopped;
      this.reason = end;
      if (error !== undefined && message.run) this.failed = Boolean(error);
    }
    for (const name of KEPT) if (message[name] !== undefined) this[name] = message[name];
  }

  /** @type {(before: number) => void} called after each message; `before`: how many steps the
   * chosen lane had before it */
  settle() {
    throw new Error("a subclass must define settle()");
  }

  // -- painting ----------------------------------------------------------------------------------

  /**
   * Called before a frame is painted, while `playing`.
   * @param {number} _now time of the frame in ms
   */
  advance(_now) {
    throw new Error("a subclass must define advance()");
  }

  /** @param {Record<string, any>} values of fields */
  set(values) {
    Object.assign(this, values);
    this.changed();
  }

  /** @param {(store: any) => void} listener */
  onPaint(listener) {
    this.listeners.push(listener);
  }

  /** Have the next frame painted. Several calls before that frame cause only one paint. */
  changed() {
    if (!this.frame) this.frame = requestAnimationFrame((now) => this.paint(now));
  }

  /** @param {number} now time of the frame in ms */
  paint(now) {
    this.frame = 0;
    if (this.playing) this.advance(now);
    for (const listener of this.listeners) listener(this);
    if (this.playing) this.changed();
  }

  // -- the lanes ---------------------------------------------------------------------------------

  /** The chosen lane. */
  get lane() {
    return this.lanes[this.chosen] ?? NO_LANE;
  }

  /** Index of the lane that is chosen at first: the planned one, else the first with branches, else
   * the first with a draft. */
  get first() {
    const isPlanned = ({ about }) => about.kind === "planned";
    const branches = ({ about }) => !about.plain && !CHAINS.includes(about.kind);
    const drafts = ({ about }) => !about.plain;
    const found = [isPlanned, branches, drafts].map((test) => this.lanes.findIndex(test));
    return found.find((i) => i >= 0) ?? 0;
  }

  /** The steps of the chosen lane. */
  get steps() {
    return this.lane.steps;
  }

  /** Index of the last of these steps. */
  get last() {
    return this.steps.length - 1;
  }

  /** The most nodes, rows and levels of any tree of the chosen lane. */
  get largest() {
    return this.lane.largest;
  }

  /**
   * The plain lane on the prompt of a lane.
   * @param {LaneRun} lane
   * @returns {LaneRun | null} null if there is no other plain lane on it
   */
  plainOf(lane) {
    const isBeside = ({ about }) => about.plain && about.prompt_name === lane.about.prompt_name;
    return this.lanes.find((one) => one !== lane && isBeside(one)) ?? null;
  }

  /** The plain lane beside the chosen one. */
  get plain() {
    return this.plainOf(this.lane);
  }

  /** The most decode time of any lane so far, in seconds. */
  get end() {
    return Math.max(0, ...this.lanes.map(({ seconds }) => seconds));
  }

  // -- the state ---------------------------------------------------------------------------------

  /** Whether it is shown as recorded: always if labelled "recorded", never if "measured". Anything
   * else, such as a simulated run, is shown as recorded after it has ended or paused. */
  get recorded() {
    const { label } = this.meta;
    return label === "recorded" || (label !== "measured" && this.done);
  }

  /** Source of the numbers on screen: "measured", "recorded" or "simulated"; "" if unknown. */
  get word() {
    return this.meta.label || "";
  }

  /** Why the run ended or paused, as a key of run_words.js; null while it is in progress. */
  get ending() {
    return this.done ? this.lane.finish || this.reason || "stopped" : null;
  }

  get state() {
    if (!this.name) return "none";
    if (!this.done) return "running";
    if (this.stopped) return "stopped";
    return this.failed ? "broken" : "finished";
  }
}
