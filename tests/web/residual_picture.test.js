// The picture of the target's p and the draft's q: its rows, the part of p that a rejection
// removes, and its texts. Also the time of each level of a tree.
import assert from "node:assert/strict";
import { test } from "node:test";
import { residualPicture } from "../../ui/shared/web/residual_picture.js";
import { StepTimeline } from "../../ui/shared/web/step_motion.js";
import { viewStep } from "./a_step.js";
import { topology } from "../../ui/shared/web/tree_layout.js";

const TREE = topology([-1, 0, 0]);
const PIECES = new Map([..."xabcd"].map((piece, id) => [String(id), piece]));
const [A, B, C] = [1, 2, 3];

// "a" is rejected and removed from q, so q of the other tokens grows. Then "b" is rejected.
const REJECTED = {
  i: 0,
  tree: 0,
  tokens: [0, A, B],
  trials: [
    [1, 0.2, 0.6, 0.5, false, 0.4],
    [2, 0.25, 0.5, 0.9, false, 0.25],
  ],
  path: [0],
  bonus: C,
  emitted: [C],
  residuals: [
    [
      [A, B, C],
      [0.2, 0.3, 0.4],
      [0.6, 0.2, 0.15],
    ],
    [
      [B, C],
      [0.25, 0.625],
      [0.5, 0.375],
    ],
    [[C], [1]],
  ],
  level_seconds: [0.003, 0.001],
};

const view = (step, temperature = 1) => viewStep(step, TREE, PIECES, { params: { temperature } });
const cuts = (picture) => picture.rows.map((row) => row && row.cut);

test("after a rejection, p loses its overlap with q, and q loses the tried token", () => {
  const picture = residualPicture(view(REJECTED), 1);
  assert.equal(picture.title, "p and q of the next token");
  assert.deepEqual(
    picture.rows.map((row) => row?.label ?? null),
    ["a", "b", "c", null, null, "others"],
  );
  assert.deepEqual(cuts(picture).slice(0, 3), [0.2, 0.2, 0.15]);
  assert.equal(picture.rows[0].mark, "dropped");
  const rest = picture.rows.at(-1);
  assert.ok(Math.abs(rest.p - 0.1) < 1e-9);
  assert.ok(Math.abs(rest.cut - 0.05) < 1e-9, "the cuts of all rows sum to 0.6: 0.4 of p remains");
  assert.match(
    picture.note,
    /p loses its overlap with q, and q loses “a”\. The remaining 40% of p and 40% of q are each rescaled/,
  );
});

test("a token keeps its row while its siblings are tried", () => {
  const picture = residualPicture(view(REJECTED), 2);
  assert.equal(picture.title, "What is left of p and q");
  assert.deepEqual(
    picture.rows.map((row) => row?.label ?? null),
    [null, "b", "c", null, null, "others"],
  );
  assert.equal(picture.rows[1].mark, "rejected");
  assert.match(picture.note, /the last token is drawn from it/);
});

test("after rejections, the last token is drawn from the residual p", () => {
  const picture = residualPicture(view(REJECTED), "bonus");
  assert.equal(picture.title, "What is left of p");
  assert.equal(picture.rows.find((row) => row?.mark === "drawn").label, "c");
  assert.ok(picture.rows.every((row) => !row || (row.q === null && row.cut === 0)));
  assert.match(picture.note, /“c” is drawn from what is left of p/);
});

test("accepting a token cuts nothing from p; after a leaf, the last token is drawn from p", () => {
  const step = {
    ...REJECTED,
    trials: [[1, 0.6, 0.6, 0.5, true, null]],
    path: [0, 1],
    emitted: [A, C],
    residuals: [
      [[A], [0.6], [0.6]],
      [[C], [0.3]],
    ],
  };
  const picture = residualPicture(view(step), 1);
  assert.deepEqual([picture.rows[0].mark, picture.rows[0].cut, picture.note], ["accepted", 0, ""]);
  assert.equal(residualPicture(view(step), "bonus").title, "p of the next token");
});

test("without residuals, or for a node that was not tried, there is no picture", () => {
  assert.equal(residualPicture(view({ ...REJECTED, residuals: undefined }), 1), null);
  assert.equal(residualPicture(view(REJECTED), 0), null);
});

test("each level has its recorded time; without these, levels share the draft time equally", () => {
  const three = topology([-1, 0, 1]);
  const seconds = { draft: 0.004, verify: 0.002, overhead: 0.001 };
  const step = { ...REJECTED, seconds, trials: [], path: [0] };
  const times = (one) => new StepTimeline(viewStep(one, three, PIECES)).clock.slice(0, 2);
  assert.deepEqual(times(step), [0.003, 0.004]);
  assert.deepEqual(times({ ...step, level_seconds: undefined }), [0.002, 0.004]);
});
