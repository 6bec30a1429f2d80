// A step in slow motion: the order of its pictures, their captions, and their times in slow motion
// and in real time.
import assert from "node:assert/strict";
import { test } from "node:test";
import { chainEnd, result, trialCaption as trial } from "../../ui/shared/web/step_words.js";
import { StepTimeline, stepFrames } from "../../ui/shared/web/step_motion.js";
import { viewStep } from "./a_step.js";
import { topology } from "../../ui/shared/web/tree_layout.js";

// "x" is the root. It has the children "a" and "d", and "a" has the children "b" and "c".
const TREE = topology([-1, 0, 0, 1, 1]);
const PIECES = new Map([..."xadbco"].map((piece, id) => [String(id), piece]));
const [A, D, B, C] = [1, 2, 3, 4];

/** A step with TREE. Each of `trials` is [node, accepted]. */
function stepOf(trials, { path, temperature = 0, finish = null } = {}) {
  const rows = trials.map(([node, accepted]) => [
    node,
    accepted ? 0.8 : 0.1,
    0.5,
    0.4,
    accepted,
    0.5,
  ]);
  const step = {
    i: 0,
    tree: 0,
    tokens: [0, 1, 2, 3, 4],
    trials: rows,
    path,
    bonus: 5,
    emitted: [...path.slice(1), 5],
    seconds: { draft: 0.004, verify: 0.002, overhead: 0.001 },
    finish,
  };
  return viewStep(step, TREE, PIECES, { params: { temperature } });
}

// The trials of a step that accepts "a", rejects "b" and accepts its sibling "c".
const SECOND_CHILD = [
  [A, true],
  [B, false],
  [C, true],
];
const forked = (more) => stepOf(SECOND_CHILD, { path: [0, A, C], ...more });

test("the pictures come in the order of the step's phases", () => {
  const phases = stepFrames(forked()).map(({ phase }) => phase);
  assert.deepEqual(phases, ["guess", "guess", "check", "walk", "walk", "walk", "result"]);
});

test("the draft adds one level after another", () => {
  const [first, second, check] = stepFrames(forked());
  assert.deepEqual(first.states, ["root", "drafted", "drafted", "hidden", "hidden"]);
  assert.deepEqual(second.states, ["root", "drafted", "drafted", "drafted", "drafted"]);
  assert.deepEqual(check.states.slice(1), new Array(4).fill("checked"));
});

test("the walk decides one child after another, and the token of the target comes last", () => {
  const frames = stepFrames(forked());
  const walk = frames.filter(({ phase }) => phase === "walk");
  assert.deepEqual(walk[0].states, ["root", "accepted", "untested", "drafted", "drafted"]);
  assert.equal(walk[1].states[B], "rejected");
  assert.equal(walk[1].states[C], "drafted");
  assert.equal(walk[2].states[C], "accepted");
  assert.deepEqual(
    walk.map(({ trial: index }) => index),
    [0, 1, 2],
  );
  assert.deepEqual(frames.map(({ hasBonus }) => hasBonus).indexOf(true), frames.length - 1);
});

test("below a rejected child nothing can be reached any more", () => {
  const [last] = stepFrames(
    stepOf(
      [
        [A, false],
        [D, false],
      ],
      { path: [0] },
    ),
  ).slice(-2);
  assert.deepEqual(last.states, ["root", "rejected", "rejected", "never", "never"]);
});

test("below a sibling of an accepted child nothing can be reached any more", () => {
  const walk = stepFrames(stepOf([[D, true]], { path: [0, D] })).at(-2);
  assert.deepEqual(walk.states, ["root", "untested", "accepted", "never", "never"]);
});

test("the caption says where a chain would have ended, and what the tree gained", () => {
  const step = forked();
  assert.equal(chainEnd(step), 1);
  assert.equal(
    trial(step, 1),
    "“b” is not what the large model writes. A chain, with one guess per position, would end its step here with 2 tokens in all. " +
      "The tree has another guess to try.",
  );
  assert.equal(
    result(step),
    "3 tokens from one step: 2 accepted guesses and the large model’s own. " +
      "A chain would have ended at “b”, which was rejected. The tree had a second guess there, “c”: 1 token more.",
  );
});

