// Numbers as words: what a reader sees for a time, a level, a count.

import assert from "node:assert/strict";
import test from "node:test";

import {
  clock,
  clockMs,
  clockShort,
  db,
  median,
  ms,
  names,
  plural,
  secs,
  share,
} from "../../handoffkit/widgets/static/format.js";

test("a clock carries over at the minute whatever is rounded", () => {
  assert.deepEqual([0, 6.24, 59.94, 59.96, 61, 3600].map(clock), [
    "0:00.0",
    "0:06.2",
    "0:59.9",
    "1:00.0",
    "1:01.0",
    "60:00.0",
  ]);
});

test("a running clock never shows a second that has not passed", () => {
  assert.deepEqual([0, 0.99, 47.99, 59.999, 60].map(clockShort), ["0:00", "0:00", "0:47", "0:59", "1:00"]);
});

test("an event's time has milliseconds", () => {
  assert.deepEqual([34.61, 59.9996, 0.0004].map(clockMs), ["0:34.610", "1:00.000", "0:00.000"]);
});

test("times that are none are zero, never NaN", () => {
  assert.deepEqual([undefined, null, NaN, -3, Infinity].map(clock), Array(5).fill("0:00.0"));
  assert.deepEqual([undefined, null, NaN, -3].map(clockShort), Array(4).fill("0:00"));
});

test("gaps and lengths", () => {
  assert.deepEqual([640, 639.6, null, undefined, 0].map(ms), ["640 ms", "640 ms", "", "", "0 ms"]);
  assert.deepEqual([1840, 0, null].map(secs), ["1.8 s", "0.0 s", "0.0 s"]);
});

test("a level is in dB, silence is a word, and there is no minus zero", () => {
  assert.deepEqual([-18.2, -0.3, 0, -60, -120, null, NaN, 1.2].map(db), [
    "\u221218 dB",
    "0 dB",
    "0 dB",
    "silence",
    "silence",
    "silence",
    "silence",
    "1 dB",
  ]);
  assert.deepEqual([-60, -30, 0, 6, -90, null].map(share), [0, 0.5, 1, 1, 0, 0]);
});

test("one turn, two turns", () => {
  assert.deepEqual(
    [plural(1, "turn"), plural(2, "turn"), plural(0, "turn"), plural(2, "reply", "replies")],
    ["1 turn", "2 turns", "0 turns", "2 replies"],
  );
});

test("the median of an even count is the mean of the middle two, of none it is null", () => {
  assert.deepEqual([median([3, 1, 2]), median([4, 1, 2, 3]), median([]), median([null, NaN, 5])], [2, 2.5, null, 5]);
});

test("long lists of names are cut in words", () => {
  assert.deepEqual(
    [names(["a", "b"]), names(["a", "b", "c"]), names(["a", "b", "c", "d"])],
    ["a, b", "a, b, c", "a, b and 2 more"],
  );
});
