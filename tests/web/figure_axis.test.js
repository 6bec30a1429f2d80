/* Axes of the charts that are drawn without Plotly: where values stand, and what ticks say. */
import assert from "node:assert/strict";
import test from "node:test";
import { makeAxis } from "../../ui/shared/web/figure_axis.js";

const texts = ({ ticks }) => ticks.map(({ text }) => text);

test("the ends of a range stand at the ends of the axis", () => {
  const axis = makeAxis({ range: [2, 4] }, [], 10, 110);
  assert.deepEqual([axis.at(2), axis.at(3), axis.at(4)], [10, 60, 110]);
  const upwards = makeAxis({ range: [0, 1] }, [], 200, 0);
  assert.equal(upwards.at(0.25), 150);
});

test("a range contains all finite values, and zero if the layout asks for it", () => {
  const axis = makeAxis({}, [3, null, 5, NaN, Infinity], 0, 100);
  assert.ok(axis.at(3) > 0 && axis.at(5) < 100);
  assert.equal(makeAxis({ rangemode: "tozero" }, [3, 5], 0, 100).at(0), 0);
  for (const values of [[], [null], [7], [0]])
    assert.ok(Number.isFinite(makeAxis({}, values, 0, 100).at(7)));
});

test("ticks are round numbers inside the range", () => {
  assert.deepEqual(texts(makeAxis({ range: [0, 0.65] }, [], 0, 1)), ["0", "0.2", "0.4", "0.6"]);
  assert.deepEqual(texts(makeAxis({ range: [0, 101] }, [], 0, 1)), ["0", "50", "100"]);
  assert.deepEqual(texts(makeAxis({ range: [-3, 3] }, [], 0, 1)), ["-2", "0", "2"]);
  const many = makeAxis({ range: [1.2e-6, 1.9e-6] }, [], 0, 1);
  assert.ok(many.ticks.length > 1 && many.ticks.length < 8);
});

test("a logarithmic axis has powers of ten, or the ticks that it was given", () => {
  const axis = makeAxis({ type: "log" }, [0.001, 1], 0, 300);
  assert.deepEqual(texts(axis), ["0.001", "0.01", "0.1", "1"]);
  const nodes = makeAxis({ type: "log", range: [0, 3], tickvals: [1, 8, 2000] }, [], 0, 300);
  assert.deepEqual(texts(nodes), ["1", "8"]);
  assert.ok(Math.abs(nodes.at(10) - 100) < 1e-9);
});

test("ticks have their given texts and unit", () => {
  const named = { range: [0, 3], tickvals: [1, 2], ticktext: [".1", ".2"] };
  assert.deepEqual(texts(makeAxis(named, [], 0, 1)), [".1", ".2"]);
  assert.deepEqual(texts(makeAxis({ ...named, ticktext: undefined, ticksuffix: "×" }, [], 0, 1)), [
    "1×",
    "2×",
  ]);
});
