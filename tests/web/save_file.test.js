// The text of saved tables.
import assert from "node:assert/strict";
import { test } from "node:test";
import { csv } from "../../ui/shared/web/save_file.js";

test("a cell with a quote, a comma or a line break is quoted", () => {
  assert.equal(
    csv([
      ["a", 1],
      ["b c", ""],
    ]),
    "a,1\r\nb c,\r\n",
  );
  for (const text of ["a,b", "a\nb", "a\rb", "a\r\nb"])
    assert.equal(csv([[text]]), `"${text}"\r\n`);
  assert.equal(csv([['say "a"']]), '"say ""a"""\r\n');
});
