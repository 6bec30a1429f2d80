/* The blocks of one row of the playback track, in px. */

const LEAST_WIDE = 4; // px; a step below this width is called narrow, any other wide
const SEAM = 1; // px between blocks
const MOST_SEAM = 1 / 3; // the largest share of a block's width that a seam takes

/**
 * A step on the track. Its times are in seconds since the run began.
 * @typedef {object} Block
 * @property {number} from when the step begins
 * @property {number} pass when its drafting ends
 * @property {number} to when it ends
 * @property {number} tokens that it emitted
 */

/**
 * A drawn block of one or more steps. `start` to `middle` is the drafting, `middle` to `end` is the
 * rest. The two widths are in the ratio of the two times.
 * @typedef {object} Drawn
 * @property {number} start px
 * @property {number} middle px
 * @property {number} end px
 * @property {number} tokens that these steps emitted
 */

/**
 * The blocks to draw. Each wide step is a block. Narrow steps that follow each other share blocks,
 * so that they are visible however many there are.
 * @param {Block[]} steps in their order, each beginning where the one before it ends
 * @param {number} scale px per second
 * @returns {Drawn[]}
 */
export function drawnBlocks(steps, scale) {
  const isNarrow = ({ from, to }) => (to - from) * scale < LEAST_WIDE;
  /** @type {Drawn[]} */
  const drawn = [];
  let group = [];
  steps.forEach((step, i) => {
    group.push(step);
    const next = steps[i + 1];
    const wide = (step.to - group[0].from) * scale;
    if (next && isNarrow(step) && isNarrow(next) && wide < LEAST_WIDE) return;
    drawn.push(asOne(group, scale));
    group = [];
  });
  return drawn;
}

/** @type {(group: Block[], scale: number) => Drawn} */
function asOne(group, scale) {
  const sum = (of) => group.reduce((total, step) => total + of(step), 0);
  const start = group[0].from * scale;
  const wide = group.at(-1).to * scale - start;
  const room = wide - Math.min(SEAM, wide * MOST_SEAM);
  const drafting = sum(({ from, pass }) => pass - from) / sum(({ from, to }) => to - from) || 0;
  const tokens = sum((step) => step.tokens);
  return { start, middle: start + room * drafting, end: start + room, tokens };
}
