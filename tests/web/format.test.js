// Text and numbers as a person reads them.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  apart,
  count,
  known,
  ms,
  percent,
  plotlyText,
  prob,
  rate,
  readable,
  seconds,
  short,
  visible,
} from "../../ui/shared/web/format.js";

/** Apply `of` to each of `values`. */
const each = (of, values) => values.map((value) => of(value));

test("invisible characters become visible", () => {
  assert.equal(visible(" a "), "·a·");
  assert.equal(visible("a b"), "a b");
  assert.equal(visible("\n\t"), "⏎⇥");
  assert.equal(visible("\u0007"), "␇");
  assert.equal(visible("\u202e"), "⟨202E⟩");
  assert.equal(visible("\u200b"), "⟨200B⟩");
  assert.equal(visible("\ud800"), "⟨D800⟩");
  for (const code of [0x34f, 0x115f, 0x180b, 0x2800, 0x3164, 0xfe0f, 0xffa0, 0xe0100, 0xe01ef])
    assert.equal(
      visible("a" + String.fromCodePoint(code)),
      `a⟨${code.toString(16).toUpperCase().padStart(4, "0")}⟩`,
    );
});

test("an empty or missing token is shown as ∅, and empty running text stays empty", () => {
  assert.deepEqual(each(visible, ["", null, undefined]), ["∅", "∅", "∅"]);
  assert.equal(readable(""), "");
});

test("a combining mark without a letter gets a dotted circle", () => {
  assert.equal(visible("\u0301"), "◌\u0301");
  assert.equal(readable("e\u0301"), "e\u0301");
});

test("running text keeps its ordinary spaces, and shows a no-break space as a sign", () => {
  assert.equal(readable("  a\u00a0b "), "  a⍽b ");
});

test("only finite numbers are known", () => {
  const values = [0, -1.5, NaN, Infinity, "1", null, undefined];
  assert.deepEqual(each(known, values), [true, true, false, false, false, false, false]);
});

test("a probability is rounded to three digits, or to two before an exponent", () => {
  const values = [0, 1, 0.1234, 0.01234, 0.00012, 12.34, 123.4, 12345, NaN];
  const wanted = ["0", "1.00", "0.123", "0.0123", "1.2e-4", "12.3", "123", "1.2e4", "–"];
  assert.deepEqual(each(prob, values), wanted);
});

test("in sentences numbers have few digits", () => {
  const values = [0, 0.5, 0.0123, 0.00012, 12.34, 123.4, null];
  assert.deepEqual(each(short, values), ["0", "0.50", "0.012", "1e-4", "12.3", "123", "–"]);
});

test("two numbers have as many digits as are needed to distinguish them", () => {
  assert.deepEqual(apart(0.5, 0.25), ["0.50", "0.25"]);
  assert.deepEqual(apart(0.5001, 0.5002), ["0.5001", "0.5002"]);
  assert.deepEqual(apart(0.5, 0.5), ["0.50", "0.50"]);
});

test("a share is rounded to two digits, and only 0 is shown as 0%", () => {
  const values = [0, 1, 0.5, 0.123, 0.0123, 0.00001, NaN];
  const wanted = ["0%", "100%", "50%", "12%", "1.2%", "under 0.01%", "–"];
  assert.deepEqual(each(percent, values), wanted);
});

test("times are in milliseconds, long ones in seconds", () => {
  assert.deepEqual(each(ms, [0.00123, 0.0123, 0.123, 12.3]), [
    "1.23 ms",
    "12.3 ms",
    "123 ms",
    "12.3 s",
  ]);
  const times = [0.5, 0.9994, 0.9996, 1.5, 150, NaN];
  const wanted = ["500 ms", "999 ms", "1.0 s", "1.5 s", "150 s", "–"];
  assert.deepEqual(each(seconds, times), wanted);
});

test("rates have three digits", () => {
  assert.deepEqual(each(rate, [1.234, 12.34, 123.4, undefined]), ["1.23", "12.3", "123", "–"]);
});

test("only after 1 is the noun singular", () => {
  assert.equal(count(1, "node"), "1 node");
  assert.equal(count(1234, "node"), "1,234 nodes");
  assert.equal(count(2, "child", "children"), "2 children");
});

test("tags in a name are escaped for Plotly", () => {
  assert.equal(plotlyText("<a href='x'>&lt;</a>"), "&lt;a href='x'&gt;&amp;lt;&lt;/a&gt;");
});
