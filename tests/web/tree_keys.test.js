// What a tree reports of the pointer and the keyboard.
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
