// The page reads its messages in parts: what it asks for, when it waits, and when it gives up.
import assert from "node:assert/strict";
import { test } from "node:test";
import { PageStreams } from "../../ui/serving/web/held_stream.js";

const DATA = "http://here/gradio_api/queue/data?session_hash=a";

// A page whose server gives `answers`, one to each request: a text (a part), a status, or an error.
function page(answers, browser = "key") {
  const asked = [];
  const rests = [];
  const polls = [];
  const ask = async (address, { method = "GET" } = {}) => {
    const { pathname, searchParams } = new URL(address);
    asked.push([method, pathname.split("/").pop(), searchParams.get("start")].join(" ").trim());
    const answer = pathname.endsWith("here") ? 204 : answers.shift();
    if (answer instanceof Error) throw answer;
    if (typeof answer === "number") return new Response(null, { status: answer });
    const { text, polling = false } = answer;
    return new Response(text, { headers: { "X-Polls": polling ? "1" : "0" } });
  };
  const rest = async (ms) => void rests.push(ms);
  const show = (now) => polls.push(now);
  const streams = new PageStreams({ ask, rest, browser, show });
  const stop = new AbortController();
  const read = () => streams.answer(new URL(DATA), stop.signal).text();
  return { asked, rests, polls, read, stop, streams };
}

test("parts make up one answer, and the next part is asked for by the bytes received", async () => {
  const { asked, read, rests } = page([{ text: "one, " }, { text: "zwei ü, " }, { text: "" }, 204]);
  assert.equal(await read(), "one, zwei ü, ");
  assert.deepEqual(asked.slice(0, 4), ["GET data 0", "GET data 5", "GET data 14", "GET data 14"]);
  assert.deepEqual(rests, []);
});

test("a page that polls waits between parts, and says so until it no longer does", async () => {
  const parts = [
    { text: "one, ", polling: true },
    { text: "two, ", polling: true },
    { text: "three" },
  ];
  const { polls, read, rests } = page([...parts, 204]);
  assert.equal(await read(), "one, two, three");
  assert.deepEqual(rests, [500, 500]);
  assert.deepEqual(polls, [true, true, false, false]);
});

test("a broken connection is tried again, but not for ever", async () => {
  const broken = new TypeError("Failed to fetch");
  const { read } = page([{ text: "one, " }, broken, broken, broken, { text: "two" }, 204]);
  assert.equal(await read(), "one, two");
  const lost = page([broken, broken, broken, broken, { text: "too late" }]);
  await assert.rejects(lost.read(), /Failed to fetch/);
});

test("a stream that the server has lost is an error", async () => {
  await assert.rejects(page([{ text: "one" }, 410]).read(), /410/);
});

test("after the end, the page says that it is open until the server needs it no longer", async () => {
  const { asked, read } = page([{ text: "one" }, 204]);
  await read();
  assert.equal(asked.at(-1), "POST here");
});

test("Gradio ends a stream by a signal", async () => {
  const { asked, stop, streams } = page([{ text: "one" }, { text: "never read" }]);
  const reader = streams.answer(new URL(DATA), stop.signal).body.getReader();
  await reader.read();
  stop.abort();
  assert.equal((await reader.read()).done, true);
  assert.deepEqual(asked, ["GET data 0", "POST here"]);
});
