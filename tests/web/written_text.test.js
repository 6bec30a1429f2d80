// The text that stands before an answer.
import assert from "node:assert/strict";
import { test } from "node:test";
import { promptText } from "../../ui/run/web/written_text.js";

test("the prompt of a chat includes the tokens of the chat template", () => {
  const meta = {
    prompt: "Hi",
    chat: true,
    prompt_tokens: [
      ["<user>", true],
      ["Hi", false],
    ],
  };
  assert.equal(promptText(meta), "<user>Hi");
  assert.equal(promptText({ ...meta, chat: false }), "Hi");
  assert.equal(promptText({ prompt: "Hi", chat: true }), "Hi");
});
