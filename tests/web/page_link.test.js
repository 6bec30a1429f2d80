// The page's address follows the open view, whichever link opened the page.
import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { navigable } from "./fake_page.js";
import { openView, openedView } from "../../ui/shared/web/navigation.js";

const VIEWS = ["run", "tour", "walk"];
const BASE = "http://localhost/page";
let page;
let count = 0;

/** A page at `hash` with these views, the first of which is open. */
async function open(hash, built = VIEWS, copy = async () => {}) {
  const heard = {};
  const said = [];
  const location = new URL(BASE + hash);
  const go = (_state, _title, address) => (location.href = new URL(address, BASE).href);
  page = { built, heard, said, location };
  const listen = (name, act) => (heard[name] = act);
  Object.assign(globalThis, {
    document: {
      ...navigable((view) => page.built.includes(view)),
      addEventListener: listen,
      dispatchEvent: ({ type }) => heard[type]?.(),
    },
    window: { addEventListener: listen },
    history: { state: null, pushState: go, replaceState: go },
    location,
  });
  Object.defineProperty(globalThis, "navigator", {
    value: { clipboard: { writeText: copy } },
    configurable: true,
  });
  openView("run");
  const module = await import(`../../ui/shared/web/page_link.js?${count++}`);
  const run = { read: () => ({ step: 3 }), apply: () => {} };
  module.linkView("run", { ...run, say: (words) => said.push(words) });
  return module;
}

afterEach(() => {
  for (const name of ["document", "window", "history", "location", "navigator"])
    delete globalThis[name];
});

test("a link to a view without values opens it", async () => {
  const link = await open("#learn/tour");
  link.followAddress();
  assert.equal(openedView(), "tour");
  openView("run");
  assert.equal(page.location.hash, "#run&step=3");
  openView("tour");
  assert.equal(page.location.hash, "#learn/tour");
});

test("a link to a place opens its first view", async () => {
  const link = await open("#learn", [...VIEWS, "film"]);
  link.followAddress();
  assert.equal(openedView(), "film");
});

test("a link is followed once Gradio has built the view's tab", async (t) => {
  const link = await open("#learn/tour", ["run"]);
  t.mock.timers.enable({ apis: ["setTimeout"] });
  link.followAddress();
  assert.equal(openedView(), "run");
  page.built = VIEWS;
  t.mock.timers.tick(100);
  assert.equal(openedView(), "tour");
});

test("the address is kept until the view that it names is there", async () => {
  const link = await open("#learn/walk&seed=9");
  link.followAddress();
  assert.equal(openedView(), "walk");
  openView("run");
  assert.equal(page.location.hash, "#learn/walk&seed=9");
  const applied = [];
  link.linkView("walk", { read: () => ({}), apply: (one) => applied.push(one), say: () => {} });
  assert.deepEqual(applied, [{ seed: 9 }]);
  openView("walk");
  assert.equal(page.location.hash, "#learn/walk");
});

test("a change in a hidden view does not cancel the open view's update of the address", async (t) => {
  const link = await open("");
  t.mock.timers.enable({ apis: ["setTimeout"] });
  link.linkChanged("run");
  t.mock.timers.tick(100);
  link.linkChanged("walk");
  t.mock.timers.tick(500);
  assert.equal(page.location.hash, "#run&step=3");
});

test("the address changes once a view has stopped changing", async (t) => {
  const link = await open("");
  t.mock.timers.enable({ apis: ["setTimeout"] });
  for (let change = 0; change < 3; change++) {
    link.linkChanged("run");
    t.mock.timers.tick(400);
  }
  assert.equal(page.location.hash, "");
  t.mock.timers.tick(100);
  assert.equal(page.location.hash, "#run&step=3");
});

test("the Back button changes the view, but not the name of the run on screen", async () => {
  const link = await open("?run=first#run");
  link.followAddress();
  link.rememberInAddress({ run: "second", stored: true });
  page.location.href = `${BASE}?run=first#learn/tour`;
  page.heard.popstate();
  assert.equal(openedView(), "tour");
  assert.equal(page.location.href, `${BASE}?run=second#learn/tour`);
});

test("a form's first report, or one without a change, does not change the address", async (t) => {
  await open("");
  const { note } = await import("../../ui/shared/web/form_values.js");
  t.mock.timers.enable({ apis: ["setTimeout"] });
  for (const seed of [1, 1]) note("run", ["seed"], [seed]);
  t.mock.timers.tick(500);
  assert.equal(page.location.hash, "");
  note("run", ["seed"], [2]);
  t.mock.timers.tick(500);
  assert.equal(page.location.hash, "#run");
});

test("the page says what a link leaves out, even if the browser forbids copying", async () => {
  const refuse = async () => {
    throw new Error("no");
  };
  for (const [copy, words] of [
    [async () => {}, /^Link copied without the prompt \(too long for a link, or not valid\)\.$/],
    [refuse, /copying\. The link without the prompt \(too .*valid\): http:.*page#run&seed=1$/],
  ]) {
    const link = await open("", VIEWS, copy);
    const read = () => ({ prompt: "x".repeat(501), seed: 1 });
    link.linkView("run", { read, apply: () => {}, say: (said) => page.said.push(said) });
    await link.copyLink("run");
    assert.equal(page.said.length, 1);
    assert.match(page.said[0], words);
  }
});
