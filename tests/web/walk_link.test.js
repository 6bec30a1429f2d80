// Walk's part of the page's address.
import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeNode, made, navigable } from "./fake_page.js";
import { copyLink, followAddress } from "../../ui/shared/web/page_link.js";
import { PRESETS } from "../../ui/walk/web/presets.js";
import { RealStep } from "../../ui/walk/web/real_step.js";
import { SharesField } from "../../ui/walk/web/shares_field.js";
import { ToyForm } from "../../ui/walk/web/toy_form.js";
import { linkWalk } from "../../ui/walk/web/walk_link.js";
import { WalkView } from "../../ui/walk/web/walk_view.js";

const heard = {};
Object.assign(document, navigable());
Object.assign(globalThis, {
  window: { addEventListener: (name, act) => (heard[name] = act) },
  location: { hash: "", href: "http://localhost/" },
});
let copied = "";
const clipboard = { writeText: async (text) => (copied = text) };
Object.defineProperty(globalThis, "navigator", { value: { clipboard } });
followAddress();

const menu = () => ({ value: "" });

/** A view without page elements. It shows the toy (a small example) that the tab opens with. */
function opened() {
  const counts = [menu(), menu()];
  const menus = { preset: menu(), shape: menu(), verifier: menu(), size: menu(), counts };
  const fields = ["p", "q"].map((letter) => made(SharesField, { letter, paint() {} }));
  const form = made(ToyForm, { ...menus, fields, about: new FakeNode(), paint() {} });
  const real = { isRecorded: false, menu: menu(), open() {} };
  const parts = { form, real, runs: { take() {} }, notice: new FakeNode() };
  const view = made(WalkView, {
    ...parts,
    link: {},
    isReal: false,
    takeStep() {},
    paintSource() {},
  });
  form.take = (toy, seed) => view.takeToy(toy, seed);
  form.startFirst();
  linkWalk(view);
  return view;
}

function goTo(hash) {
  location.hash = hash;
  heard.popstate();
}

test("a toy from a link is shown without the description of a preset", () => {
  const { form } = opened();
  assert.equal(form.about.textContent, PRESETS[0].about);
  goTo("#learn/walk&p=0.5,0.5&q=0.5,0.5");
  assert.equal(form.preset.value, "own");
  assert.equal(form.about.textContent, "");
});

test("an address without values shows the toy that the tab opens with", () => {
  const view = opened();
  const { toy, seed } = view;
  goTo("#learn/walk&p=0.5,0.5&q=0.5,0.5&seed=9");
  assert.deepEqual([view.toy.p, view.seed], [[0.5, 0.5], 9]);
  Object.assign(view, { isReal: true, hasShown: true });
  view.real.isRecorded = true;
  goTo("#learn/walk");
  assert.deepEqual([view.isReal, view.toy, view.seed], [false, toy, seed]);
  assert.equal(view.form.preset.value, PRESETS[0].key);
});

test("an address without values does not replace a step of the run in Decode", () => {
  const view = opened();
  view.isReal = true;
  goTo("#learn/walk");
  assert.ok(view.isReal);
});

test("“Copy link” copies no link to a step of the run in Decode, and says so", () => {
  let copies = 0;
  const view = opened();
  Object.assign(view, { isReal: true, link: { copy: () => (copies += 1) } });
  view.copyLink();
  assert.match(view.notice.textContent, /Use “Copy link” there/);
  assert.equal(copies, 0);
  view.real.isRecorded = true;
  view.copyLink();
  assert.equal(copies, 1);
});

/** The form for steps of real runs, without page elements. Step 4 of the run `code` is chosen,
 * counted from 0. */
function realStep(ask, take) {
  const nodes = { about: new FakeNode(), line: new FakeNode() };
  const refusal = { words: "", say: (words) => (refusal.words = words) };
  const lists = { runs: new Map(), listed: [{ name: "code" }, { name: "prose" }] };
  const rest = { on: { ask, take }, menu: { value: "code" }, at: 4, ...lists };
  return made(RealStep, { ...nodes, refusal, ...rest });
}

test("if a recorded run cannot be loaded, no step is shown and the link has no step", async () => {
  const taken = [];
  const ask = async () => {
    throw new Error("offline");
  };
  const real = realStep(ask, (step) => taken.push(step));
  const view = opened();
  Object.assign(view, { isReal: true, real });
  const chosen = real.choose("prose");
  await copyLink("walk");
  assert.equal(copied, "http://localhost/#learn/walk&example=prose");
  await chosen;
  assert.deepEqual(taken, [null]);
  assert.match(real.refusal.words, /could not be loaded/);
  await copyLink("walk");
  assert.equal(copied, "http://localhost/#learn/walk&example=prose");
});
