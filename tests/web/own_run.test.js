// Which runs count as the visitor's own. Other views may use such runs.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ownRun } from "../../ui/decode/web/own_run.js";
import { RunStore } from "../../ui/run/web/run_store.js";
import { aStep } from "./a_step.js";

globalThis.matchMedia = () => ({ matches: false });
globalThis.requestAnimationFrame = () => 0;

const VERDICT = { code: "win", ratio: 1.5, low: 1.2, high: 1.9 };
const SECONDS = { draft: 0.01, verify: 0.02, overhead: 0.01 };
const STEP = { i: 0, tree: 0, tokens: [0, 1], trials: [], path: [0], bonus: 2, emitted: [2] };
const steps = [
  aStep({ ...STEP, seconds: SECONDS }),
  aStep({ ...STEP, i: 1, emitted: [2, 3, 4], seconds: SECONDS }),
];

/** `ownRun` of a run that came in one message. rest: further fields of the message, such as `end`,
 * which only the message of a new run has. */
function ownOf(label, rest = {}) {
  const store = new RunStore();
  const meta = { label, device: "a card", speedup: VERDICT };
  const trees = [[-1, 0]];
  store.take({ run: "r", from: 0, meta, trees, pieces: {}, steps, done: true, ...rest }, false);
  return ownRun(store);
}

test("a run made here is the visitor's own, measured or simulated", () => {
  for (const label of ["measured", "simulated"]) {
    const { meta, ...own } = ownOf(label, { end: "length" });
    assert.deepEqual(own, { label, device: "a card", tokensPerStep: 2, speedup: VERDICT });
    assert.equal(meta.device, "a card");
  }
});

test("a measured run that is shown again stays the visitor's own", () => {
  assert.equal(ownOf("measured").tokensPerStep, 2);
});

test("a run from a file is not the visitor's own, and neither is a run without steps", () => {
  assert.equal(ownOf("simulated"), null);
  assert.equal(ownOf("recorded"), null);
  assert.equal(ownOf("measured", { end: "stopped", steps: [] }), null);
});

test("a hypothetical run says so", () => {
  const meta = { label: "simulated", hypothetical: true, clock: "a card" };
  assert.equal(ownOf("simulated", { meta, end: "length" }).label, "hypothetical");
});

test("without a time of plain decoding, there is no speed-up", () => {
  assert.equal(ownOf("measured", { meta: { label: "measured" } }).speedup, null);
});
