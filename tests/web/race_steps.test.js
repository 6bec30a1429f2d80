// RaceSteps, which prepares the steps of a race for the pictures of their trees. In some tests,
// messages were lost or damaged.
import assert from "node:assert/strict";
import { test } from "node:test";
import { RaceSteps } from "../../ui/race/web/race_steps.js";
import { aStep } from "./a_step.js";

const WHOLE = { lane: 0, tree: 0, text: [" a", " b"], path: [0, 1], seconds: { verify: 0.01 } };

/** Lane 0 of a race with these steps. */
function stepsOf(steps) {
  const lanes = [{ name: "Chain" }];
  const store = { version: 1, built: 1, lanes, trees: [[-1, 0]], steps, meta: {} };
  const made = new RaceSteps(/** @type {any} */ (store), () => {});
  made.update();
  return made;
}

const READ = { q: [], p: [], trials: [], tokens: [0, 1], bonus: 2, emitted: [1, 2] };
const DETAILS = aStep({ ...WHOLE, ...READ, i: 0 });

test("after a gap, details are not requested or stored: the indexes may be wrong", () => {
  const made = stepsOf([WHOLE, null, WHOLE, WHOLE]);
  const asked = [];
  made.store.race = "r";
  made.store.server = { get_steps: (request) => asked.push(request) };
  made.ask(0, 1);
  assert.deepEqual(asked, []);
  made.ask(0, 0);
  assert.deepEqual(asked, [["r", 0, 0]]);
  const steps = /** @type {any} */ ([DETAILS, DETAILS, DETAILS]);
  made.take({ lane: 0, from: 0, trees: [[-1, 0]], steps, pieces: {} }, "r");
  assert.deepEqual(
    [0, 1, 2].map((i) => made.isWhole(0, i)),
    [true, false, false],
  );
});

test("when a gap is found, details are kept only for the steps before it", () => {
  const made = stepsOf([WHOLE]);
  made.store.race = "r";
  const steps = /** @type {any} */ ([DETAILS, DETAILS]);
  made.take({ lane: 0, from: 0, trees: [[-1, 0]], steps, pieces: {} }, "r");
  assert.ok(made.isWhole(0, 1));
  made.store.steps.push(null, WHOLE);
  made.update();
  assert.deepEqual(
    [0, 1].map((i) => made.isWhole(0, i)),
    [true, false],
  );
});

test("a step is drawn with its tree and its path", () => {
  const made = stepsOf([WHOLE]);
  const { path, topo } = made.at(0, 0);
  assert.deepEqual([path, topo.n, made.best(0), made.rows(0)], [[0, 1], 2, 0, 1]);
});

test("a token whose text has not arrived is shown as …, an empty text as ∅", () => {
  const { label } = stepsOf([{ ...WHOLE, text: [""] }]).at(0, 0);
  assert.deepEqual([label(0), label(1), label("bonus")], ["…", "∅", "…"]);
});

test("a step whose tree never arrived is not drawn, but the steps after it are", () => {
  const made = stepsOf([
    { lane: 0, tree: 9, text: ["x"] },
    { lane: 0, tree: 0, text: null },
    WHOLE,
  ]);
  assert.equal(made.at(0, 0), null);
  assert.deepEqual(made.at(0, 1).path, [0]);
  assert.deepEqual([made.best(0), made.rows(0)], [2, 1]);
});
