// The sentences about the best tree: what it is, why, and what a run of it measured.
import "./fake_page.js";
import assert from "node:assert/strict";
import { test } from "node:test";
import { answerWords, runWords, whyWords } from "../../ui/lab/web/answer_words.js";
import { LabState } from "../../ui/lab/web/lab_state.js";

globalThis.requestAnimationFrame = () => 0;

/** A state with a machine whose target pass takes 10 ms, and `each` ms more for each node. */
function stateWith(rates, each) {
  const points = [1, 64].map((n) => [n, 0.01 + (each / 1000) * (n - 1), 0]);
  const profile = /** @type {any} */ ({
    target_seconds: points,
    draft_seconds: [[1, 0.0005, 0]],
    overhead_seconds: [[1, 0, 0]],
    level_overhead: 0,
  });
  const state = new LabState();
  state.set({ rates, profile });
  return state;
}

test("the answer names the best tree, a chain or plain decoding", () => {
  assert.match(
    answerWords(stateWith([0.6, 0.2, 0.1], 0.02)),
    /^\d+ nodes in \d+ levels: \d\.\d\d× plain decoding$/,
  );
  assert.match(answerWords(stateWith([0.8], 0.5)), /^A chain of \d+ nodes: \d\.\d\d× plain/);
  assert.equal(answerWords(stateWith([0.1], 9)), "Plain decoding: no tree is faster");
  assert.equal(answerWords(new LabState()), "64 nodes: 3.68 tokens per step");
});

test("the answer is about a tree drawn by hand, and names the best beside it", () => {
  const state = stateWith([0.6, 0.2, 0.1], 0.02);
  state.set({ hand: [-1, 0, 0], shown: "hand" });
  assert.match(answerWords(state), /^3 nodes in 2 levels: 1\.\d\d× plain decoding$/);
  assert.match(
    whyWords(state),
    /^The best is \d\.\d\d× \(hypothetical\): \d+ nodes in \d+ levels\. /,
  );
  state.set({ hand: [-1] });
  assert.equal(answerWords(state), "The root alone: 1.00× plain decoding");
  state.set({ profile: null });
  assert.equal(answerWords(state), "1 node: 1.00 tokens per step");
});

test("the best chain has no more levels than a planned tree may have", () => {
  const state = stateWith([0.98, 0.01], 0.001);
  assert.match(whyWords(state), /best chain, 16 nodes/);
  assert.equal(state.plan.levels, 16);
});

test("the reason compares with a chain, and with a pass over one node", () => {
  const state = stateWith([0.6, 0.2, 0.1], 0.02);
  const { length } = state.plan.parents;
  assert.match(whyWords(state), /^The best chain, \d+ nodes, gets only \d\.\d\d×\. /);
  assert.match(whyWords(state), new RegExp(`A pass over ${length} nodes takes 1\\.\\d\\d× `));
  assert.match(whyWords(stateWith([0.9, 0.001], 0.3)), /nearly as fast|Its last node adds/);
  assert.match(whyWords(stateWith([0.1], 9)), /^Even the best chain, 2 nodes, takes 1\.\d\d times/);
  assert.match(whyWords(new LabState()), /not timed/);
});

test("if a faster tree has fewer tokens, the reason says so", () => {
  const state = stateWith([0.6, 0.2, 0.1], 0.02);
  const { plan, parents, even, profile, basis } = state;
  const words = (fastest) =>
    whyWords({ plan: { ...plan, fastest }, parents, even, profile, basis });
  assert.doesNotMatch(words(plan.speedup), /most tokens/);
  assert.match(words(plan.speedup + 0.02), / the fastest \(\d\.\d\d×\), it has the most tokens/);
});

test("budget and level cap follow the plan until one is entered", () => {
  const state = stateWith([0.6, 0.2, 0.1], 0.02);
  const planned = state.n;
  state.set({ rates: [0.3, 0.1] });
  assert.notEqual(state.n, planned);
  assert.equal(state.n, state.plan.parents.length);
  assert.deepEqual(state.parents, state.growth.parents.slice(0, state.n));
  state.set({ levels: 3 });
  const kept = state.n;
  state.set({ rates: [0.6, 0.2, 0.1] });
  assert.deepEqual([state.n, state.levels, state.isPlanned], [kept, 3, false]);
  state.set({ n: null });
  assert.deepEqual([state.n, state.isPlanned], [planned, true]);
});

test("a run's speed-up stands beside its prediction, with what the run and the rates were of", () => {
  const meta = { prompt: "Once upon\na time", params: { temperature: 0 }, target: "L", draft: "S" };
  const speedup = /** @type {any} */ ({ code: "win", ratio: 1.8, low: 1.7, high: 1.9 });
  const run = /** @type {any} */ ({ label: "measured", speedup, meta });
  const on = { texts: "code", temperature: 0.6 };
  const origin = { label: "recorded", words: "", own: true, on };
  const sent = { parents: [-1, 0], predicted: 1.9, basis: "predicted", origin };
  assert.equal(
    runWords(run, sent),
    "2 nodes, measured: 1.8× faster (95% CI 1.7 to 1.9); predicted: 1.9× faster. " +
      "Run: “Once upon a time”, T = 0, L + S. Acceptance: code, T = 0.6, the same pair.",
  );
  const edited = { label: "edited by hand", words: "", from: { ...origin, own: false } };
  assert.match(
    runWords(run, { ...sent, origin: edited }),
    /Acceptance: code, T = 0\.6, another pair, edited by hand\.$/,
  );
  assert.match(runWords({ ...run, speedup: null }, sent), /plain decoding was not timed/);
});
