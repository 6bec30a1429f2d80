// When a page asks the server about its job.
import assert from "node:assert/strict";
import { test } from "node:test";
import { JobWatch } from "../../ui/shared/web/job_watch.js";

function watched() {
  const page = { busy: false, time: 0, asked: [] };
  const watch = new JobWatch({
    isBusy: () => page.busy,
    ask: (asked) => page.asked.push(asked),
    now: () => page.time,
  });
  const pass = (seconds) => {
    for (let second = 0; second < seconds; second++) {
      page.time += 1000;
      watch.look();
    }
  };
  return { page, watch, pass };
}

test("if no message follows a press, the page asks until the buttons show no job", () => {
  const { page, pass } = watched();
  page.busy = true;
  pass(5);
  assert.deepEqual(page.asked, []);
  pass(1);
  assert.deepEqual(page.asked, [{ heard: false, over: false }]);
  pass(10);
  assert.equal(page.asked.length, 3);
  page.busy = false;
  pass(20);
  assert.equal(page.asked.length, 3);
});

test("the page asks about a job only after five seconds without a message about it", () => {
  const { page, watch, pass } = watched();
  page.busy = true;
  for (let message = 0; message < 10; message++) {
    pass(4);
    watch.take(true);
  }
  assert.deepEqual(page.asked, []);
  pass(6);
  assert.deepEqual(page.asked, [{ heard: true, over: false }]);
});

test("messages about one job do not count for the next job", () => {
  const { page, watch, pass } = watched();
  page.busy = true;
  watch.take(true);
  page.busy = false;
  pass(1);
  page.busy = true;
  pass(6);
  assert.deepEqual(page.asked, [{ heard: false, over: false }]);
});

test("if the buttons show no job, two quick messages about a job cause one question", () => {
  const { page, watch } = watched();
  watch.take(false); // about a recording, not a job
  assert.deepEqual(page.asked, []);
  watch.take(true);
  watch.take(true);
  assert.equal(page.asked.length, 1);
});

test("if messages report a job but the buttons show none, the page asks every five seconds", () => {
  const { page, watch, pass } = watched();
  for (let second = 0; second < 12; second++) {
    watch.take(true);
    pass(1);
  }
  assert.equal(page.asked.length, 3);
});

test("after a message about the end of a job, the next question says that the job is over", () => {
  const { page, watch, pass } = watched();
  page.busy = true;
  watch.take(true);
  watch.take(false, true);
  pass(6);
  assert.deepEqual(page.asked, [{ heard: true, over: true }]);
  page.busy = false;
  pass(1);
  page.busy = true;
  pass(6);
  assert.deepEqual(page.asked[1], { heard: false, over: false });
});
