/* An experiment's rows and comparisons in groups with a heading. */
import { test } from "node:test";
import assert from "node:assert/strict";
import { groupedComparisons, groupedRows, onlyKind } from "../../ui/experiments/web/result_rows.js";

const COLUMNS = [
  { name: "case", label: "texts", kind: "" },
  { name: "share", label: "share of the text", kind: "recorded" },
  { name: "nodes", label: "nodes", kind: "" },
  { name: "tokens", label: "tokens per step", kind: "recorded" },
];
const row = (kind, share, nodes, tokens) => ({ case: kind, share, nodes, tokens });
const grouped = (rows) => groupedRows(/** @type {any} */ ({ columns: COLUMNS, rows }));

test("a column with a single value in each group moves to the groups' headings", () => {
  const { columns, groups } = grouped([
    row("code", null, 16, 2),
    row("code", null, 32, 3),
    row("prose", 0.128, 16, 1.5),
    row("prose", 0.128, 32, 2.25),
  ]);
  assert.deepEqual(
    columns.map(({ name }) => name),
    ["nodes", "tokens"],
  );
  assert.deepEqual(groups, [
    {
      title: "code",
      shared: [],
      cells: [
        ["16", "2.00"],
        ["32", "3.00"],
      ],
    },
    {
      title: "prose",
      shared: ["share of the text: 0.128"],
      cells: [
        ["16", "1.50"],
        ["32", "2.25"],
      ],
    },
  ]);
});

test("a heading names its number's source if the table's numbers have several sources", () => {
  const columns = [...COLUMNS, { name: "paper", label: "paper", kind: "paper" }];
  const rows = [row("code", 0.5, 16, 2), row("code", 0.5, 32, 3)].map((one, i) => ({
    ...one,
    paper: i + 1,
  }));
  const { groups } = groupedRows(/** @type {any} */ ({ columns, rows }));
  assert.deepEqual(groups[0].shared, ["share of the text: 0.5 (recorded)"]);
  assert.equal(onlyKind(COLUMNS), "recorded");
  assert.equal(onlyKind(columns), "");
  assert.equal(onlyKind([]), "");
});

test("a column stays in the table if it has two values in one group", () => {
  const rows = [row("code", 0.5, 16, 2), row("code", 0.25, 32, 3), row("prose", 1, 16, 2)];
  assert.deepEqual(
    grouped(rows).columns.map(({ name }) => name),
    ["share", "nodes", "tokens"],
  );
});

test("rows whose first values all differ stay in one group without a heading", () => {
  const { columns, groups } = grouped([row("code", null, 16, 2), row("prose", null, 32, 3)]);
  assert.equal(columns.length, COLUMNS.length);
  assert.deepEqual(groups, [
    {
      title: "",
      shared: [],
      cells: [
        ["code", "–", "16", "2"],
        ["prose", "–", "32", "3"],
      ],
    },
  ]);
});

test("comparisons are grouped by the text before their last colon", () => {
  const named = (text) => ({ text, ratio: 1, low: null, high: null });
  const groupTexts = (...texts) =>
    groupedComparisons(texts.map(named)).map(({ title, members }) => [
      title,
      ...members.map(({ text, comparison }) => {
        assert.ok(comparison.text.endsWith(text));
        return text;
      }),
    ]);
  assert.deepEqual(groupTexts("code: a over b", "code: a over c", "prose, T: 1: a over b", "all"), [
    ["code", "a over b", "a over c"],
    ["prose, T: 1", "a over b"],
    ["", "all"],
  ]);
  assert.deepEqual(groupTexts("code: a over b", "prose: a over b"), [
    ["", "code: a over b", "prose: a over b"],
  ]);
});
