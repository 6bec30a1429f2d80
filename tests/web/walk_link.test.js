// The Walk tab's part of the page's address.
import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeNode, made } from "./fake_page.js";
import { ToyForm } from "../../ui/walk/web/toy_form.js";

const menu = () => ({ value: "" });

/** A form without its elements. */
function fakeForm() {
  const counts = [menu(), menu()];
  const menus = { preset: menu(), shape: menu(), verifier: menu(), size: menu(), counts };
  return made(ToyForm, {
    ...menus,
    about: new FakeNode(),
    fields: [{}, {}],
    paint() {},
    take() {},
  });
}

test("a toy from a link has no description of a ready-made one", () => {
  const form = fakeForm();
  form.about.textContent = "The draft and the target prefer different words.";
  form.put({ p: [0.5, 0.5], q: [0.5, 0.5], children: [2, 0], verifier: "chain" });
  assert.equal(form.preset.value, "own");
  assert.equal(form.about.textContent, "");
});
