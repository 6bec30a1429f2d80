import assert from "node:assert/strict";
import { test } from "node:test";
import { sizeInWords, thumbnail } from "../../ui/shared/web/tree_thumbnail.js";

test("a chain is a straight line from edge to edge", () => {
  const { dots, lines } = thumbnail([-1, 0, 1], 60, 30);
  assert.equal(dots, "M3.0 15.0h0M30.0 15.0h0M57.0 15.0h0");
  assert.equal(lines, "M3.0 15.0L30.0 15.0M30.0 15.0L57.0 15.0");
});

test("every child after the first has a row of its own", () => {
  const { dots } = thumbnail([-1, 0, 0, 0], 60, 30);
  assert.equal(dots, "M3.0 3.0h0M57.0 3.0h0M57.0 15.0h0M57.0 27.0h0");
});

test("a single node is in the middle of the picture", () => {
  assert.deepEqual(thumbnail([-1], 60, 30), { dots: "M30.0 15.0h0", lines: "", dot: 4 });
});

test("the dots of a large tree are small, and all lie inside the picture", () => {
  const parents = Array.from({ length: 1024 }, (_, node) => (node ? (node - 1) >> 1 : -1));
  const { dots, dot } = thumbnail(parents, 72, 36);
  const places = [...dots.matchAll(/M([\d.]+) ([\d.]+)h0/g)].map(([, x, y]) => [+x, +y]);
  assert.equal(places.length, 1024);
  assert.ok(places.every(([x, y]) => x >= 3 && x <= 69 && y >= 3 && y <= 33));
  assert.ok(dot < 2);
});

test("the size of a tree in words", () => {
  assert.equal(sizeInWords([-1]), "1 node on 1 level");
  assert.equal(sizeInWords([-1, 0, 0]), "3 nodes on 2 levels");
  assert.equal(sizeInWords([-1, 0, 1]), "a chain of 3 nodes");
});
