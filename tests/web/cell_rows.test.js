/* The names of the cells of a losslessness test, and its CSV file. A cell is a group of outputs
   that the test counts together. If the decoder is broken on purpose, the file's name and every
   line below the heading say so. */
import { test } from "node:test";
import assert from "node:assert/strict";
import { csvName, csvRows, nameOf } from "../../ui/lossless/web/cell_rows.js";

const rows = [
  { tokens: [" a", "b"], rest: "", share: 0.5, seen: 49 },
  { tokens: ["c"], rest: "other", share: 0.3, seen: 33 },
  { tokens: [], rest: "rare", share: 0.2, seen: 18 },
];
const correct = { rows, draws: 100, decoder: "correct", broken: null };
const broken = { rows, draws: 100, decoder: "broken on purpose: the walk's u", broken: "walk-u" };

test("cells are named by their tokens and by what may follow", () => {
  assert.deepEqual(nameOf(rows[0]), { tokens: ["·a", "b"], rest: "" });
  assert.deepEqual(nameOf(rows[1]), { tokens: ["c"], rest: "then any other" });
  assert.deepEqual(nameOf({ ...rows[1], tokens: [] }).rest, "any other");
  assert.equal(nameOf({ ...rows[1], rest: "other more" }).rest, "then any other, and rarer ones");
  assert.equal(
    nameOf({ ...rows[1], tokens: [], rest: "other more" }).rest,
    "any other, and rarer ones",
  );
  assert.match(nameOf(rows[2]).rest, /rarer/);
});

test("each line below the heading has the exact probability, the counts and the decoder", () => {
  const [head, first, ...rest] = csvRows(/** @type {any} */ (correct));
  assert.equal(head.length, first.length);
  assert.deepEqual(first, ["·a b", 0.5, 50, 49, "correct"]);
  assert.equal(rest.length, 2);
  assert.equal(csvName(/** @type {any} */ (correct)), "lossless.csv");
});

test("a broken decoder's file says so in its name and in each line below the heading", () => {
  const [, ...body] = csvRows(/** @type {any} */ (broken));
  assert.ok(body.every((row) => row.at(-1).startsWith("broken on purpose")));
  assert.equal(csvName(/** @type {any} */ (broken)), "lossless-broken-on-purpose-walk-u.csv");
});
