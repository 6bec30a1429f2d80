// The text that stands before an answer.
import assert from "node:assert/strict";
import { test } from "node:test";
import { promptText } from "../../ui/run/web/written_text.js";

test("the prompt of a chat includes the tokens of the chat template", () => {
  const lanes = ["code", "prose"].map((name) => ({ about: { prompt_name: name } }));
  const chat = [
    ["<user>", true],
    ["Hi", false],
  ];
  const meta = { prompt: "Hi", second_prompt: "Ho", chat: true, prompt_tokens: chat };
  const text = (changes, lane = 0) =>
    promptText(/** @type {any} */ ({ meta: { ...meta, ...changes }, lanes }), lanes[lane]);
  assert.equal(text({}), "<user>Hi");
  assert.equal(text({ chat: false }), "Hi");
  assert.equal(text({ prompt_tokens: undefined }), "Hi");
  assert.equal(text({}, 1), "Ho");
});
