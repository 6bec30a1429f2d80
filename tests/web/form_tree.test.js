// Which values of a form are sent to the server to ask for the tree that the form describes.
import assert from "node:assert/strict";
import { test } from "node:test";
import { asked } from "../../ui/shared/web/form_tree.js";

const FORM = {
  kind2: "kary", numbers2: "2 3", verifier2: "topk", chat: true, temperature: 0.6, top_p: 1, seed: 3,
  profiles: ["{}"],
}; // prettier-ignore
const ALL = { chat: true, temperature: 0.6, top_p: 1 };

test("the values that a lane's tree depends on are sent", () => {
  const lane = { kind: "kary", numbers: "2 3", verifier: "topk" };
  assert.deepEqual(asked({ ...FORM, clock: "" }, "2"), { ...lane, ...ALL, clock: "" });
});

test("profiles saved in the browser are sent only if the chosen clock is one of them", () => {
  assert.deepEqual(asked({ ...FORM, clock: "kept:mine" }, "2").profiles, ["{}"]);
  for (const clock of ["", "a100-llama-2-7b-eager", undefined, null])
    assert.equal("profiles" in asked({ ...FORM, clock }, "2"), false);
});
