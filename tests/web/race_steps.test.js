// Steps of a race for the pictures of their trees, also where a message was broken.
import assert from "node:assert/strict";
import { test } from "node:test";
import { RaceSteps } from "../../ui/race/web/race_steps.js";

const WHOLE = { lane: 0, tree: 0, text: [" a", " b"], path: [0, 1], seconds: { verify: 0.01 } };

/** Lane 0 of a race with these steps. */
function stepsOf(steps) {
  const lanes = [{ name: "Chain" }];
  const store = { version: 1, built: 1, lanes, trees: [[-1, 0]], steps, meta: {} };
  const made = new RaceSteps(/** @type {any} */ (store), () => {});
  made.update();
  return made;
}

test("a step is drawn with its tree, its path and its text", () => {
  const made = stepsOf([WHOLE]);
  const { path, topo } = made.at(0, 0);
  assert.deepEqual([path, topo.n, made.best(0), made.rows(0)], [[0, 1], 2, 0, 1]);
});

test("a step whose tree never came is not drawn, and those after it are", () => {
  const made = stepsOf([
    { lane: 0, tree: 9, text: ["x"] },
    { lane: 0, tree: 0, text: null },
    WHOLE,
  ]);
  assert.equal(made.at(0, 0), null);
  assert.deepEqual(made.at(0, 1).path, [0]);
  assert.deepEqual([made.best(0), made.rows(0)], [2, 1]);
});
