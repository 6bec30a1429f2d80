// What the headline of a run claims.
import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeNode, made } from "./fake_page.js";
import { Headline } from "../../ui/decode/web/headline.js";
import { earlyEnd } from "../../ui/decode/web/same_text.js";
import { RunStore } from "../../ui/run/web/run_store.js";
import { aStep } from "./a_step.js";

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
const VERDICT = {
  code: "win",
  ratio: 2,
  low: 1.5,
  high: 3,
  runs: 1,
  seconds: [0.01, 0.02],
};
const STEP = {
  tree: 0,
  tokens: [0, 1],
  trials: [],
  path: [0],
  bonus: 2,
  emitted: [2],
};

/** What the headline claims for a recorded run whose steps emitted `texts`. */
const claimed = (texts, meta) => headline(texts, meta).claim.textContent;

/** The parts of the headline of a recorded run whose steps emitted `texts`, in 10 ms each. */
function headline(texts, meta) {
  const steps = texts.map((one, i) =>
    aStep({ ...STEP, i, text: [one], seconds: { verify: 0.01 } }),
  );
  const about = {
    params: { temperature: 0 },
    label: "recorded",
    speedup: VERDICT,
    ...meta,
  };
  const store = new RunStore();
  const message = {
    run: "r",
    from: 0,
    meta: about,
    trees: [[-1, 0]],
    steps,
    done: true,
  };
  store.take(/** @type {any} */ (message), false);
  const parts = Object.fromEntries(PARTS.map((name) => [name, new FakeNode()]));
  made(Headline, { ...parts, bar: { paint() {} }, store }).paint(false);
  return parts;
}

const ALONE = "than the large model alone";
const SAME = ALONE + ", and the same text in the end";

const plain = (text, same = text.length, finish = "length") => ({
  plain: { seconds: text.map(() => 0.03), text, same, finish, limit: 3 },
});

test("at temperature 0, 'the same text' is claimed as far as the texts were compared", () => {
  const run = ["a", "b", "c"];
  assert.equal(claimed(run, {}), ALONE);
  assert.equal(claimed(run, plain(run)), SAME);
  assert.equal(claimed(run, plain(["a", "b"], 2, "time")), ALONE + ", and the same text so far");
  for (const text of [run, ["a", "x"]])
    assert.equal(claimed(run, plain(text, 1)), ALONE + "; the texts differ from token 2 on");
});

test("the time per token is that of the steps; the verdict's stands beside it where it differs", () => {
  const price = (seconds) =>
    headline(["a", "b"], {
      speedup: { ...VERDICT, seconds, ratio: seconds[1] / seconds[0] },
    }).price.textContent;
  const mean = "A step averages 1.0 tokens in 10.0 ms: 10.0 ms per token.";
  assert.equal(price([0.01, 0.02]), `${mean} The large model alone: 20.0 ms per token.`);
  const both = "Over the text that both decoded: 7.00 ms per token, the large model alone 20.0 ms.";
  assert.equal(price([0.007, 0.02]), `${mean} ${both}`);
});

test("a token of plain decoding is compared with reading the weights once", () => {
  const price = (floor_seconds) => {
    const speedup = { ...VERDICT, seconds: [0.01, 0.02], ratio: 2 };
    return headline(["a", "b"], { speedup, floor_seconds }).price.textContent;
  };
  assert.match(
    price(0.012),
    /20\.0 ms per token, of which reading all its weights takes 12\.0 ms \(60%\)\.$/,
  );
  for (const unknown of [undefined, 0, 0.03]) assert.match(price(unknown), /20\.0 ms per token\.$/);
});

test("it says why the ratio of the times shown is not the speed-up", () => {
  const shown = (speedup) =>
    headline(["a"], { speedup: { ...VERDICT, ...speedup } }).price.textContent;
  assert.match(shown({ runs: 6 }), /In the first run/);
  assert.match(shown({ ratio: 2.3 }), /speed-up is for the expected/);
  assert.doesNotMatch(shown({}), /first run|expected/);
});

test("where and why plain decoding was stopped early is said", () => {
  const params = { temperature: 0 };
  const early = (same, finish) =>
    earlyEnd({ params, ...plain(new Array(92).fill("x"), same, finish) }, 128);
  const stopped = "Plain decoding was stopped after 3 s, 92 tokens";
  assert.equal(early(92, "time"), `${stopped}; the first 92 are the same.`);
  assert.equal(early(50, "time"), `${stopped}.`);
  assert.match(early(92, "length"), /stopped after 92 tokens; the first 92/);
  assert.equal(early(92, "eos"), "");
  assert.equal(earlyEnd({ params, ...plain(["x"]) }, 1), "");
});

test("above temperature 0 the same output distribution is claimed, whatever the texts", () => {
  const drawn = { params: { temperature: 0.6 }, ...plain(["x"]) };
  assert.equal(claimed(["a"], drawn), ALONE + ", and the same output distribution");
});

test("without a verdict, the headline says why there is none", () => {
  assert.match(claimed(["a", "b"], { speedup: undefined }), /was not timed/);
});
