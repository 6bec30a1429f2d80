import assert from "node:assert/strict";
import { test } from "node:test";
import { sizeInWords } from "../../ui/shared/web/tree_thumbnail.js";

test("the size of a tree in words", () => {
  assert.equal(sizeInWords([-1]), "1 node on 1 level");
  assert.equal(sizeInWords([-1, 0, 0]), "3 nodes on 2 levels");
  assert.equal(sizeInWords([-1, 0, 1]), "a chain of 3 nodes");
});
