/* Which picture of a step is shown when, in slow motion, and where the run's own clock stands
   meanwhile. Pure. */
import { stepFrames } from "./step_frames.js";

/**
 * @import { StepFrame } from "./step_frames.js"
 * @import { StepView } from "./step_view.js"
 */

/** Phases of the clock whose time passes during a phase of the pictures. */
const CLOCKS = { guess: ["draft"], check: ["verify"], walk: ["overhead"], result: [] };

/** @type {(step: StepView) => number[] | null} a draft pass for each picture of a guess */
function levelTimes({ step, topo }) {
  const { level_seconds: seconds = [] } = step;
  return seconds.length === topo.levels - 1 ? seconds : null;
}

/** The pictures of one step on two clocks: that of the slow motion, and the step's own. */
export class StepTimeline {
  /** @type {number[]} when each picture ends, in seconds of slow motion */
  ends = [];
  /** @type {number[]} where the step's own clock stands then, in seconds */
  clock = [];

  /** @param {StepView} step */
  constructor(step) {
    /** @type {StepFrame[]} */
    this.frames = stepFrames(step);
    const times = this.times(step.step.seconds ?? {}, levelTimes(step));
    let end = 0;
    let passed = 0;
    this.frames.forEach(({ hold }, i) => {
      end += hold;
      passed += times[i];
      this.ends.push(end);
      this.clock.push(passed);
    });
  }

  /** Seconds of slow motion. */
  get seconds() {
    return this.ends.at(-1);
  }

  /**
   * When a picture begins.
   * @param {number} i its index
   * @returns {number} seconds of slow motion
   */
  start(i) {
    return i ? this.ends[i - 1] : 0;
  }

  /**
   * The picture at a moment.
   * @param {number} at seconds of slow motion
   * @returns {number} its index
   */
  frameAt(at) {
    const found = this.ends.findIndex((end) => at < end);
    return found < 0 ? this.ends.length - 1 : found;
  }

  /**
   * When a picture begins on the step's own clock.
   * @param {number} i its index
   * @returns {number} seconds
   */
  clockStart(i) {
    return i ? this.clock[i - 1] : 0;
  }

  /**
   * The picture at a moment of the step's own clock; one that takes no time is passed over.
   * @param {number} at seconds
   * @returns {number} its index; from the end of the step on, that of the result
   */
  frameAtClock(at) {
    const found = this.clock.findIndex((end) => at < end);
    return found < 0 ? this.clock.length - 1 : found;
  }

  /**
   * The first picture of a phase.
   * @param {string} phase
   * @returns {number} -1 where it has none
   */
  first(phase) {
    return this.frames.findIndex((frame) => frame.phase === phase);
  }

  /**
   * Where the step's own clock stands.
   * @param {number} at seconds of slow motion
   * @returns {number} seconds
   */
  clockAt(at) {
    const i = this.frameAt(at);
    const from = this.start(i);
    const before = this.clockStart(i);
    const share = Math.min(1, (at - from) / (this.ends[i] - from));
    return before + (this.clock[i] - before) * share;
  }

  // The step's own seconds that pass during each picture. What happens in a phase without pictures
  // passes with the check. levels: the time of each level that is drafted, if it is known.
  times(seconds, levels) {
    const share = (phase) => {
      const count = this.frames.filter((frame) => frame.phase === phase).length;
      const total = CLOCKS[phase].reduce((sum, name) => sum + (seconds[name] ?? 0), 0);
      return count ? total / count : 0;
    };
    const each = Object.fromEntries(Object.keys(CLOCKS).map((phase) => [phase, share(phase)]));
    if (this.first("guess") < 0) each.check += seconds.draft ?? 0;
    if (this.first("walk") < 0) each.check += seconds.overhead ?? 0;
    return this.frames.map(({ phase }, i) => levels?.[i] ?? each[phase]);
  }
}
