// StepPlayer plays a single step as a series of pictures: in slow motion, or at up to real speed.
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { StepPlayer } from "../../ui/shared/web/step_player.js";
import { viewStep } from "./a_step.js";
import { topology } from "../../ui/shared/web/tree_layout.js";

const [A, B] = [1, 2];
let frames = [];
let isStill = false;

// The root has two children: A is rejected, B accepted. Pictures: guess, check, two trials, result.
const STEP = viewStep(
  {
    i: 0,
    tree: 0,
    tokens: [0, 1, 2],
    trials: [
      [A, 0.1, 0.5, 0.4, false, 0.5],
      [B, 0.8, 0.5, 0.4, true, 0.5],
    ],
    path: [0, B],
    bonus: 3,
    emitted: [2, 3],
    seconds: { draft: 0.004, verify: 0.002, overhead: 0.002 },
  },
  topology([-1, 0, 0]),
  new Map(),
);

/** Let the page paint one frame at `ms`. */
function paint(ms) {
  const due = frames;
  frames = [];
  for (const frame of due) frame(ms);
}

function playerOf() {
  const shown = [];
  const player = new StepPlayer(() => shown.push(player.picture));
  player.take(STEP);
  return { player, shown };
}

beforeEach(() => {
  frames = [];
  isStill = false;
  globalThis.requestAnimationFrame = (frame) => frames.push(frame);
  globalThis.cancelAnimationFrame = () => {
    frames = [];
  };
  globalThis.matchMedia = () => ({ matches: isStill });
});

test("a step is shown at its result first; turn() goes back and forward", () => {
  const { player } = playerOf();
  assert.equal(player.picture, null);
  player.turn(-1);
  assert.equal(player.shown.phase, "walk");
  player.turn(1);
  assert.equal(player.picture, null);
  player.turn(1);
  assert.equal(player.picture, null);
  player.turnTo("guess");
  assert.equal(player.picture, 0);
  player.turn(-1);
  assert.equal(player.picture, 0);
});

test("a step plays from the first picture to the result and ends there", () => {
  const { player, shown } = playerOf();
  player.play();
  for (let ms = 1; player.playing; ms += 100) paint(ms);
  assert.deepEqual(shown, [0, 1, 2, 3, 4, null]); // the result: 4 while playing, null at rest
  assert.equal(frames.length, 0);
});

test("at a fraction of real speed, pictures last in proportion to their real times", () => {
  const { player } = playerOf();
  player.setRate("x0.02");
  player.play();
  player.advance(0.1); // 2 ms into the step: still drafting
  assert.equal(player.shown.phase, "guess");
  player.advance(0.15); // 5 ms
  assert.equal(player.shown.phase, "check");
  assert.equal(player.pace, "at 1/50 of real speed");
  player.advance(0.125); // 7.5 ms: the second trial
  assert.equal(player.shown.trial, 1);
  player.advance(0.05);
  assert.equal(player.picture, null);
  assert.equal(player.playing, false);
});

test("a change of speed moves the clock to the start of the picture that is shown", () => {
  const { player } = playerOf();
  player.turnTo("check");
  player.setRate("x0.1");
  assert.ok(Math.abs(player.clock - 0.004) < 1e-9);
  player.setRate("slow");
  assert.equal(player.clock, player.start);
});

test("if the visitor's system asks for reduced motion, play() only shows the first picture", () => {
  isStill = true;
  const { player } = playerOf();
  player.play();
  assert.equal(player.picture, 0);
  assert.equal(player.playing, false);
  assert.equal(frames.length, 0);
});

test("the pictures of a step have the times of the step's phases", () => {
  const { line } = playerOf().player;
  const phases = [0, 0.0039, 0.004, 0.0061, 1].map(
    (at) => line.frames[line.frameAtClock(at)].phase,
  );
  assert.deepEqual(phases, ["guess", "guess", "check", "walk", "result"]);
});

test("removing the step stops playback, and without a step nothing plays or is explained", () => {
  const { player } = playerOf();
  player.play();
  player.take(null);
  assert.equal(player.explained, null);
  assert.equal(player.playing, false);
  assert.equal(frames.length, 0);
  player.play();
  assert.equal(player.playing, false);
});

test("a step without times plays in slow motion, whatever rate was set", () => {
  const { player } = playerOf();
  player.setRate("x1");
  player.take({ ...STEP, step: { ...STEP.step, seconds: undefined } });
  assert.equal(player.rate, "slow");
  player.play();
  paint(1000);
  paint(1016);
  assert.equal(player.playing, true);
  player.take(STEP);
  assert.equal(player.rate, "x1");
});
