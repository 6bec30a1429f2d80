/* When each picture of a step (see step_frames.js) begins and ends, both in slow motion and in the
   step's real time. */
import { stepFrames } from "./step_frames.js";

/**
 * @import { StepFrame } from "./step_frames.js"
 * @import { StepView } from "./step_view.js"
 */

/** For each phase of the pictures, the keys in a step's `seconds` whose times belong to it. */
const CLOCKS = { guess: ["draft"], check: ["verify"], walk: ["overhead"], result: [] };

// The seconds of each level's draft pass; null if they are not known.
/** @type {(step: StepView) => number[] | null} */
function levelTimes({ step, topo }) {
  const { level_seconds: seconds = [] } = step;
  return seconds.length === topo.levels - 1 ? seconds : null;
}

/** The pictures of one step, with their times on two clocks: slow motion and real time. */
export class StepTimeline {
  /** @type {number[]} end of each picture, in seconds of slow motion */
  ends = [];
  /** @type {number[]} end of each picture, in seconds of real time */
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

  /** Length of the whole step in seconds of slow motion. */
  get seconds() {
    return this.ends.at(-1);
  }

  /**
   * When a picture begins in slow motion.
   * @param {number} i its index
   * @returns {number} seconds of slow motion
   */
  start(i) {
    return i ? this.ends[i - 1] : 0;
  }

  /**
   * The picture at a moment of slow motion.
   * @param {number} at seconds of slow motion
   * @returns {number} its index
   */
  frameAt(at) {
    const found = this.ends.findIndex((end) => at < end);
    return found < 0 ? this.ends.length - 1 : found;
  }

  /**
   * When a picture begins in real time.
   * @param {number} i its index
   * @returns {number} seconds
   */
  clockStart(i) {
    return i ? this.clock[i - 1] : 0;
  }

  /**
   * The picture at a moment of real time. A picture that took no time is skipped.
   * @param {number} at seconds
   * @returns {number} its index; after the end of the step, that of the last picture
   */
  frameAtClock(at) {
    const found = this.clock.findIndex((end) => at < end);
    return found < 0 ? this.clock.length - 1 : found;
  }

  /**
   * The first picture of a phase.
   * @param {string} phase
   * @returns {number} its index; -1 if the phase has no picture
   */
  first(phase) {
    return this.frames.findIndex((frame) => frame.phase === phase);
  }

  /**
   * Convert a moment of slow motion to real time.
   * @param {number} at seconds of slow motion
   * @returns {number} seconds of real time
   */
  clockAt(at) {
    const i = this.frameAt(at);
    const from = this.start(i);
    const before = this.clockStart(i);
    const share = Math.min(1, (at - from) / (this.ends[i] - from));
    return before + (this.clock[i] - before) * share;
  }

  // The real seconds of each picture. The time of a phase without pictures is added to the check.
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
