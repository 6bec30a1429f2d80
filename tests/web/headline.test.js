// What the headline of a run claims.
import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeNode, made } from "./fake_page.js";
import { Headline } from "../../ui/decode/web/headline.js";
import { RunStore } from "../../ui/decode/web/run_store.js";

globalThis.matchMedia = /** @type {any} */ (() => ({ matches: true }));
globalThis.requestAnimationFrame = () => 0;

const PARTS = [
  "root",
  "number",
  "flag",
  "interval",
  "range",
  "more",
  "claim",
  "price",
  "basis",
  "badge",
  "again",
  "tour",
  "own",
  "paper",
  "acts",
];
const VERDICT = { code: "win", ratio: 2, low: 1.5, high: 3, runs: 1, seconds: [0.01, 0.02] };
const STEP = { tree: 0, tokens: [0, 1], trials: [], path: [0], bonus: 2, emitted: [2] };

/** What the headline claims for a recorded run whose steps emitted `texts`. */
function claimed(texts, meta) {
  const steps = texts.map((one, i) => ({ ...STEP, i, text: [one], seconds: { verify: 0.01 } }));
  const about = { policy: { temperature: 0 }, label: "recorded", verdict: VERDICT, ...meta };
  const store = new RunStore();
  const message = { run: "r", from: 0, meta: about, trees: [[-1, 0]], steps, done: true };
  store.take(/** @type {any} */ (message), false);
  const parts = Object.fromEntries(PARTS.map((name) => [name, new FakeNode()]));
  made(Headline, { ...parts, bar: { paint() {} }, store }).paint(false);
  return parts.claim.textContent;
}

const ALONE = "than the large model alone";
const SAME = ALONE + ", and the same text in the end";
const plain = (text) => ({ plain: { seconds: text.map(() => 0.03), text } });

test("at temperature 0, 'the same text' is not claimed if plain decoding wrote a different text", () => {
  const run = ["a", "b", "c"];
  assert.equal(claimed(run, {}), SAME);
  for (const text of [run, ["a", "b"], ["a", "b", "c", "d"], ["a", "b", "c\ufffd"]])
    assert.equal(claimed(run, plain(text)), SAME);
  for (const text of [["x"], ["a", "x", "c"], ["a", "x"], ["a", "b", "x", "d"]])
    assert.equal(claimed(run, plain(text)), ALONE);
});

test("above temperature 0 the same output distribution is claimed, whatever the texts", () => {
  const drawn = { policy: { temperature: 0.6 }, ...plain(["x"]) };
  assert.equal(claimed(["a"], drawn), ALONE + ", and the same output distribution");
});

test("without a verdict, the headline says why there is none", () => {
  assert.match(claimed(["a", "b"], { verdict: undefined }), /was not timed/);
});
