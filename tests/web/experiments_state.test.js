/* Tests which result and which button the Experiments tab shows after each message. */
import "./fake_page.js";
import { test } from "node:test";
import assert from "node:assert/strict";
import { made } from "./fake_page.js";
import { ExperimentsState } from "../../ui/experiments/web/experiments_state.js";
import { ExperimentsView, styled } from "../../ui/experiments/web/experiments_view.js";

const result = (name, done = 4) => /** @type {any} */ ({ name, done, total: 4 });

function opened() {
  const state = new ExperimentsState();
  state.choose("budget");
  return state;
}

test("the recorded result is shown until a run has a result, then the run's result", () => {
  const state = opened();
  const recorded = result("budget");
  state.recorded.set("budget", { recorded: { bundled: recorded } });
  assert.equal(state.result, recorded);
  state.start();
  assert.equal(state.result, recorded);
  const own = result("budget", 1);
  state.take({
    run: { name: "budget", going: true, share: 0.25, result: own },
  });
  assert.equal(state.result, own);
  state.side.set("budget", "bundled");
  assert.equal(state.result, recorded);
  state.take({
    run: {
      name: "budget",
      going: true,
      share: 0.5,
      result: result("budget", 2),
    },
  });
  assert.equal(
    state.result,
    recorded,
    "a visitor who went back to the recorded result still sees it",
  );
});

test("a run of another experiment does not change what is shown", () => {
  const state = opened();
  state.start();
  state.chosen = "ranks";
  state.take({
    run: { name: "budget", going: true, result: result("budget", 1) },
  });
  assert.equal(state.result, undefined);
  assert.equal(state.action, "Run it small");
  state.chosen = "budget";
  assert.equal(state.action, "Continue");
  assert.equal(state.result.done, 1);
});

test("a refusal ends the run and keeps what is shown", () => {
  const state = opened();
  state.take({
    run: { name: "budget", going: false, result: result("budget") },
  });
  assert.equal(state.action, "Run again");
  state.start();
  assert.ok(state.going);
  state.take({ run: { going: false, error: "Not run: busy" } });
  assert.ok(!state.going);
  assert.equal(state.run.name, "budget");
  assert.equal(state.run.error, "Not run: busy");
  assert.equal(state.result.done, 4);
});

test("a missing recorded result is explained", () => {
  const state = opened();
  assert.equal(state.missing, "");
  state.recorded.set("budget", { error: "none" });
  assert.equal(state.missing, "none");
  assert.equal(state.result, undefined);
});

test("a message that cannot be read gives an error, which the next message removes", () => {
  const state = opened();
  state.take({ error: "not JSON" });
  assert.equal(state.error, "not JSON");
  state.take({ run: { going: false } });
  assert.equal(state.error, "");
});

const FAILED = "The recorded result could not be fetched. Choose the experiment again.";

test("a failed fetch is shown, but not the notice of another experiment's run", () => {
  const state = opened();
  state.take({ run: { name: "budget", going: false, notice: "Stopped." } });
  assert.deepEqual(state.banner, { words: "Stopped.", isError: false });
  state.choose("ranks");
  assert.deepEqual(state.banner, { words: "", isError: false });
  state.notFetched("ranks");
  assert.deepEqual(state.banner, { words: FAILED, isError: true });
});

test("the visitor can choose among the recorded results and the run's, as far as they exist", () => {
  const state = opened();
  state.take({
    run: { name: "budget", going: false, result: result("budget") },
  });
  assert.deepEqual(Object.keys(state.results), ["own"]);
  state.recorded.set("budget", { error: "none" });
  assert.deepEqual(Object.keys(state.results), ["own"]);
  const [one, other] = [result("budget"), result("budget")];
  state.recorded.set("budget", { recorded: { bundled: one, other } });
  assert.deepEqual(Object.keys(state.results), ["bundled", "other", "own"]);
  assert.equal(state.shown, "own");
  state.side.set("budget", "other");
  assert.equal(state.result, other);
  state.choose("ranks");
  assert.deepEqual(state.results, {});
});

test("a fetch that fails after another experiment was chosen shows no error", async () => {
  const state = opened();
  const recorded = async () => {
    throw new Error("offline");
  };
  const view = made(ExperimentsView, { state, asks: { recorded }, paint() {} });
  const first = view.load("budget");
  state.choose("ranks");
  await first;
  assert.equal(state.banner.words, "");
  await view.load("ranks");
  assert.equal(state.banner.words, FAILED);
});

test("only the button “Run again” asks for finished units to be run again", () => {
  const state = opened();
  const asked = [];
  const run = (name, isAgain) => asked.push([name, isAgain]);
  const view = made(ExperimentsView, { state, asks: { run }, paint() {} });
  view.run();
  for (const done of [1, 4]) {
    state.take({
      run: { name: "budget", going: false, result: result("budget", done) },
    });
    view.run();
  }
  assert.deepEqual(asked, [
    ["budget", false],
    ["budget", false],
    ["budget", true],
  ]);
});

test("a method looks the same in all plots; two lines of one method differ", () => {
  const trace = (name, meta) => ({ name, meta, error_y: {} });
  const [one, again, other, unknown] = styled([
    trace("dynamic", "dynamic"),
    trace("dynamic", "dynamic"),
    trace("dynamic, Traversal", "dynamic"),
    trace("?", "constructor"),
  ]);
  assert.deepEqual(one.line, again.line);
  assert.equal(other.line.color, one.line.color);
  assert.notEqual(other.line.dash, one.line.dash);
  assert.equal(other.marker.symbol, one.marker.symbol + "-open");
  assert.equal(unknown.error_y.color, "var(--race-other)");
});
