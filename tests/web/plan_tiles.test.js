// What the tiles of the Hardware view say.
import "./fake_page.js";
import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeNode, made } from "./fake_page.js";
import { PlanTiles } from "../../ui/hardware/web/plan_tiles.js";

const NAMES = ["speedup", "size", "tokens", "step", "plain", "knee"];
const PARTS = ["tile", "value", "unit", "note"];
const nodes = (names) => Object.fromEntries(names.map((name) => [name, new FakeNode()]));

/** The texts of the tile of the knee. */
function kneeSays(knee) {
  const parts = Object.fromEntries(NAMES.map((name) => [name, nodes(PARTS)]));
  const plan = { nodes: 8, levels: 3, speedup: 2, tokens: 2.5, seconds: 0.03, plain: 0.02 };
  made(PlanTiles, { parts }).show({ plan, profile: { label: "measured" }, knee });
  const { value, unit, note } = parts.knee;
  return [value, unit, note].map((node) => node.textContent).join(" ");
}

test("the knee takes at least twice the time of one node", () => {
  assert.equal(kneeSays({ nodes: 86, most: 512 }), "86 nodes ≥ 2× the time of 1 node");
  assert.equal(kneeSays({ nodes: null, most: 64 }), "–  not up to 64 nodes");
});
