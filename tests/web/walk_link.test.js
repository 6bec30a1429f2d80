// The Walk tab's part of the page's address.
import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeNode, made } from "./fake_page.js";
import { ToyForm } from "../../ui/walk/web/toy_form.js";
import { WalkView } from "../../ui/walk/web/walk_view.js";

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

test("a step of the run in Decode has no link, and the button says so", () => {
  let copies = 0;
  const link = { copy: () => (copies += 1) };
  const fields = { link, isReal: true, real: { isRecorded: false }, notice: new FakeNode() };
  const view = made(WalkView, fields);
  view.copyLink();
  assert.match(view.notice.textContent, /Use “Copy link” in Decode/);
  assert.equal(copies, 0);
  view.real.isRecorded = true;
  view.copyLink();
  assert.equal(copies, 1);
});
