// Durations in a unit that is easy to read.
import assert from "node:assert/strict";
import { test } from "node:test";
import { durationWords } from "../../ui/hardware/web/duration.js";

test("the unit is chosen after rounding: 0.9996 ms becomes 1.0 ms, not 1000 µs", () => {
  for (const [seconds, words] of /** @type {[number, string][]} */ ([
    [0, "0.0 ms"],
    [0.0000066, "7 µs"],
    [0.0009994, "999 µs"],
    [0.0009996, "1.0 ms"],
    [0.0066, "6.6 ms"],
    [0.9994, "999 ms"],
    [0.9996, "1.00 s"],
    [2.345, "2.35 s"],
  ]))
    assert.equal(durationWords(seconds), words);
});
