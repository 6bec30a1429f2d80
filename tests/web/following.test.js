// Whose run is on screen, and when a visitor can follow another visitor's run.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Following } from "../../ui/shared/web/following.js";

const WAIT = { wait: { ahead: 1, seconds: 5 }, follow: true, notice: "1 run ahead of you" };
const THEIRS = { run: "theirs", followed: true, done: false, notice: "their words" };

test("a waiting visitor who follows a run sees their own notice until their run starts", () => {
  const following = new Following();
  following.note(WAIT, null);
  assert.ok(following.isOffered(true));
  following.isWanted = true;
  const shown = following.note(THEIRS, WAIT.notice);
  assert.equal(shown.notice, WAIT.notice);
  assert.ok(following.isFollowed && following.isWaiting && !following.isOffered(false));
  following.note({ run: "own", notice: null }, null);
  assert.ok(!following.isFollowed && !following.isWaiting && !following.isOffered(false));
});

test("after a followed run has ended, the next one can be followed", () => {
  const following = new Following();
  following.note({ follow: true, error: "60 runs are running or waiting already" }, null);
  following.isWanted = true;
  following.note(THEIRS, null);
  assert.ok(following.isFollowed && !following.isWaiting && !following.isOffered(false));
  following.note(WAIT, null);
  assert.ok(following.isOffered(true));
});

test("a followed run does not replace a run that was opened later", () => {
  const following = new Following();
  following.note(WAIT, null);
  following.isWanted = true;
  following.note(THEIRS, null);
  following.note({ run: "example" }, null);
  assert.equal(following.note(THEIRS, null), null);
  assert.ok(!following.isFollowed);
});
