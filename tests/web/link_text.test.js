/* The fragment of the page's address: what the page writes there can be read back, and what
   is not valid is refused with a reason. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import {
  ADDRESSES,
  FIELDS,
  MOST_CHARACTERS,
  decodeLink,
  encodeLink,
} from "../../ui/shared/web/link_fields.js";
import { readShares } from "../../ui/walk/web/shares.js";
import { WORDS } from "../../ui/walk/web/toy.js";

const STATES = {
  run: {
    prompt: 'def f(x):\n    return "x & y = z + 1 # 100%" # ünï ∞ 🌲',
    second_prompt: "y",
    chat: false,
    temperature: 0.65,
    top_p: 0.9,
    max_new_tokens: 160,
    seed: 2 ** 53 - 1,
    check: true,
    lane: 3,
    step: 12,
    clock: "a100-llama-2-7b-eager",
    lane1: ["plain", "", "sequoia"],
    lane2: ["best", "32, 8", "topk"],
    lane3: ["tuned_chain", "", "sequoia"],
    lane4: ["none", "", "sequoia"],
  },
  film: { lane: 2, step: 3 },
  lab: {
    vector: "counted-T = 0.6",
    rates: [0.7, 0.1, 0.05, 1e-7],
    n: 64,
    levels: 9,
    shown: "hand",
    hand: [-1, 0, 0, 1, 2],
    sequences: 3,
    kary: 2,
    branching: [1, 1, 3],
    profile: "saved:my profile, 2",
  },
  walk: {
    p: [0.5, 0.25, 0.25],
    q: [0.1, 0.2, 0.7],
    children: [2, 1],
    verifier: "sequoia",
    shape: "chain",
    seed: 7,
    example: "prose",
    step: 2,
  },
  experiments: { name: "specinfer" },
  hardware: { profile: "here", against: "none", rates: "T0.6", nodes: 128 },
};

for (const [view, address] of Object.entries(ADDRESSES))
  test(`every value of ${address} is read back unchanged`, () => {
    const values = STATES[view] ?? {};
    assert.deepEqual(Object.keys(values).toSorted(), Object.keys(FIELDS[view]).toSorted());
    const { hash, left } = encodeLink(view, values);
    assert.deepEqual(left, []);
    assert.match(hash, /^#[!-~]*$/);
    assert.equal(hash.split("&")[0], "#" + address);
    assert.deepEqual(decodeLink(hash), { view, values });
  });

test("every view of the page can be in its address", () => {
  const page = readFileSync(new URL("../../ui/page.py", import.meta.url), "utf-8");
  const views = [...page.matchAll(/"(\w+)": (?:runs,|lossless,|\w+Tab\()/g)].map(
    ([, view]) => view,
  );
  assert.ok(views.length >= 9);
  assert.deepEqual(views.toSorted(), Object.keys(FIELDS).toSorted());
  assert.deepEqual(views.toSorted(), Object.keys(ADDRESSES).toSorted());
});

test("a distribution that Walk accepts is also accepted in a link to Walk", () => {
  for (const texts of [
    ["0.3333333", "0.3333333", "0.3333334"],
    ["0.0000012345678901234567", "1e-300", "0.9999987654321098765433"],
  ]) {
    const { values: p, problem } = readShares("p", texts, WORDS);
    assert.equal(problem, null);
    assert.deepEqual(decodeLink(encodeLink("walk", { p }).hash).values.p, p);
  }
});

test("an empty fragment has no state", () => {
  assert.equal(decodeLink(""), null);
  assert.equal(decodeLink("#"), null);
});

test("unknown names, null and undefined are not written", () => {
  const { hash, left } = encodeLink("run", { other: 1, step: null, seed: undefined, top_p: 1 });
  assert.equal(hash, "#run&top_p=1");
  assert.deepEqual(left, []);
});

test("values that are too long are left out and listed", () => {
  const { hash, left } = encodeLink("run", { prompt: "x".repeat(501), seed: 1 });
  assert.deepEqual([hash, left], ["#run&seed=1", ["prompt"]]);
  const chinese = encodeLink("run", { prompt: "树".repeat(500), seed: 1 });
  assert.deepEqual([chinese.hash, chinese.left], ["#run&seed=1", ["prompt"]]);
  const hand = [-1, ...Array.from({ length: 1023 }, (_, i) => i)];
  const lab = encodeLink("lab", { ...STATES.lab, hand });
  assert.deepEqual(lab.left, ["hand"]);
  assert.ok(lab.hash.length <= MOST_CHARACTERS);
  assert.equal(decodeLink(lab.hash).values.hand, undefined);
});

test("values of the wrong type or out of bounds are not written", () => {
  const wrong = { temperature: 7, top_p: "1", seed: 1.5, chat: "yes", lane1: ["a b"], step: -1 };
  const { hash, left } = encodeLink("run", wrong);
  assert.equal(hash, "#run");
  assert.deepEqual(left.toSorted(), Object.keys(wrong).toSorted());
});

const REFUSED = [
  ["#nowhere", /“nowhere” is not a view; known: learn\/film, learn\/tour, learn\/walk, run/],
  ["#__proto__", /not a view/],
  ["#constructor&x=1", /not a view/],
  ["#run&other=1", /“other” is not a setting/],
  ["#run&__proto__=1", /not a setting/],
  ["#run&toString=1", /not a setting/],
  ["#run&temperature=abc", /temperature: “abc” is not a number from 0 to 5/],
  ["#run&temperature=", /temperature: “” is not a number/],
  ["#run&temperature=NaN", /not a number/],
  ["#run&temperature=Infinity", /not a number/],
  ["#run&temperature=1e400", /not a number/],
  ["#run&temperature=-1", /not a number from 0 to 5/],
  ["#run&top_p=0", /top_p: “0” is not a number from 0.01 to 1/],
  ["#run&max_new_tokens=4097", /“4097” is not a whole number from 1 to 4096/],
  ["#run&seed=1.5", /seed: “1.5” is not a whole number/],
  ["#run&seed=9007199254740992", /not a whole number/],
  ["#run&step=0x10", /not a whole number/],
  ["#run&chat=true", /“true” is not 1 or 0/],
  ["#learn/walk&shape=<script>", /menu entry/],
  ["#run&prompt=" + "x".repeat(501), /a text of at most 500 characters/],
  ["#run&prompt=" + "x".repeat(3000), /3011 characters after “#”; at most 2000/],
  ["#design/tree&hand=1,0", /a tree/],
  ["#design/tree&hand=0,2", /a tree/],
  ["#design/tree&hand=", /whole number/],
  ["#design/tree&rates=0.5,,0.1", /not a number/],
  ["#design/tree&branching=" + "1,".repeat(41) + "1", /a list of at most 40 values/],
  ["#run&lane1=plain", /a lane/],
  ["#run&lane1=plain:sequoia:x", /a lane/],
  ["#run&lane5=plain:sequoia:", /not a setting/],
];

for (const [hash, words] of REFUSED)
  test(`refused: ${hash.slice(0, 50)}`, () => {
    assert.throws(
      () => decodeLink(hash),
      (problem) => {
        assert.ok(problem instanceof RangeError);
        assert.match(problem.message, words);
        assert.ok(problem.message.length < 250);
        return true;
      },
    );
  });

// A function that returns a pseudo-random whole number below its argument, the same in every run.
function draws(seed) {
  let state = seed;
  return (below) => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return Math.floor((state / 2147483648) * below);
  };
}

const PIECES = [
  "#", "&", "=", "%", "%00", "%zz", "%F0%9F", "+", ",", ":", "-1", "1e9", "NaN", "__proto__", "[]",
  "{}", "null", "<img>", "\u0000", "\ud800", "\u202e", "run", "lab", "walk", "hand", "rates",
  "prompt", "lane1", "0", "1", "5", "x".repeat(700),
]; // prettier-ignore

test("damaged fragments are either read within bounds or refused", () => {
  const draw = draws(7);
  const whole = Object.entries(STATES).map(([view, values]) => encodeLink(view, values).hash);
  for (let round = 0; round < 20_000; round++) {
    let hash = draw(3) ? whole[draw(whole.length)] : "#";
    for (let change = draw(4) + 1; change; change--) {
      const at = draw(hash.length + 1);
      hash = hash.slice(0, at) + PIECES[draw(PIECES.length)] + hash.slice(at + draw(4));
    }
    check(hash);
  }
});

function check(hash) {
  let state;
  try {
    state = decodeLink(hash);
  } catch (problem) {
    assert.ok(problem instanceof RangeError, `${hash}: ${problem.stack}`);
    return;
  }
  if (!state) return;
  assert.ok(Object.hasOwn(FIELDS, state.view));
  assert.equal(Object.getPrototypeOf(state.values), Object.prototype);
  // what was read can be written again; only these values may become too long when encoded
  const again = encodeLink(state.view, state.values);
  const rest = again.left.filter((name) => !["prompt", "branching", "profile"].includes(name));
  assert.deepEqual(rest, [], hash);
}
