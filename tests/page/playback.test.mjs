// Playback as numbers: what sounds when, with silence left out and at any speed; clips and faster speech.

import assert from "node:assert/strict";
import test from "node:test";

import {createClips} from "../../handoffkit/widgets/static/clips.js";
import {ahead, cue, pieces, plan, sounding} from "../../handoffkit/widgets/static/plan.js";
import {stretch} from "../../handoffkit/widgets/static/stretch.js";

const near = (a, b, by = 1e-9) => assert.ok(Math.abs(a - b) <= by, `${a} is not ${b}`);
const row = (k, at, ms, more = {}) => ({
  k,
  kind: "turn",
  who: "c",
  name: "Caller",
  at,
  end: at + ms / 1000,
  total_ms: ms,
  clip: true,
  seeded: false,
  interrupted: false,
  heard_ms: null,
  ...more,
});
const since = (at) => at - 10;
const CALL = [
  row("c1", 11, 2000),
  row("a1", 14, 4000, {interrupted: true, heard_ms: 1500}),
  row("c2", 15.2, 1800),
  row("t", 18, 0, {clip: false}),
  row("a2", 30, 3000),
];

test("typed turns are silent, and of a reply that was cut only what was heard sounds", () => {
  const list = pieces(CALL, since);
  assert.deepEqual(
    list.map((piece) => piece.k),
    ["c1", "a1", "c2", "a2"],
  );
  near(list[1].to, 5.5);
});

test("caller and agent overlap as they did", () => {
  assert.deepEqual(sounding(pieces(CALL, since), 5.3), ["a1", "c2"]);
  assert.deepEqual(sounding(pieces(CALL, since), 15), []);
});

test("without skipping, playback is the call", () => {
  const layout = plan(pieces(CALL, since), {length: 25, skip: false});
  assert.equal(layout.played, 25);
  near(layout.toPlayed(7.5), 7.5);
  near(layout.toCall(7.5), 7.5);
});

test("skipping leaves 0.4 s of each silence", () => {
  const layout = plan(pieces(CALL, since), {length: 25, skip: true});
  near(layout.played, 2 + 3 + 3 + 3 * 0.4);
  for (const at of [1, 2.5, 4, 6.9, 20, 22.9]) near(layout.toCall(layout.toPlayed(at)), at);
  near(layout.toPlayed(20) - layout.toPlayed(7), 0.4);
  near(layout.toCall(layout.toPlayed(12)), 19.8); // from within a silence to where the next turn begins
});

test("the cursor never goes back, at whatever speed", () => {
  for (const skip of [true, false]) {
    const layout = plan(pieces(CALL, since), {length: 25, skip});
    let before = -1;
    for (let played = 0; played <= layout.played; played += 0.05) {
      const at = layout.toCall(played);
      assert.ok(at >= before);
      before = at;
    }
  }
});

test("a clip starts when its turn did, sooner at a higher speed, and in its middle if the cursor is there", () => {
  const list = pieces(CALL, since);
  const layout = plan(list, {length: 25, skip: false});
  const later = cue(list[3], layout, {at: 5, clock: 100, rate: 1.5});
  near(later.when, 110);
  assert.deepEqual([later.offset, later.seconds], [0, 3]);
  const within = cue(list[0], layout, {at: 2, clock: 100, rate: 1});
  assert.deepEqual([within.when, within.offset, within.seconds], [100, 1, 1]);
  const skipped = cue(list[3], plan(list, {length: 25, skip: true}), {at: 7, clock: 0, rate: 2});
  near(skipped.when, 0.2);
});

test("what sounds from a moment on, nearest first", () => {
  assert.deepEqual(
    ahead(pieces(CALL, since), 5.3).map((piece) => piece.k),
    ["a1", "c2", "a2"],
  );
});

test("clips are asked for once and the least recently used goes", async () => {
  const asked = [];
  const answer = async (k) => (asked.push(k), {message: {ok: true, ms: 1}, buffers: [Int16Array.of(1, 2).buffer]});
  const clips = createClips(answer, 2);
  await Promise.all([clips.get("a"), clips.get("a"), clips.get("b")]);
  await clips.get("a");
  await clips.get("c");
  await clips.get("a");
  assert.deepEqual(asked, ["a", "b", "c"]);
  assert.equal(clips.size(), 2);
  await clips.get("b");
  assert.deepEqual(asked, ["a", "b", "c", "b"]);
});

test("a clip that could not be had is said, and may be asked for again", async () => {
  let ok = false;
  const clips = createClips(async () => ({message: {ok}, buffers: ok ? [Int16Array.of(1).buffer] : []}));
  await assert.rejects(clips.get("a"), /keeps no sound/);
  ok = true;
  assert.equal((await clips.get("a")).samples.length, 1);
});

function pitch(x) {
  let crossings = 0;
  for (let n = 1; n < x.length; n += 1) if (x[n - 1] < 0 && x[n] >= 0) crossings += 1;
  return (crossings * 24000) / x.length;
}

test("faster speech keeps its pitch and its loudness", () => {
  const tone = Float32Array.from({length: 48000}, (_, n) => 0.5 * Math.sin((2 * Math.PI * 220 * n) / 24000));
  for (const speed of [1.5, 2]) {
    const fast = stretch(tone, speed);
    assert.equal(fast.length, 48000 / speed);
    near(pitch(fast), 220, 4);
    const middle = fast.slice(2400, -2400);
    near(Math.sqrt(middle.reduce((sum, x) => sum + x * x, 0) / middle.length), 0.3535, 0.04);
  }
  assert.equal(stretch(tone, 1), tone);
  assert.equal(stretch(tone.slice(0, 100), 2).length, 50);
});
