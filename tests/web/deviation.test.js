/* How far counts are from what is expected: the mark of a row, and the words about all counts. */
import { test } from "node:test";
import assert from "node:assert/strict";
import { isFar, rareness } from "../../ui/lossless/web/deviation.js";

const row = (share, seen) => ({ tokens: ["a"], rest: /** @type {""} */ (""), share, seen });

test("a row is marked if it is off by three standard deviations or more", () => {
  assert.equal(isFar(row(0.5, 515), 1000), false); // one deviation is 15.8
  assert.equal(isFar(row(0.5, 547), 1000), false);
  assert.equal(isFar(row(0.5, 548), 1000), true);
  assert.equal(isFar(row(0.5, 452), 1000), true);
  assert.equal(isFar(row(0, 1), 1000), true); // what the target never emits
  assert.equal(isFar(row(0, 0), 1000), false);
});

test("the words say how far off all counts are, and how rare that is", () => {
  const found = { draws: 20000, distance: 0.12, floor: 0.007, p_value: 0 };
  assert.equal(
    rareness(found),
    "20,000 texts. Total variation 12%; chance alone gives 0.7% on average; p-value below 0.000001.",
  );
  assert.match(rareness({ ...found, p_value: 0.8029 }), /; p-value 0\.80\.$/);
  assert.match(rareness({ ...found, p_value: null }), /0\.7% on average\.$/);
});
