/* What the Experiments tab shows: which result, which button, after which message. */
import { test } from "node:test";
import assert from "node:assert/strict";
import { ExperimentsState } from "../../ui/experiments/web/experiments_state.js";

const listed = (name) => ({
  name,
  title: name,
  question: "?",
  units: 4,
  command: "",
  full: "",
});
const result = (name, done = 4) => /** @type {any} */ ({ name, done, total: 4 });

function opened() {
  const state = new ExperimentsState();
  state.take({ list: [listed("budget"), listed("ranks")] });
  return state;
}

test("the first experiment is chosen, and a later list leaves the choice alone", () => {
  const state = opened();
  assert.equal(state.chosen, "budget");
  state.chosen = "ranks";
  state.take({ list: [listed("budget"), listed("ranks")] });
  assert.equal(state.experiment.name, "ranks");
});

test("an error goes when another experiment is chosen, or the same again", () => {
  const state = opened();
  state.error = "The recorded result could not be fetched.";
  state.choose("ranks");
  assert.deepEqual([state.chosen, state.error], ["ranks", ""]);
});

test("the recorded result is shown until a run has one, then that of the run", () => {
  const state = opened();
  const recorded = result("budget");
  state.recorded.set("budget", { recorded });
  assert.equal(state.result, recorded);
  state.start();
  assert.equal(state.result, recorded);
  const own = result("budget", 1);
  state.take({ run: { name: "budget", going: true, share: 0.25, result: own } });
  assert.equal(state.result, own);
  state.side.set("budget", "recorded");
  assert.equal(state.result, recorded);
  state.take({ run: { name: "budget", going: true, share: 0.5, result: result("budget", 2) } });
  assert.equal(state.result, recorded, "who turned back to the recorded one stays there");
});

test("a run of another experiment leaves the shown one alone", () => {
  const state = opened();
  state.start();
  state.chosen = "ranks";
  state.take({ run: { name: "budget", going: true, result: result("budget", 1) } });
  assert.equal(state.result, undefined);
  assert.equal(state.action, "Run");
  state.chosen = "budget";
  assert.equal(state.action, "Continue");
  assert.equal(state.result.done, 1);
});

test("a refused run ends it and keeps what is shown", () => {
  const state = opened();
  state.take({ run: { name: "budget", going: false, result: result("budget") } });
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
  state.recorded.set("budget", { missing: "none" });
  assert.equal(state.missing, "none");
  assert.equal(state.result, undefined);
});

test("a message that cannot be read is an error until the next one", () => {
  const state = opened();
  state.take({ error: "not JSON" });
  assert.equal(state.error, "not JSON");
  state.take({ run: { going: false } });
  assert.equal(state.error, "");
});
