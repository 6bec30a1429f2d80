// The parts of the Run view that need no browser: its keys, further runs, charts and tables.
import "./fake_page.js";
import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeNode, made } from "./fake_page.js";
import { FurtherRuns } from "../../ui/run/web/further_runs.js";
import { legendRows, RunCharts } from "../../ui/run/web/run_charts.js";
import { RunKeys } from "../../ui/run/web/run_keys.js";
import { startOf } from "../../ui/run/web/verdict_tables.js";

test("a prompt ends in dots only where something is left out", () => {
  assert.equal(startOf("def f"), "def f");
  assert.equal(startOf("def f\nreturn"), "def f…");
  assert.equal(startOf("x".repeat(41)), "x".repeat(40) + "…");
});

test("a page without a form lists no keys for the form", () => {
  const listed = (page) => made(RunKeys, { page }).listed;
  const keys = (page) => listed(page).map(([key]) => key);
  assert.ok(["Ctrl Enter", "1 2 3 4", "space"].every((key) => keys({ run() {} }).includes(key)));
  assert.deepEqual(
    keys({}),
    keys({ run() {} }).filter((key) => key !== "Ctrl Enter"),
  );
  assert.ok(!JSON.stringify(listed({})).includes("stop the run"));
});

/** The button “Make more runs” of a run that can have further runs. */
function further() {
  const pool = { runs: [{}], more: 30, most: 40, kind: "code", seeds: true, planned: null };
  const verdict = { more_races: 26 };
  const store = { pool, verdict, error: null, following: { isFollowed: false }, set() {} };
  const button = Object.assign(new FakeNode(), { lastElementChild: new FakeNode() });
  const names = ["root", "words", "offer"];
  const nodes = Object.fromEntries(names.map((name) => [name, new FakeNode()]));
  return made(FurtherRuns, { store, page: { trigger() {} }, ...nodes, button, bar() {} });
}

test("it says how many more runs would separate the two fastest lanes", () => {
  const runs = further();
  runs.paint();
  const said = runs.offer.textContent;
  assert.match(said, / as so far, about 26 more runs \(predicted\) should separate them\.$/);
});

test("a press disables the button for further runs, and a refusal enables it again", () => {
  const runs = further();
  runs.press();
  const disabled = [null, "Not continued: busy", null].map((error) => {
    runs.store.error = error;
    runs.paint();
    return runs.button.disabled;
  });
  assert.deepEqual(disabled, [true, false, false]);
});

test("the legend of a chart has as many rows as its entries need", () => {
  const short = ["Plain", "Tuned chain", "Sequoia"];
  const long = short.flatMap((name) => [`${name} on prose`, `${name} on code`]);
  assert.deepEqual([legendRows(short, 400), legendRows(short, 200)], [1, 3]);
  assert.deepEqual([legendRows(long, 400), legendRows(long, 100)], [3, 6]);
});

test("a run that ended without a speed-up says why there is no chart", () => {
  const why = new FakeNode();
  const panel = { root: new FakeNode() };
  const wordsWhen = (done) => {
    const store = { version: 1, time: 1, arrived: [{}], done };
    const speedup = { panel, why, none: "No speed-up", make: () => null, shows: "", at: 0 };
    const tokens = { ...speedup, shows: [1, 1, 1, done, 300].join(), chart: { size: { w: 300 } } };
    const charts = made(RunCharts, { store, tokens, figures: [tokens, speedup] });
    charts.draw();
    clearTimeout(charts.waiting);
    return why.textContent;
  };
  assert.equal(wordsWhen(false), "The chart appears after the first steps.");
  assert.equal(wordsWhen(true), "No speed-up");
});
