// The trees of a run or a race when messages were missed. The browser requests the missing steps,
// and the answer can arrive before or after newer messages.
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { RunStore } from "../../ui/decode/web/run_store.js";
import { RaceStore } from "../../ui/race/web/race_store.js";
import { addTrees } from "../../ui/shared/web/playback.js";
import { aStep } from "./a_step.js";

const TREES = [1, 2, 3, 4, 5].map((n) => [-1, ...new Array(n).fill(0)]);
const STEP = { tokens: [], trials: [], path: [0], emitted: [7], text: [" a"] };
const SECONDS = { draft: 0.01, verify: 0.02, overhead: 0.01 };
const steps = TREES.map((_, i) => ({
  ...STEP,
  ...aStep({ ...STEP, i, tree: i, seconds: SECONDS }),
}));

beforeEach(() => {
  globalThis.matchMedia = () => ({ matches: false });
  globalThis.requestAnimationFrame = () => 0;
});

/** The message with steps a to b - 1, each of which has a new tree. */
const batch = (a, b) => ({
  run: "r",
  race: "r",
  from: a,
  steps: steps.slice(a, b),
  step_lanes: steps.slice(a, b).map(() => 0),
  trees: TREES.slice(a, b),
  ...(a === 0 ? { meta: { label: "measured" }, lanes: [{ name: "Chain" }] } : {}),
});

/** The answer to a request for the steps from `a` on, when the run had `b` steps. It has all trees
    so far. */
const answer = (a, b) => ({ ...batch(a, b), trees: TREES.slice(0, b) });

/** The store of a run after it took `messages`. Each is a pair: a message, and whether it answers a
    request for missing steps. The store itself requests nothing, because it has no server here. */
function runOf(...messages) {
  const store = new RunStore();
  for (const [message, refill] of messages) store.take(message, refill);
  return store;
}

const ORDERS = {
  "nothing is missed": [batch(0, 1), batch(1, 3), batch(3, 5)],
  "the answer is the newest": [batch(0, 1), batch(2, 3), batch(3, 5), answer(1, 5)],
  "a batch comes before an older answer": [batch(0, 1), batch(2, 3), batch(3, 5), answer(1, 3)],
  "a batch overlaps an answer that came before it": [
    batch(0, 1),
    batch(2, 3),
    answer(1, 4),
    batch(3, 5),
  ],
  "the first message is missed": [batch(1, 3), answer(0, 3), batch(3, 5)],
};

for (const [name, messages] of Object.entries(ORDERS))
  test(`every step has its own tree: ${name}`, () => {
    const taken = messages.map((one) => [one, one.trees.length > one.steps.length]);
    if (name.startsWith("the first")) taken[1][1] = true;
    const store = runOf(...taken);
    assert.deepEqual(
      store.trees.map(({ parents }) => parents),
      TREES,
    );
    assert.deepEqual(store.slots.seen, [1, 1, 1, 1, 1]);
    const race = new RaceStore();
    for (const [message, refill] of taken) race.take(message, refill);
    assert.deepEqual(
      race.trees.map(({ parents }) => parents),
      TREES,
    );
    assert.equal(race.totals[0].steps.length, 5);
  });

test("before the answer, steps after the gap have their trees; steps in the gap have none", () => {
  const store = runOf([batch(0, 1), false], [batch(2, 3), false]);
  assert.deepEqual(store.view(2).topo.parents, TREES[2]);
  assert.equal(store.view(1), null);
  assert.equal(store.largest.n, TREES[2].length);
});

test("a known tree stays the same object", () => {
  const known = [{}, {}];
  const [first] = known;
  addTrees(known, [{}, {}, {}], 0, []);
  assert.equal(known[0], first);
  assert.equal(known.length, 3);
});

test("if tree numbers in steps are missing or too low, new trees follow the known ones", () => {
  for (const odd of [[], [{ tree: 0 }], [{}], [{ tree: null }]]) {
    const known = ["a"];
    addTrees(known, ["b", "c"], null, /** @type {any} */ (odd));
    assert.deepEqual(known, ["a", "b", "c"]);
  }
});
