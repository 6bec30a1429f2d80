// The numbers and the reason that the inspector shows for the selected node. With top-k match above
// temperature 0, a trial has none, because acceptance depends only on the token that the target
// sampled.
import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeNode, made } from "./fake_page.js";
import { Inspector } from "../../ui/run/web/inspector.js";
import { viewStep } from "./a_step.js";
import { why } from "../../ui/shared/web/step_words.js";
import { topology } from "../../ui/shared/web/tree_layout.js";

const TRIAL = ["tq", "tp", "ratio", "u", "mass"];

/** The keys of the numbers that are shown for the trial of node 1. */
function shownOfTrial(trial, temperature) {
  const step = { tokens: [0, 1], path: [0], trials: [trial], q: [null, 0.6], p: [null, 0.5] };
  const meta = { params: { temperature } };
  const view = viewStep(/** @type {any} */ (step), topology([-1, 0]), new Map(), meta);
  return shownFigures(view, 1, TRIAL);
}

/** Those of `keys` whose numbers are shown for the trial of `node`. */
function shownFigures(view, node, keys) {
  const figures = keys.map((key) => ({ key, box: new FakeNode(), value: new FakeNode() }));
  const store = { lane: { slots: { counts: () => [3, 9] } } };
  made(Inspector, { store, figures }).paintFigures(view, node, view.trial(node));
  return figures.filter(({ box }) => !box.hidden).map(({ key }) => key);
}

test("above temperature 0, a trial of top-k match has no numbers", () => {
  const [drawn, matched] = [0.4, null].map((u) => [1, 0.5, 0.6, u, true, null]);
  assert.deepEqual(shownOfTrial(matched, 1), []);
  assert.deepEqual(shownOfTrial(drawn, 1), ["ratio", "u"]);
});

/** A step of `verifier` with three siblings, of which the first two were rejected. */
function thirdAccepted(verifier) {
  const trials = [
    [1, 0.1, 0.6, 0.9, false, 0.5],
    [2, 0.1, 0.5, 0.9, false, 0.5],
    [3, 0.6, 0.5, 0.9, true, null],
  ];
  const step = { tokens: [0, 1, 2, 3], path: [0, 3], trials };
  return viewStep(/** @type {any} */ (step), topology([-1, 0, 0, 0]), new Map(), { verifier });
}

test("residual p is shown after a rejected sibling, residual q if the verifier changes q", () => {
  const shown = (view) => [1, 2].map((node) => shownFigures(view, node, TRIAL));
  assert.deepEqual(shown(thirdAccepted("sequoia")), [
    ["ratio", "u", "mass"],
    ["tq", "tp", "u", "mass"],
  ]);
  assert.deepEqual(shown(thirdAccepted("specinfer")), [
    ["ratio", "u", "mass"],
    ["tp", "u", "mass"],
  ]);
  assert.match(why(thirdAccepted("sequoia"), 2), /; the small model now gives it q = 50%\./);
  assert.match(why(thirdAccepted("specinfer"), 2), /; the small model still gives it q = 50%\./);
});

test("after a rejected sibling, the ratio and p in the reason are named as residuals", () => {
  const view = thirdAccepted("sequoia");
  const ratios = [1, 2, 3].map((node) => shownFigures(view, node, ["ratio", "tratio"]));
  assert.deepEqual(ratios, [["ratio"], ["tratio"], ["tratio"]]);
  const reasons = [1, 2, 3].map((node) => why(view, node));
  assert.match(reasons[0], /^The large model gives this token p = 10%, the small model q = 60%\./);
  assert.match(reasons[1], /^A sibling was rejected before\. .* \(the residual\), this token/);
  assert.match(reasons[2], /^Siblings were rejected before\. .* \(the residual\), this token/);
});

test("the reason says which of p and q decided, or why a node was not tried", () => {
  const yes = [1, 0.5, 0.6, 0.41, true, null];
  const no = [1, 0.002, 0.31, 0.44, false, 0.7];
  const other = [2, 0.1, 0.5, 0.9, false, 0.5];
  const cases = [
    [1, [yes], [0, 1, 3], 1, /p = 50%.* q = 60%.* u = 0\.41 is below p\/q = 0\.83.* accepted/],
    [1, [no], [0], 1, /u = 0\.44 is not below p\/q = 0\.0065.* rejected/],
    [1, [[1, 0.6, 0.5, 0.9, true, null]], [0, 1], 1, /at least as likely/],
    [1, [[1, 0, 0.5, 0, false, 1]], [0], 1, /p is 0, so it is rejected/],
    [0, [[1, 1, 0.6, 0.41, true, null]], [0, 1], 1, /is what the large model writes/],
    [0, [[1, 0, 0.6, 0.41, false, 1]], [0], 1, /is not what the large model writes/],
    [1, [[1, 0.5, 0.6, null, true, null]], [0, 1], 1, /that the large model drew/],
    [1, [yes], [0, 1], 2, /^Not tried: .*“a”, was accepted/],
    [1, [yes], [0, 1], 4, /^Out of reach: .*“b” was not tried/],
    [1, [no, other], [0], 4, /^Out of reach: .*“b” was rejected/],
    [1, [no, other], [0], "bonus", /corrects with a token from the residual/],
    [1, [yes, [3, 0.1, 0.5, 0.1, true, null]], [0, 1, 3], "bonus", /for free/],
  ];
  const pieces = new Map([..."rabcd"].map((piece, id) => [String(id), piece]));
  for (const [temperature, trials, path, node, said] of cases) {
    const step = { tokens: [0, 1, 2, 3, 4], trials, path, bonus: 0, emitted: path };
    const meta = { params: { temperature } };
    const view = viewStep(/** @type {any} */ (step), topology([-1, 0, 0, 1, 2]), pieces, meta);
    assert.match(why(view, /** @type {any} */ (node)), /** @type {any} */ (said));
  }
});

test("the inspector shows how often a node's position was accepted", () => {
  const view = thirdAccepted("sequoia");
  const figures = [{ key: "share", box: new FakeNode(), value: new FakeNode() }];
  const store = { lane: { slots: { counts: (tree, node) => [node, 9] } } };
  made(Inspector, { store, figures }).paintFigures(view, 3, view.trial(3));
  assert.equal(figures[0].value.textContent, "3 of 9");
});
