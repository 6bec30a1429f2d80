// A visitor's place in the tour, and how the browser stores it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { filled } from "../../ui/tour/web/filled.js";
import * as tour from "../../ui/tour/web/tour_state.js";

test("the tour begins at the first stop with nothing answered", () => {
  const state = tour.atStart();
  assert.equal(state.stop, "cost");
  assert.equal(tour.openQuestion(state, "dice"), "stay");
  assert.ok(!tour.isDone(state, "cost"));
});

test("a question is closed by the visitor's answer, and also by showing the solution", () => {
  let state = tour.answered(tour.atStart(), "dice", "stay", 49);
  assert.equal(tour.openQuestion(state, "dice"), "left");
  state = tour.answered(state, "dice", "left", null);
  assert.ok(tour.isDone(state, "dice"));
  assert.ok(tour.isAnswered(state, "dice", "left"));
});

test("the visitor can go to any stop, and nowhere else", () => {
  assert.equal(tour.movedTo(tour.atStart(), "which").stop, "which");
  assert.equal(tour.movedTo(tour.atStart(), "nowhere").stop, "cost");
  assert.equal(tour.neighbour("cost", 1), "dice");
  assert.equal(tour.neighbour("cost", -1), undefined);
  assert.equal(tour.neighbour("yours", 1), undefined);
});

test("a stored state is read back unchanged", () => {
  let state = tour.answered(tour.atStart(), "dice", "left", [0, 9, 4, 2]);
  state = tour.answered(state, "which", "machine", "epyc-2-cores-bundled");
  state = tour.answered(state, "cost", "length", null);
  state = tour.movedTo(state, "chain");
  assert.deepEqual(tour.read(tour.written(state)), state);
});

test("stored data that the tour could not have written is ignored", () => {
  const start = tour.atStart();
  for (const text of [null, "", "{", "null", "[]", '{"v":2,"stop":"dice"}', "x".repeat(5000)])
    assert.deepEqual(tour.read(text), start);
  const strange = {
    v: 1,
    stop: "<img>",
    answers: { "cost.length": {}, "dice.stay": 3, "a.b": 1, "dice.left": [{}], ["__proto__"]: 1 },
  };
  const state = tour.read(JSON.stringify(strange));
  assert.equal(state.stop, "cost");
  assert.deepEqual(state.answers, { "dice.stay": 3 });
});

test("values replace the names in braces, and a name without a value is an error", () => {
  assert.equal(filled("{a} of {b}", { a: 1, b: "two" }), "1 of two");
  assert.throws(() => filled("{a} of {c}", { a: 1 }), /no value for {c}/);
});
