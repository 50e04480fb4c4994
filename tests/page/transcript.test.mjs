// The transcript in words and as files: what is said about a turn, what is copied, what is saved.

import assert from "node:assert/strict";
import test from "node:test";

import {clipName, samplesOf, wav} from "../../handoffkit/widgets/static/wav.js";
import {heardShare, inTranscript, interruption, plainText, remark, toolResult} from "../../handoffkit/widgets/static/words.js";

const row = (k, more) => ({
  k,
  kind: "turn",
  who: "a1",
  name: "Support agent",
  at: 0,
  text: "",
  tail: "",
  unheard: "",
  note: "",
  ...more,
});
const since = (at) => at - 5;

test("an interruption is said with what was heard, as far as that is known", () => {
  assert.equal(
    interruption(row("a", {interrupted: true, heard_ms: 1800, total_ms: 4200})),
    "Interrupted: heard 1.8 s of 4.2 s",
  );
  assert.equal(
    interruption(row("a", {interrupted: true, heard_ms: 0, total_ms: 4200})),
    "Interrupted before anything was heard",
  );
  assert.equal(interruption(row("a", {interrupted: true, heard_ms: null, total_ms: 0})), "Interrupted");
  assert.equal(interruption(row("a", {})), "");
});

test("the share that was heard is between nothing and all", () => {
  assert.equal(heardShare(row("a", {interrupted: true, heard_ms: 2100, total_ms: 4200})), 0.5);
  assert.equal(heardShare(row("a", {interrupted: true, heard_ms: 9000, total_ms: 4200})), 1);
  assert.equal(heardShare(row("a", {interrupted: true, heard_ms: null, total_ms: 4200})), null);
});

test("a tool says what it gave and how long it took", () => {
  assert.equal(toolResult({output: "2 articles", ms: 410}), "→\u00a02 articles, 410 ms");
  assert.equal(toolResult({output: null, pending: true, ms: null}), "→\u00a0running");
  assert.equal(toolResult({output: null, pending: false, ms: null, note: "no output came"}), "→\u00a0no output came");
});

test("the transcript as plain text has every row but the attempts", () => {
  const rows = [
    row("0", {seeded: true, text: "Hello again."}),
    row("1", {who: "c", name: "Caller", at: 6.2, text: "Hi", tail: "the", typed: true}),
    row("2", {at: 8, text: "Is it the", unheard: "charger?", interrupted: true, heard_ms: 1800, total_ms: 4200}),
    row("3", {who: "c", name: "Caller", at: 9, inaudible: true, note: "1.4 s of speech, no words recognised"}),
    row("4", {kind: "tool", who: "t", name: "Tool", at: 10, call: 'look_up(order="A-17")', output: "ok", ms: 12}),
    row("5", {kind: "over", at: 11, text: "handed over: A → B", note: "8 turns carried along"}),
    row("6", {kind: "mark", lane: "tools", at: 12, text: "attempt 1"}),
  ];
  assert.equal(
    plainText(rows, since, 3),
    [
      "(3 earlier rows: in call.log)",
      "before  Support agent: Hello again.",
      "0:01.2  Caller (typed): Hi the",
      "0:03.0  Support agent: Is it the [Interrupted: heard 1.8 s of 4.2 s; not heard: charger?]",
      "0:04.0  Caller: [inaudible] [1.4 s of speech, no words recognised]",
      '0:05.0  Tool: look_up(order="A-17") →\u00a0ok, 12 ms',
      "0:06.0  handed over: A → B, 8 turns carried along",
    ].join("\n"),
  );
  assert.equal(inTranscript(rows[6]), false);
});

test("a handoff says how long the caller waited for the new agent, once that is known", () => {
  const words = "4800 ms from the caller's last word to the new agent's first";
  assert.equal(remark(row("h", {kind: "over", gap_ms: 4800})), words);
  assert.equal(remark(row("h", {kind: "over", gap_ms: 4800, note: "8 turns"})), `8 turns, ${words}`);
  assert.equal(remark(row("h", {kind: "over", gap_ms: null})), "");
});

test("a WAV has 44 bytes of header and the samples as they were", () => {
  const bytes = new DataView(wav(Int16Array.of(0, 1, -1, 32767, -32768)));
  const letters = (at) => String.fromCharCode(...[0, 1, 2, 3].map((n) => bytes.getUint8(at + n)));
  assert.deepEqual([letters(0), letters(8), letters(12), letters(36)], ["RIFF", "WAVE", "fmt ", "data"]);
  assert.deepEqual([bytes.byteLength, bytes.getUint32(4, true), bytes.getUint32(40, true)], [54, 46, 10]);
  assert.deepEqual(
    [bytes.getUint16(20, true), bytes.getUint16(22, true), bytes.getUint32(24, true), bytes.getUint32(28, true)],
    [1, 1, 24000, 48000],
  );
  assert.deepEqual([...samplesOf(bytes.buffer.slice(44))], [0, 1, -1, 32767, -32768]);
});

test("samples are taken from a view at an odd offset, and half a sample is left out", () => {
  const bytes = Uint8Array.of(9, 1, 0, 255, 255, 7);
  assert.deepEqual([...samplesOf(new DataView(bytes.buffer, 1))], [1, -1]);
  assert.deepEqual([...samplesOf(undefined)], []);
});

test("files are numbered as the caller's turns, which in one folder are a call to send again", () => {
  const clip = (k, who, more = {}) => row(k, {who, clip: true, ...more});
  const rows = [
    clip("g", "a1"),
    clip("c1", "c"),
    clip("r1", "a1"),
    row("typed", {who: "c", clip: false}),
    clip("r1b", "a1"),
    row("tool", {kind: "tool", who: "t"}),
    clip("c2", "c"),
    clip("r2", "a2"),
  ];
  const names = ["g", "c1", "r1", "r1b", "c2", "r2"].map((k) => clipName(rows, k, 0, 1));
  assert.deepEqual(names, ["reply-0.wav", "turn-1.wav", "reply-1.wav", "reply-1b.wav", "turn-2.wav", "reply-2.wav"]);
});

test("where earlier turns are not known, the time says the order", () => {
  const rows = [row("c", {who: "c", clip: true})];
  assert.equal(clipName(rows, "c", 7, 127.42), "turn-at-00127.4.wav");
  assert.ok(clipName(rows, "c", 7, 9.9) < clipName(rows, "c", 7, 1000));
});
