// What the verdict of a run claims, and what it gives for a step and a token.
import assert from "node:assert/strict";
import { test } from "node:test";
import "./fake_page.js";
import { advice, basis, claim, price } from "../../ui/run/web/claim.js";
import { presenterHead, resultsInWords } from "../../ui/run/web/headline.js";
import { finishedHere } from "../../ui/run/web/finished_run.js";
import { RunStore } from "../../ui/run/web/run_store.js";
import { aStep } from "./a_step.js";

globalThis.requestAnimationFrame = () => 0;

const WIN = { over: 1, code: "win", ratio: 2, low: 1.5, high: 3 };
const LANES = [
  { name: "Sequoia", kind: "best", plain: false, request: ["best", 2, 2] },
  { name: "Plain", plain: true },
];

/** A finished run of a lane with a tree, whose steps take 10 ms and emit two tokens, and of the
 * plain lane, whose steps take 20 ms. `other`: the token that it emits. `changes`: further
 * fields of the message. */
function store({ speedup = WIN, lanes = LANES, meta = {}, other = 2, ...changes } = {}) {
  const made = new RunStore();
  const step = (lane) => {
    const emitted = lane ? [other] : [2, 2];
    const seconds = { draft: 0, verify: lane ? 0.02 : 0.01, overhead: 0 };
    return aStep({ tree: lane, tokens: [0, 1], path: lane ? [0] : [0, 1], emitted, seconds });
  };
  const stepLanes = [0, 0, 1, 1, 1, 1].filter((lane) => lanes[lane]);
  made.take(
    /** @type {any} */ ({
      run: "r",
      from: 0,
      meta: { label: "measured", device: "a card", params: { temperature: 0 }, ...meta },
      lanes,
      trees: [[-1, 0], [-1]],
      steps: stepLanes.map(step),
      step_lanes: stepLanes,
      done: true,
      end: "length",
      verdict: speedup && { races: 1, pairs: [], headlines: [], speedups: [speedup, null] },
      ...changes,
    }),
  );
  return made;
}

const ALONE = "than the large model alone";

test("a tree beside plain decoding is as many times faster as the server says", () => {
  const words = (speedup) => resultsInWords(store({ speedup: { ...WIN, ...speedup } }));
  assert.deepEqual(words({}), ["2.0× faster"]);
  assert.deepEqual(words({ code: "slower", ratio: 0.5, low: 0.4, high: 0.8 }), ["2.0× slower"]);
  assert.deepEqual(words({ code: "no_clear_difference" }), ["no clear difference"]);
  assert.equal(presenterHead(store()).basis, "95% CI 1.5 to 3.0");
});

test("without a verdict, tokens per step are all there is to say", () => {
  const one = store({ speedup: null, lanes: [LANES[0]] });
  one.seekEnd();
  assert.deepEqual(resultsInWords(one), ["2.00 tokens per step"]);
  assert.match(claim(one), /^Without a plain lane/);
});

test("the same text is claimed as far as the texts are the same", () => {
  assert.equal(claim(store()), ALONE + ", and the same text");
  assert.equal(claim(store({ other: 5 })), ALONE + "; the texts differ from token 1 on");
  const short = store();
  short.lanes[1].steps.pop();
  assert.equal(claim(short), ALONE + ", and the same text so far");
  const drawn = { other: 5, meta: { params: { temperature: 0.6 } } };
  assert.equal(claim(store(drawn)), ALONE + ", and the same output distribution");
  const results = [{ lossless: { kind: "bug" } }];
  assert.equal(claim(store({ ...drawn, results })), ALONE);
});

test("the price of a run is what it computes in vain", () => {
  const made = store();
  assert.match(
    price(made),
    /^2\.0 tokens per step; 5\.00 ms per token, 20\.0 ms alone\. Price: 0 of 4 /,
  );
  made.lanes[0].sum.nodes = 12;
  assert.match(price(made), / 8 of 12 computed tokens are thrown away\.$/);
});

test("a run made here that shows no clear difference says what would", () => {
  assert.equal(advice(store()), "");
  const unclear = { ...WIN, code: "no_clear_difference" };
  assert.match(advice(store({ speedup: unclear })), /more runs or a longer text/);
  assert.equal(advice(store({ speedup: unclear, meta: { label: "recorded" } })), "");
});

test("it says where the numbers come from", () => {
  const date = "2026-11-22 12:50";
  const here = { label: "measured", device: "a card", date };
  assert.match(basis(here), /^Measured on a card, 2026.11.22\.$/);
  assert.match(basis({ ...here, about: "About it." }), /^About it\. Measured/);
});

test("a run made here is the visitor's own, measured or simulated", () => {
  for (const label of ["measured", "simulated"]) {
    const { meta, ...own } = finishedHere(store({ meta: { label } }));
    const { request, name: lane } = LANES[0];
    const numbers = { tokensPerStep: 2, speedup: WIN };
    assert.deepEqual(own, { label, device: "a card", lane, ...numbers, request });
    assert.equal(meta.device, "a card");
  }
  const meta = { label: "simulated", hypothetical: true, clock: "a card" };
  assert.equal(finishedHere(store({ meta })).label, "hypothetical");
  assert.equal(finishedHere(store({ speedup: null, lanes: [LANES[0]] })).speedup, null);
});

test("a run from a file is not the visitor's own, and neither is one without its verdict", () => {
  assert.equal(finishedHere(store({ meta: { label: "recorded" } })), null);
  assert.equal(finishedHere(store({ meta: { label: "simulated" }, end: undefined })), null);
  assert.equal(finishedHere(store({ speedup: null })), null);
});
