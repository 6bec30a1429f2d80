// How a race plays when it is opened, and what the Race view says about it.
import "./fake_page.js";
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { FakeNode, made } from "./fake_page.js";
import { legendRows, RaceCharts } from "../../ui/race/web/race_charts.js";
import { stateInWords } from "../../ui/race/web/race_header.js";
import { RaceOn } from "../../ui/race/web/race_on.js";
import { RaceKeys } from "../../ui/race/web/race_keys.js";
import { RaceStore } from "../../ui/race/web/race_store.js";
import { RaceVerdict, startOf } from "../../ui/race/web/race_verdict.js";
import { aStep } from "./a_step.js";

beforeEach(() => {
  globalThis.requestAnimationFrame = () => 0;
});

/** A recorded race with a single step, which lasts `verify` seconds. */
const race = (name, verify) => ({
  race: name,
  from: 0,
  meta: { label: "recorded" },
  lanes: [/** @type {any} */ ({ name: "Plain" })],
  trees: [[-1]],
  steps: [
    aStep({ tree: 0, emitted: [7], text: ["a"], seconds: { draft: 0, verify, overhead: 0 } }),
  ],
  step_lanes: [0],
  done: true,
});

test("a short race plays at a quarter of its speed, and a later long one at full speed", () => {
  const store = new RaceStore();
  store.take(race("short", 1));
  assert.equal(store.rate, "x0.25");
  store.take(race("long", 9));
  assert.equal(store.rate, "x1");
});

for (const rate of ["x1", "x0.25"])
  test(`the rate that a visitor chose stays: ${rate}`, () => {
    const store = new RaceStore();
    store.chooseRate(rate);
    for (const one of [race("short", 1), race("long", 9)]) {
      store.take(one);
      assert.equal(store.rate, rate);
    }
  });

test("until its first step arrives, a race is said to be processing the prompt", () => {
  const store = new RaceStore();
  assert.equal(stateInWords(store), "");
  const { steps, step_lanes, ...begun } = { ...race("new", 1), meta: {}, done: false };
  store.take({ ...begun, steps: [] });
  assert.equal(stateInWords(store), "processing the prompt");
  store.take({ race: "new", from: 0, steps, step_lanes });
  assert.equal(stateInWords(store), "running");
});

test("a step of a lane is found by its index in the lane", () => {
  const store = new RaceStore();
  const steps = ["a", "b", "c"].map((text, i) =>
    aStep({ i, tree: i && 1, tokens: [7, 8], emitted: [8], text: [text], seconds: {} }),
  );
  const lanes = /** @type {any} */ ([{ name: "Plain" }, { name: "Chain", verifier: "traversal" }]);
  const pieces = { 8: " b" };
  const trees = [[-1], [-1, 0]];
  store.take({ race: "r", from: 0, meta: {}, lanes, trees, pieces, steps, step_lanes: [0, 1, 1] });
  const { step, topo, fromLeaves, piece } = store.view(1, 1);
  assert.deepEqual([step.text, topo.n, fromLeaves, piece(1)], [["c"], 2, true, " b"]);
  assert.deepEqual([store.view(1, 2), store.view(0, 0).topo.n, store.rows(1)], [null, 1, 1]);
});

test("a prompt ends in dots only where something is left out", () => {
  assert.equal(startOf("def f"), "def f");
  assert.equal(startOf("def f\nreturn"), "def f…");
  assert.equal(startOf("x".repeat(41)), "x".repeat(40) + "…");
});

test("a page without a form lists no keys for the form", () => {
  const keys = (page) => made(RaceKeys, { page }).listed.map(([key]) => key);
  assert.ok(["Ctrl Enter", "Esc", "space"].every((key) => keys({ run() {} }).includes(key)));
  assert.deepEqual(
    keys({}),
    keys({ run() {} }).filter((key) => !["Ctrl Enter", "Esc"].includes(key)),
  );
});

/** The button “Make more runs” of a race that can have further runs. */
function raceOn() {
  const pool = { runs: [{}], more: 30, most: 40, kind: "code", seeds: true, planned: null };
  const verdict = { more_races: 26 };
  const store = { pool, verdict, error: null, following: { isFollowed: false }, set() {} };
  const button = Object.assign(new FakeNode(), { lastElementChild: new FakeNode() });
  const [root, words, bar] = [new FakeNode(), new FakeNode(), new FakeNode()];
  return made(RaceOn, { store, page: {}, trigger() {}, root, button, words, bar });
}

test("the scope of a verdict is shown only if the verdict compares lanes", () => {
  const part = { paint() {} };
  const none = { take: () => [] };
  const parts = { intervals: part, on: part, pairs: part, runs: part, lines: none };
  const hiddenWith = (pairs) => {
    const words = { reasons: [], details: [], headlines: [] };
    const verdict = { ...words, prompts: 1, tokens: 0, pairs };
    const names = ["root", "earlier", "scope", "flag", "badge", "mixture"];
    const nodes = Object.fromEntries(names.map((name) => [name, new FakeNode()]));
    const store = { verdict, isOver: true, pool: null, word: "measured", meta: {} };
    made(RaceVerdict, { store, headlines: none, ...nodes, ...parts }).paint();
    const { scope } = nodes;
    return scope.hidden;
  };
  assert.deepEqual([hiddenWith([]), hiddenWith([{}])], [true, false]);
});

test("the words beside the button say how many more runs would separate the two fastest lanes", () => {
  const on = raceOn();
  on.paint();
  const said = on.words.textContent;
  assert.match(said, / as so far, about 26 more runs \(predicted\) should separate them\.$/);
});

test("a press disables the button for further runs, and a refusal enables it again", () => {
  const on = raceOn();
  on.press();
  const disabled = [null, "Not continued: busy", null].map((error) => {
    on.store.error = error;
    on.paint();
    return on.button.disabled;
  });
  assert.deepEqual(disabled, [true, false, false]);
});

test("the legend of a chart has as many rows as its entries need", () => {
  const short = ["Plain", "Tuned chain", "Sequoia"];
  const long = short.flatMap((name) => [`${name} on prose`, `${name} on code`]);
  assert.deepEqual([legendRows(short, 400), legendRows(short, 200)], [1, 3]);
  assert.deepEqual([legendRows(long, 400), legendRows(long, 100)], [3, 6]);
});

test("a race that ended without a speed-up says why there is no chart", () => {
  const why = new FakeNode();
  const panel = { root: new FakeNode() };
  const wordsWhen = (done) => {
    const store = { version: 1, built: 1, t: 1, steps: [{}], done };
    const speedup = { panel, why, none: "No speed-up", make: () => null, shows: "", at: 0 };
    const tokens = { ...speedup, shows: [1, 1, 1, 1, done].join() };
    const charts = made(RaceCharts, { store, tokens, speedup });
    charts.draw();
    clearTimeout(charts.waiting);
    return why.textContent;
  };
  assert.equal(wordsWhen(false), "The chart appears after the first steps.");
  assert.equal(wordsWhen(true), "No speed-up");
});
