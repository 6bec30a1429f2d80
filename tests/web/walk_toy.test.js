// The toy of the Walk tab: typed distributions, presets, moments of a step, and positions.
import assert from "node:assert/strict";
import { test } from "node:test";
import { seenBy } from "../../ui/shared/web/tree_layout.js";
import { momentAt } from "../../ui/walk/web/moment.js";
import { misplaced, positionsOf, positionWords } from "../../ui/walk/web/positions.js";
import { PRESETS } from "../../ui/walk/web/presets.js";
import { exactly } from "../../ui/walk/web/exact.js";
import { limitsOf, passes } from "../../ui/walk/web/rules/limit.js";
import { VERIFIERS } from "../../ui/walk/web/rules/verifiers.js";
import { readShares, scaledShares, withShare } from "../../ui/walk/web/shares.js";
import { childrenOf, toyTree, toyView, WORDS } from "../../ui/walk/web/toy.js";

const refusal = (...texts) => readShares("p", texts, WORDS).problem;
const sum = (values) => values.reduce((one, other) => one + other, 0);
const preset = (key) => PRESETS.find((one) => one.key === key);
const exact = (toy) => {
  const parts = exactly(toy);
  for (;;) {
    const { done, value } = parts.next();
    if (done) return value;
  }
};
const noneAccepted = (key, verifier) => 1 - sum(exact({ ...preset(key).toy, verifier }).byRank);

test("the refusal of a typed distribution says what is wrong, and in which field", () => {
  assert.equal(refusal("0.5", "0.5"), null);
  assert.equal(refusal("0,25", ".75"), null);
  assert.deepEqual(refusal("1", "-0.2"), {
    at: 1,
    words: "p of “dog” is -0.2, which is below 0; enter a number from 0 to 1.",
  });
  assert.match(refusal("1.5", "0").words, /^p of “cat” is 1\.5, which is above 1/);
  assert.match(refusal("NaN", "1").words, /^p of “cat” is “NaN”; enter a number from 0 to 1/);
  assert.match(refusal("1", "0x1").words, /^p of “dog” is “0x1”/);
  assert.match(refusal("0.5", " ").words, /^p of “dog” is empty/);
  assert.match(refusal("1e999", "0").words, /above 1/);
  assert.deepEqual(refusal("0.5", "0.6"), {
    at: null,
    words: "p sums to 1.1; a distribution sums to 1.",
  });
  assert.match(refusal("0", "0").words, /^p is 0 for every word/);
});

test("after a bar is dragged, the values still sum to 1, and the others keep their proportions", () => {
  assert.deepEqual(withShare([0.4, 0.3, 0.3], 0, 0.7), [0.7, 0.15, 0.15]);
  assert.deepEqual(withShare([1, 0, 0], 0, 0.4), [0.4, 0.3, 0.3]);
  for (const share of [0, 0.01, 1 / 3, 0.999, 1, 7])
    for (const values of [[0.1, 0.2, 0.7], [NaN, 0.5, -3], new Array(8).fill(1 / 8)]) {
      const texts = withShare(values, 1, share).map(String);
      assert.equal(readShares("q", texts, WORDS).problem, null, texts.join());
    }
  const small = withShare([0, 0.15, 0.15, 0.15, 0.15, 0.15, 0.15, 0.1], 0, 0.99);
  assert.ok(small.every((value) => value >= 0));
  assert.equal(small[0], 0.99);
  assert.deepEqual(scaledShares([1, 1, 0]), [0.5, 0.5, 0]);
  assert.equal(sum(scaledShares([1, 1, 1])), 1);
});

test("presets have the effects and figures that their descriptions state", () => {
  for (const { key, about, toy } of PRESETS) {
    assert.equal(readShares("p", toy.p.map(String), WORDS).problem, null, key);
    assert.equal(readShares("q", toy.q.map(String), WORDS).problem, null, key);
    assert.ok(about.length > 40);
  }
  assert.equal(noneAccepted("specinfer-rejects", "specinfer"), 0.25);
  assert.equal(noneAccepted("specinfer-rejects", "sequoia"), 0);
  assert.ok(Math.abs(noneAccepted("top-k-fails", "topk") - 0.4) < 1e-12);
  assert.equal(noneAccepted("top-k-fails", "sequoia"), 0);
  for (const { key } of VERIFIERS)
    assert.ok(Math.abs(noneAccepted("all-accept", key)) < 1e-12, key);
  const guesses = (key, verifier) => exact({ ...preset(key).toy, verifier }).tokens - 1;
  const { about } = preset("traversal-below");
  const figures = about.match(/\d\.\d+/g).map(Number);
  assert.deepEqual(
    figures,
    ["traversal", "sequoia"].map((key) => guesses("traversal-below", key)),
  );
  const block = preset("block-passes");
  assert.ok(passes(exact(block.toy).tokens, limitsOf(block.toy)));
  const { toy, seed } = preset("second-child");
  const { trials } = toyView(toy, seed);
  assert.deepEqual(
    trials.slice(0, 2).map(({ accepted }) => accepted),
    [false, true],
  );
});

test("a chain has one child at each node, and no node has more children than there are words", () => {
  const toy = { p: [0.5, 0.5], q: [0.5, 0.5], children: [5, 3], verifier: "sequoia" };
  assert.deepEqual(childrenOf(toy), [2, 2]);
  assert.deepEqual(childrenOf({ ...toy, verifier: "chain" }), [1, 1]);
  assert.deepEqual(toyTree([2, 1]).parents, [-1, 0, 0, 1, 2]);
});

test("a rejection shows p and q, and what is left of them for the next child", () => {
  const { toy, seed } = preset("q-runs-out");
  const step = toyView(toy, seed);
  const { now, trial, title } = momentAt(step, 1);
  assert.equal(title, "Trial 1 of 2: child 1 of the root");
  assert.equal(trial.accepted, false);
  assert.deepEqual(
    now.rows.map(({ label, p, q }) => [label, p, q]),
    [
      ["cat", 0, 1],
      ["dog", 0.5, 0],
      ["owl", 0.3, 0],
      ["fox", 0.2, 0],
    ],
  );
  assert.match(now.note, /Nothing is left of q: the next child was drawn with equal probability/);
  assert.deepEqual(
    momentAt(step, step.trials[1].node).now.rows.map(({ q }) => q),
    [0, 1 / 3, 1 / 3, 1 / 3],
  );
  assert.equal(momentAt(step, "bonus").title, "The token from the large model");
  assert.equal(momentAt(step, 0), null);
});

test("in Traversal, `entered` is the chance to keep the path before any child is rejected", () => {
  const { toy, seed } = preset("whole-path");
  const step = toyView(toy, seed);
  assert.deepEqual(
    step.trials.map(({ node }) => node),
    [3, 1, 4],
  );
  const { entered, trial, now } = momentAt(step, 1);
  assert.ok(entered > trial.p);
  assert.equal(now, null);
});

test("a node sees itself and its ancestors; node indices are positions only in a chain", () => {
  const topo = toyTree([2, 1]);
  assert.deepEqual(seenBy(topo, 4), [0, 2, 4]);
  assert.deepEqual(positionsOf(topo, false), [0, 1, 1, 2, 2]);
  assert.deepEqual(misplaced(topo), [2, 3, 4]);
  const words = positionWords(topo, true, (node) => WORDS[node]);
  assert.match(words, /^A bug: 3 nodes of 5 get a wrong position: “owl” \(node 2\) at \+2 instead/);
  const chain = toyTree([1, 1]);
  assert.deepEqual(misplaced(chain), []);
  assert.match(positionWords(chain, true, String), /a chain/);
});
