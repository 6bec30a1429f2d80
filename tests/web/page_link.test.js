// The page's address follows the open tab, whichever link opened the page.
import assert from "node:assert/strict";
import { afterEach, test } from "node:test";

const BASE = "http://localhost/page";
let page;
let count = 0;

/** A page at `hash` with these tabs, the first of which is open. */
async function open(hash, names, copy = async () => {}) {
  const tabs = names.map((name) => ({
    textContent: name,
    isOpen: name === names[0],
    getAttribute: () => String(tab(name).isOpen),
    click: () => tabs.forEach((one) => (one.isOpen = one.textContent === name)),
    closest: () => true,
  }));
  const tab = (name) => tabs.find((one) => one.textContent === name);
  const heard = {};
  const said = [];
  const location = new URL(BASE + hash);
  const go = (_state, _title, address) => (location.href = new URL(address, BASE).href);
  page = { tabs, tab, heard, said, location };
  const listen = (name, act) => (heard[name] = act);
  Object.assign(globalThis, {
    document: {
      querySelectorAll: (selector) => (selector === "[role=tab]" ? tabs : []),
      addEventListener: listen,
    },
    window: { addEventListener: listen },
    history: { state: null, pushState: go, replaceState: go },
    location,
  });
  Object.defineProperty(globalThis, "navigator", {
    value: { clipboard: { writeText: copy } },
    configurable: true,
  });
  const module = await import(`../../ui/shared/web/page_link.js?${count++}`);
  const decode = { read: () => ({ step: 3 }), apply: () => {} };
  module.linkView("decode", { ...decode, say: (words) => said.push(words) });
  return module;
}

/** Press a tab as a visitor does. */
function press(t, name) {
  page.tab(name).click();
  page.heard.click({ target: page.tab(name) });
  t.mock.timers.tick(1);
}

afterEach(() => {
  for (const name of ["document", "window", "history", "location", "navigator"])
    delete globalThis[name];
});

const TABS = ["Decode", "Tour", "Race", "Models"];

test("a link to a tab that the page does not have is ignored, and the page says so", async (t) => {
  const link = await open("#models", ["Decode", "Race"]);
  t.mock.timers.enable({ apis: ["setTimeout"] });
  link.followAddress();
  press(t, "Race");
  t.mock.timers.tick(5000);
  assert.deepEqual(page.said, []);
  for (let look = 0; look < 100; look++) t.mock.timers.tick(100);
  assert.deepEqual(page.said, ["This link was ignored: the page has no tab “models”."]);
  assert.equal(page.location.hash, "");
  press(t, "Decode");
  assert.equal(page.location.hash, "#decode&step=3");
});

for (const name of ["Models", "Tour"])
  test(`a link to the tab ${name}, which has no values, opens it`, async (t) => {
    const link = await open("#" + name.toLowerCase(), TABS);
    t.mock.timers.enable({ apis: ["setTimeout"] });
    link.followAddress();
    assert.ok(page.tab(name).isOpen);
    assert.deepEqual(page.said, []);
    press(t, "Decode");
    assert.equal(page.location.hash, "#decode&step=3");
    press(t, name);
    assert.equal(page.location.hash, "#" + name.toLowerCase());
  });

test("the address is kept until the view that it names is there", async (t) => {
  const link = await open("#race&seed=9", TABS);
  t.mock.timers.enable({ apis: ["setTimeout"] });
  link.followAddress();
  assert.ok(page.tab("Race").isOpen);
  press(t, "Decode");
  assert.equal(page.location.hash, "#race&seed=9");
  const applied = [];
  link.linkView("race", { read: () => ({}), apply: (one) => applied.push(one), say: () => {} });
  assert.deepEqual(applied, [{ seed: 9 }]);
  press(t, "Race");
  assert.equal(page.location.hash, "#race");
});

test("a change in a hidden tab does not cancel the open tab's update of the address", async (t) => {
  const link = await open("", TABS);
  t.mock.timers.enable({ apis: ["setTimeout"] });
  link.linkChanged("decode");
  t.mock.timers.tick(100);
  link.linkChanged("race");
  t.mock.timers.tick(500);
  assert.equal(page.location.hash, "#decode&step=3");
});

test("the address changes once a tab has stopped changing", async (t) => {
  const link = await open("", TABS);
  t.mock.timers.enable({ apis: ["setTimeout"] });
  for (let change = 0; change < 3; change++) {
    link.linkChanged("decode");
    t.mock.timers.tick(400);
  }
  assert.equal(page.location.hash, "");
  t.mock.timers.tick(100);
  assert.equal(page.location.hash, "#decode&step=3");
});

test("a form's first report, or one without a change, does not change the address", async (t) => {
  await open("", TABS);
  const { note } = await import("../../ui/shared/web/form_values.js");
  t.mock.timers.enable({ apis: ["setTimeout"] });
  for (const seed of [1, 1]) note("decode", ["seed"], [seed]);
  t.mock.timers.tick(500);
  assert.equal(page.location.hash, "");
  note("decode", ["seed"], [2]);
  t.mock.timers.tick(500);
  assert.equal(page.location.hash, "#decode");
});

test("the page says what a link leaves out, even if the browser forbids copying", async () => {
  const refuse = async () => {
    throw new Error("no");
  };
  for (const [copy, words] of [
    [async () => {}, /^Link copied without the prompt \(too long for a link, or not valid\)\.$/],
    [refuse, /copying\. The link without the prompt \(too .*valid\): http:.*page#decode&seed=1$/],
  ]) {
    const link = await open("", TABS, copy);
    const read = () => ({ prompt: "x".repeat(501), seed: 1 });
    link.linkView("decode", { read, apply: () => {}, say: (said) => page.said.push(said) });
    await link.copyLink("decode");
    assert.equal(page.said.length, 1);
    assert.match(page.said[0], words);
  }
});
