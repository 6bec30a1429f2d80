// Acceptance vectors: pasted or edited.
import assert from "node:assert/strict";
import { test } from "node:test";
import { parse, wilson, withRate } from "../../ui/lab/web/acceptance_vectors.js";

const near = (a, b, most = 1e-9) => assert.ok(Math.abs(a - b) <= most, `${a} is not ${b}`);

test("JSON is read as a list, an object with rates, or a survey file", () => {
  const rates = [0.6, 0.1];
  assert.deepEqual(parse("[0.6, 0.1]"), rates);
  assert.deepEqual(parse(' {"rates": [0.6, 0.1], "more": 1} '), rates);
  assert.deepEqual(parse('{"measured": [{"rates": [0.6, 0.1]}]}'), rates);
});

test("numbers are read, separated by commas, semicolons, spaces or lines", () => {
  for (const text of ["0.6,0.2,0.1", "0.6\n0.2\r\n0.1\n", "0.6; 0.2; 0.1", "0.6 0.2 0.1"])
    assert.deepEqual(parse(text), [0.6, 0.2, 0.1], text);
});

test("text that is not a vector is refused with the reason", () => {
  for (const [text, reason] of [
    ["", /nothing to read|[Pp]aste/],
    ["{", /JSON/],
    ["{}", /rates/],
    ["0.6 abc", /"abc"/],
    ["[2]", /2/],
    ["0.9 0.9", /1\.8/],
    ["1".repeat(70_000), /70000/],
  ])
    assert.throws(() => parse(text), { name: "RangeError", message: reason }, text.slice(0, 20));
});

test("Wilson's interval has its known values", () => {
  const [low, high] = wilson(5, 10);
  near(low, 0.23659, 1e-5);
  near(high, 0.76341, 1e-5);
  assert.equal(wilson(0, 20)[0], 0);
  near(wilson(0, 20)[1], 0.16113, 1e-5);
  near(wilson(20, 20)[1], 1, 1e-12);
});

test("raising a rate lowers the others only if the sum would exceed one", () => {
  assert.deepEqual(withRate([0.5, 0.2, 0.1], 1, 0.4), { rates: [0.5, 0.4, 0.1], factor: 1 });
  const { rates, factor } = withRate([0.5, 0.2, 0.1], 1, 0.7);
  near(factor, 0.5);
  rates.forEach((rate, k) => near(rate, [0.25, 0.7, 0.05][k]));
  assert.deepEqual(withRate([0.5, 0.2], 0, 1).rates, [1, 0]);
  assert.deepEqual(withRate([0, 0], 0, 1), { rates: [1, 0], factor: 1 });
});