test("above temperature 0 the caption compares the draw with p/q", () => {
  const step = forked({ temperature: 0.6 });
  assert.match(
    trial(step, 1),
    /^The draw u = 0\.40 is not below p\/q = 0\.20, so “b” is rejected\./,
  );
  assert.match(trial(step, 0), /^The large model finds “a” at least as likely/);
});

test("after a rejected sibling, the caption says that p and q are residuals", () => {
  const step = forked({ temperature: 0.6 });
  assert.equal(
    trial(step, 2),
    "In the residual after a rejection, p is at least q for “c”, so it is accepted.",
  );
});

test("the caption says if there was no guess", () => {
  const step = { i: 0, tree: 0, tokens: [0], path: [0], bonus: 5, emitted: [5] };
  const alone = viewStep(step, topology([-1]), PIECES, { params: { temperature: 0 } });
  assert.match(result(alone), /^1 token from one step\. No guess:/);
});

test("a step without an accepted guess gives the target's own token", () => {
  const step = stepOf(
    [
      [A, false],
      [D, false],
    ],
    { path: [0] },
  );
  assert.match(result(step), /^1 token from one step\. No guess was accepted/);
  assert.match(trial(step, 1), /There is no other guess to try in its place\.$/);
  assert.equal(chainEnd(step), 0);
});

test("the caption of the last step says why the run ended", () => {
  assert.match(result(forked({ finish: "eos" })), /The text ends here\.$/);
  assert.match(result(forked({ finish: "length" })), /The run ends here, at its token limit\.$/);
});

test("the step's real time advances with the pictures of each phase", () => {
  const line = new StepTimeline(forked());
  const end = (phase) => line.frames.findLastIndex((frame) => frame.phase === phase);
  const close = (got, wanted) => assert.ok(Math.abs(got - wanted) < 1e-9, `${got} ${wanted}`);
  close(line.clock[end("guess")], 0.004);
  close(line.clock[end("check")], 0.006);
  close(line.clock[end("walk")], 0.007);
  close(line.clockAt(line.ends[0] / 2), 0.001);
  close(line.clockAt(line.seconds + 1), 0.007);
  assert.equal(line.frameAt(0), 0);
  assert.equal(line.frameAt(line.ends[0]), 1);
  assert.equal(line.frameAt(1e9), line.frames.length - 1);
  assert.equal(line.first("walk"), 3);
});

test("a step of plain decoding has two pictures, check and result, which span all of its time", () => {
  const alone = viewStep(
    {
      i: 0,
      tree: 0,
      tokens: [0],
      trials: [],
      path: [0],
      bonus: 5,
      emitted: [5],
      seconds: { draft: 0, verify: 0.002, overhead: 0.001 },
    },
    topology([-1]),
    PIECES,
  );
  const line = new StepTimeline(alone);
  assert.deepEqual(
    line.frames.map(({ phase }) => phase),
    ["check", "result"],
  );
  assert.ok(Math.abs(line.clock.at(-1) - 0.003) < 1e-9);
});

test("a step verified from the leaves tries whole paths, and its captions mention no chain", () => {
  const trials = [
    [B, 0.2, 1, 0.6, false, 0.1],
    [C, 0.7, 1, 0.3, true, null],
  ];
  const raw = { i: 0, tree: 0, tokens: [0, 1, 2, 3, 4], trials, path: [0, A, C], bonus: 5 };
  const step = viewStep({ ...raw, emitted: [1, 4, 5] }, TREE, PIECES, {
    verifier: "traversal",
  });
  assert.equal(chainEnd(step), -1);
  assert.equal(
    trial(step, 0),
    "The path down to “b” is accepted with probability 0.20. " +
      "The draw u = 0.60 is not below that, so the path is rejected. The next path is tried.",
  );
  assert.equal(
    trial(step, 1),
    "The path down to “c” is accepted with probability 0.70. " +
      "The draw u = 0.30 is below that, so the path is accepted.",
  );
  const walk = stepFrames(step).filter(({ phase }) => phase === "walk");
  assert.deepEqual(walk[0].states, ["root", "drafted", "drafted", "rejected", "drafted"]);
  assert.deepEqual(walk[1].states, ["root", "accepted", "untested", "rejected", "accepted"]);
  assert.equal(
    result(step),
    "3 tokens from one step: 2 accepted guesses and the large model’s own.",
  );
});
