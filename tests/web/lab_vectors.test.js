// Which acceptance vector the Lab shows: its default, until the visitor or a link chooses a vector.
// Also the sentence that says by what the rates were multiplied.
import "./fake_page.js";
import assert from "node:assert/strict";
import { test } from "node:test";
import { made, navigable } from "./fake_page.js";
import { scaledWords } from "../../ui/lab/web/acceptance_editor.js";
import { linkLab } from "../../ui/lab/web/lab_link.js";
import { Lab } from "../../ui/lab/web/lab_view.js";
import { followAddress } from "../../ui/shared/web/page_link.js";

const SURVEY = { measured: [{ temperature: 0.6, rates: [0.5], accepted: [5], visited: 10 }] };
const OWN = { name: "mine", rates: [0.7], temperature: 0 };
const LOADING = { survey: SURVEY, own: [], measurable: false, pair: 0, loading: true };
const LOADED = { survey: SURVEY, own: [OWN], measurable: true, pair: 1, loading: false };
const USUAL = "counted-T = 0.6"; // the default until models are loaded

/** A Lab without panels; its editor is only a menu. `get` delivers a message from the server. */
function lab() {
  const said = [];
  const one = made(Lab, { usual: "paper", chosen: false, loading: false, pair: undefined });
  one.counts = { disown: () => {} };
  one.editor = {
    kind: "paper",
    keys: ["paper"],
    add: (presets) => (one.editor.keys = [...presets.map(({ key }) => key), "paper"]),
    has: (key) => one.editor.keys.includes(key),
    choose: (key) => (one.editor.kind = key),
    take: () => (one.editor.kind = "own"),
  };
  one.known = {};
  one.state = { kinds: {}, set() {}, watch() {} };
  one.machine = { has: () => true };
  one.answer = { say: (words) => said.push(words) };
  const get = (message) => {
    one.known = message;
    one.loading = message.loading;
    one.takeVectors(message);
  };
  return { one, said, get };
}

test("when the first models are loaded, their own vector becomes the default", () => {
  const { one, get } = lab();
  get(LOADING);
  assert.equal(one.editor.kind, USUAL);
  get(LOADED);
  assert.equal(one.editor.kind, "own-mine");
});

for (const kind of ["own", "paper"])
  test(`a chosen vector survives loading the first models, but not the next: ${kind}`, () => {
    const { one, get } = lab();
    get(LOADING);
    one.editor.kind = kind;
    get(LOADED);
    assert.equal(one.editor.kind, kind);
    get({ ...LOADED, pair: 2 });
    assert.equal(one.editor.kind, "own-mine");
  });

/** Open a link to the Lab after `message` has arrived. `get` delivers further messages. */
function opened(t, hash, message) {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const found = lab();
  Object.assign(globalThis.document, navigable());
  Object.assign(globalThis, { window: { addEventListener() {} }, location: { hash } });
  found.get(message);
  linkLab(found.one);
  followAddress();
  return found;
}

test("the rates of a link stay when the models are loaded", (t) => {
  const { one, get } = opened(t, "#design/tree&rates=0.6,0.1", LOADING);
  assert.equal(one.editor.kind, "own");
  get(LOADED);
  assert.equal(one.editor.kind, "own");
});

test("a vector that a link chose stays, even if it was the default", (t) => {
  const { one, get } = opened(t, "#design/tree&vector=counted-T%20%3D%200.6", LOADING);
  get(LOADED);
  assert.equal(one.editor.kind, USUAL);
});

test("a link to a vector of the models waits until they are loaded", (t) => {
  const { one, said, get } = opened(t, "#design/tree&vector=own-late", LOADING);
  assert.deepEqual([one.editor.kind, said], [USUAL, []]);
  get({ ...LOADED, own: [OWN, { ...OWN, name: "late" }] });
  t.mock.timers.tick(100);
  assert.deepEqual([one.editor.kind, said], ["own-late", []]);
});

test("if the models lack the vector of a link, the Lab says so once they are loaded", (t) => {
  const { one, said, get } = opened(t, "#design/tree&vector=own-other", LOADING);
  get(LOADED);
  t.mock.timers.tick(100);
  assert.equal(one.editor.kind, "own-mine");
  assert.deepEqual(said, ["Not available here: the acceptance vector “own-other”."]);
});

test("a factor that lowers rates is never shown as 1", () => {
  assert.equal(scaledWords(1), "");
  assert.match(scaledWords(0.5), / multiplied by 0\.50\.$/);
  for (const factor of [0.9951, 0.99999]) assert.match(scaledWords(factor), / by almost 1\.$/);
});
