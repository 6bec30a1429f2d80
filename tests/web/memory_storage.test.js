// The stand-in for a blocked storage.
import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryStorage, replaceBlockedStorage } from "../../ui/serving/web/memory_storage.js";

test("it stores what the browser's storage would", () => {
  const items = new MemoryStorage();
  items.setItem("a", "1");
  items.setItem("b", "2");
  items.removeItem("a");
  assert.deepEqual(
    [items.length, items.key(0), items.key(1), items.getItem("b"), items.getItem("a")],
    [1, "b", null, "2", null],
  );
  items.clear();
  assert.equal(items.length, 0);
});

test("only a storage that cannot be used is replaced", () => {
  const full = new MemoryStorage();
  full.setItem = () => {
    throw new Error("QuotaExceededError");
  };
  for (const [blocked, isReplaced] of [
    [{ get: () => raise("SecurityError"), configurable: true }, true],
    [{ value: null, configurable: true }, true],
    [{ value: full, configurable: true }, true],
    [{ value: new MemoryStorage(), configurable: true }, false],
  ]) {
    const page = Object.defineProperty({}, "localStorage", blocked);
    replaceBlockedStorage(page);
    assert.equal(page.localStorage !== blocked.value, isReplaced);
    page.localStorage.setItem("a", "1");
    assert.equal(page.localStorage.getItem("a"), "1");
  }
});

function raise(words) {
  throw new Error(words);
}
