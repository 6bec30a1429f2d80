/* The texts of an experiment's result: cells, CSV files and captions. */
import { test } from "node:test";
import assert from "node:assert/strict";
import * as rows from "../../ui/experiments/web/result_rows.js";

const result = /** @type {any} */ ({
  name: "budget",
  title: "Tokens per step",
  source: "recorded",
  date: "2026-11-25",
  machine: "a CPU",
  target: "big",
  draft: "small",
  settings: { kinds: ["code", "prose"], prompts: 24, other: { deep: 1 } },
  x: { name: "nodes" },
  y: { name: "tokens" },
  series: [
    {
      name: "Sequoia",
      panel: "code, T = 0",
      points: [
        { x: 16, mean: 3.5, low: 3.1, high: 3.9, prompts: 24 },
        { x: 32, mean: 4, low: null, high: null, prompts: 1 },
      ],
    },
  ],
  columns: [
    { name: "case", label: "texts", kind: "" },
    { name: "here", label: "Sequoia", kind: "recorded" },
    { name: "paper", label: "C4", kind: "paper" },
  ],
  rows: [{ case: "code", here: 3.456, paper: null }],
  done: 4,
  total: 4,
});

test("numbers in a column are rounded only if one of them has more than one decimal", () => {
  assert.deepEqual(rows.cellTexts(["code", 1234, null]), ["code", "1,234", "–"]);
  assert.deepEqual(rows.cellTexts([0, 0.6, 1]), ["0", "0.6", "1"]);
  assert.deepEqual(rows.cellTexts([3.456, 3, 0.012345]), ["3.46", "3.00", "0.0123"]);
});

test("in the CSV file of the points, a point without an interval has empty low and high fields", () => {
  assert.deepEqual(rows.pointRows(result), [
    ["experiment", "panel", "series", "nodes", "tokens", "low", "high", "prompts"],
    ["budget", "code, T = 0", "Sequoia", 16, 3.5, 3.1, 3.9, 24],
    ["budget", "code, T = 0", "Sequoia", 32, 4, "", "", 1],
  ]);
});

test("the table as CSV says where each column's numbers come from", () => {
  assert.deepEqual(rows.tableRows(result), [
    ["texts", "Sequoia (recorded)", "C4 (paper)"],
    ["code", 3.456, ""],
  ]);
});

test("a comparison is above, below or equal to 1 only if its whole interval is", () => {
  const verdict = (low, high) => rows.verdictOf({ text: "", ratio: 1, low, high });
  assert.equal(verdict(1.01, 1.2), "higher");
  assert.equal(verdict(0.8, 0.99), "lower");
  assert.equal(verdict(0.9, 1.1), "no clear difference");
  assert.equal(verdict(1, 1.1), "no clear difference");
  assert.equal(verdict(1, 1), "equal");
  assert.equal(verdict(null, null), "");
});

test("the caption of a saved figure says what it shows, and whether results are missing", () => {
  const lines = rows.captionLines(result);
  assert.deepEqual(lines, ["Tokens per step", "recorded 2026-11-25, a CPU", "big + small"]);
  const partial = rows.captionLines({ ...result, done: 1 });
  assert.match(partial[1], /^1 of 4 parts done; recorded/);
});

test("facts leave out what is empty", () => {
  const names = rows.facts({ ...result, machine: "" }).map(([name]) => name);
  assert.deepEqual(names, ["Target", "Draft", "Date", "Settings"]);
  assert.equal(
    rows.facts(result).at(-1)[1],
    "kinds of text: code, prose; prompts of each kind: 24",
  );
});

test("settings name hardware profiles, and say what several numbers mean", () => {
  const words = (settings) =>
    rows.facts({ ...result, settings }, { "a100-7b": "A100, 7B with 68M" }).at(-1)[1];
  assert.equal(words({ profile: "a100-7b" }), "speed-ups are predicted for “A100, 7B with 68M”");
  assert.equal(
    words({ machines: ["new", "a100-7b"] }),
    "hardware profiles: “new”, “A100, 7B with 68M”",
  );
  assert.equal(
    words({
      conditions: [
        [0, "as it is"],
        [0.6, "worse"],
      ],
      stride: 6,
      planning: [4, 48],
    }),
    "temperature (draft): 0 (as it is), 0.6 (worse); the measured steps start 6 tokens apart; the stopping chain is planned on 4 texts of 48 tokens each",
  );
  assert.equal(
    words({ every: 8 }),
    "with Traversal and block verification, the measured steps start 8 tokens apart",
  );
});

test("a finding has an answer and details", () => {
  assert.deepEqual(rows.divided("One. Two (2.5x)."), ["One. Two (2.5x).", []]);
  assert.deepEqual(rows.divided("One.\nTwo.\nThree."), ["One.", ["Two.", "Three."]]);
  assert.deepEqual(rows.divided(""), ["", []]);
});
