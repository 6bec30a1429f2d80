// The headings of a tree's columns move with the columns. The strength of a pill's colour shows a
// number from 0 to 1, its `share`.
import "./fake_page.js";
import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeNode, made } from "./fake_page.js";
import { TreeColumns } from "../../ui/shared/web/tree_columns.js";
import { TreePills } from "../../ui/shared/web/tree_pills.js";

const pen = { measureText: ({ length }) => ({ width: 50 * length }) };
const node = () =>
  Object.assign(new FakeNode(), {
    style: {},
    appendChild() {},
    prepend() {},
    getContext: () => pen,
  });
Object.assign(document, { createElement: node });

test("headings move with their columns even if the width of the grid stays the same", () => {
  const columns = new TreeColumns(/** @type {any} */ (node()));
  const leftOf = (col) => {
    const frame = { width: 300, gutter: 9, least: 80, x: (at) => at * col };
    const view = { frame, zoom: 1, face: "x" };
    columns.paint([{ names: ["now"] }, { names: ["1"] }], /** @type {any} */ (view));
    return columns.spans.items[1].style.left;
  };
  assert.equal(leftOf(100), "101.0px");
  assert.equal(leftOf(140), "141.0px");
});

test("a pill whose share is removed also loses its colour strength", () => {
  const set = {};
  const style = { setProperty: (name, value) => (set[name] = value) };
  const g = Object.assign(new FakeNode(), { style });
  const pills = made(TreePills, {});
  const pill = { g, share: undefined, state: "never" };
  pills.paint(pill, { state: "never", share: 0.25 });
  assert.equal(set["--h"], "0.500");
  pills.paint(pill, { state: "never" });
  assert.equal(set["--h"], "");
});
