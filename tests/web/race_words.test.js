// What the Race view says about a race.
import "./fake_page.js";
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { FakeNode, made } from "./fake_page.js";
import { legendRows, RaceCharts } from "../../ui/race/web/race_charts.js";
import { stateInWords } from "../../ui/race/web/race_header.js";
import { RaceOn } from "../../ui/race/web/race_on.js";
import { RaceVerdict, startOf } from "../../ui/race/web/race_verdict.js";
import { RunKeys } from "../../ui/run/web/run_keys.js";
import { RunStore } from "../../ui/run/web/run_store.js";
import { aStep } from "./a_step.js";

beforeEach(() => {
  globalThis.requestAnimationFrame = () => 0;
});

const RACE = {
  race: "new",
  from: 0,
  meta: {},
  lanes: [/** @type {any} */ ({ name: "Plain" })],
  trees: [[-1]],
  done: false,
};
const SECONDS = { draft: 0, verify: 1, overhead: 0 };

test("until its first step arrives, a race is said to be processing the prompt", () => {
  const store = new RunStore();
  assert.equal(stateInWords(store), "");
  store.take({ ...RACE, steps: [] });
  assert.equal(stateInWords(store), "processing the prompt");
  const steps = [aStep({ tree: 0, tokens: [7], emitted: [7], seconds: SECONDS })];
  store.take({ race: "new", from: 0, steps, step_lanes: [0] });
  assert.equal(stateInWords(store), "running");
});

test("a prompt ends in dots only where something is left out", () => {
  assert.equal(startOf("def f"), "def f");
  assert.equal(startOf("def f\nreturn"), "def f…");
  assert.equal(startOf("x".repeat(41)), "x".repeat(40) + "…");
});

test("a page without a form lists no keys for the form", () => {
  const listed = (page) => made(RunKeys, { page, hasLanes: true }).listed;
  const keys = (page) => listed(page).map(([key]) => key);
  assert.ok(["Ctrl Enter", "1 2 3 4", "space"].every((key) => keys({ run() {} }).includes(key)));
  assert.deepEqual(
    keys({}),
    keys({ run() {} }).filter((key) => key !== "Ctrl Enter"),
  );
  assert.ok(!JSON.stringify(listed({})).includes("stop the run"));
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
    const store = { version: 1, time: 1, arrived: [{}], done };
    const speedup = { panel, why, none: "No speed-up", make: () => null, shows: "", at: 0 };
    const tokens = { ...speedup, shows: [1, 1, 1, done].join() };
    const charts = made(RaceCharts, { store, tokens, speedup });
    charts.draw();
    clearTimeout(charts.waiting);
    return why.textContent;
  };
  assert.equal(wordsWhen(false), "The chart appears after the first steps.");
  assert.equal(wordsWhen(true), "No speed-up");
});
