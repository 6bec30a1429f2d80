// How a tree reacts to the pointer and the keyboard.
import "./fake_page.js";
import assert from "node:assert/strict";
import { test } from "node:test";
import { listen } from "../../ui/shared/web/tree_keys.js";

const cell = (key) => ({ dataset: { key } });

test("while the pointer is on no cell, the cell with the keyboard focus counts as hovered", () => {
  const said = [];
  const heard = {};
  const svg = {
    addEventListener: (name, act) => (heard[name] = act),
    querySelector: () => cell("focused"),
  };
  const pointed = [];
  const view = { svg, scroller: { addEventListener() {} }, point: (key) => pointed.push(key) };
  listen(/** @type {any} */ (view), /** @type {any} */ ({ hover: (key) => said.push(key) }));
  heard.pointerover({ target: { closest: () => cell("n1") } });
  heard.pointerover({ target: { closest: () => null } });
  heard.pointerleave();
  assert.deepEqual(said, ["n1", "focused", "focused"]);
  assert.deepEqual(pointed, said);
});

test("the right arrow moves from a leaf to the correction in the same row", () => {
  const root = { key: "n0", parent: null, col: 0, row: 0 };
  const rejected = { key: "n1", parent: root, col: 1, row: 0 };
  const correction = { key: "bonus", parent: root, col: 4, row: 0 };
  const other = { key: "n2", parent: root, col: 1, row: 1 };
  const focused = [];
  const heard = {};
  const view = {
    svg: { addEventListener() {}, querySelector: () => null },
    scroller: { addEventListener: (name, act) => (heard[name] = act) },
    cells: () => [root, rejected, other, correction],
    focus: (key) => focused.push(key),
  };
  listen(/** @type {any} */ (view), /** @type {any} */ ({}));
  const press = (from) =>
    heard.keydown({
      key: "ArrowRight",
      target: { closest: () => cell(from) },
      preventDefault() {},
      stopPropagation() {},
    });
  for (const from of ["n0", "n1", "n2", "bonus"]) press(from);
  assert.deepEqual(focused, ["n1", "bonus"]);
});
