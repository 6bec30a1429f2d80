// The words and numbers of a speed-up.
import assert from "node:assert/strict";
import { test } from "node:test";
import { headlineInWords } from "../../ui/run/web/headline.js";
import { speedupInWords, speedupWords } from "../../ui/shared/web/verdict_words.js";

const unclear = "no_clear_difference";

test("a speed-up is given with its interval, and a slowdown is turned", () => {
  const words = (code, ratio, low, high) => {
    const { word, times, interval } = speedupWords({ code, ratio, low, high });
    return [word, times, interval].join(" ");
  };
  assert.equal(words("win", 2.22, 1.94, 2.56), "faster 2.2× 95% CI 1.9 to 2.6");
  assert.equal(words("slower", 0.5, 0.25, 0.8), "slower 2.0× 95% CI 1.3 to 4.0");
  assert.equal(words(unclear, 1.56, 0.42, 5.76), "no clear difference 1.6× 95% CI 0.4 to 5.8");
  assert.equal(
    words(unclear, 1.3, null, null),
    "no clear difference 1.3× too short for an interval",
  );
});

test("the end of a clear interval never looks like 1", () => {
  for (const low of [1.0004, 1.004, 1.02, 1.04])
    assert.doesNotMatch(speedupWords({ code: "win", ratio: 1.6, low, high: 2.6 }).range, /^1\.0+ /);
  const slow = speedupWords({ code: "slower", ratio: 0.6, low: 0.4, high: 0.98 });
  assert.equal(slow.range, "1.02 to 2.5");
});

test("in one line, only an unclear speed-up has its interval", () => {
  assert.equal(speedupInWords({ code: "win", ratio: 2, low: 1.5, high: 2.7 }), "2.0× faster");
  assert.equal(
    speedupInWords({ code: unclear, ratio: 1.56, low: 0.42, high: 5.76 }),
    "no clear difference: 1.6× (0.4 to 5.8)",
  );
});

const NAMES = [
  "Plain",
  "Chain",
  "Tuned chain",
  "SpecInfer tree, SpecInfer",
  "SpecInfer tree, top-k",
];
const lanes = NAMES.map((name, i) => ({ about: { name, plain: !i } }));
const pair = (faster, slower) => ({ faster, slower, ratio: 1.41, least: 1.2, most: 1.6 });
const headline = (code, winner = -1, rival = -1, best = "") =>
  headlineInWords(
    { on: "", code, winner, rival, best },
    /** @type {any} */ ({ lanes, verdict: { pairs: [pair(winner, rival)] } }),
  );

test("the headline of a run says who won, and by how much", () => {
  assert.equal(headline("wins", 2, 1), "The tuned chain wins: 1.4× the chain");
  assert.equal(headline("wins", 0, 1), "Plain decoding wins: 1.4× the chain");
  assert.equal(headline("wins", 1, 0), "The chain wins: 1.4× plain decoding");
  assert.equal(headline("too_close"), "Too close to call");
});

test("the headline of a run has at most seven words", () => {
  for (const winner of lanes.keys())
    for (const rival of lanes.keys())
      for (const best of ["", "chain", "tree"])
        if (winner !== rival)
          assert.ok(headline("wins", winner, rival, best).split(" ").length <= 7);
});
