// Which events are shown, what a pause holds back, and what is copied.

import assert from "node:assert/strict";
import test from "node:test";

import {createSieve, jsonLines, jsonPieces} from "../../handoffkit/widgets/static/sieve.js";

const event = (q, c = "words", x = "") => ({q, at: q / 10, dir: "server", e: `event.${c}`, c, w: "c", x, bad: false});
const many = (from, to, c) => Array.from({length: to - from}, (_, n) => event(from + n, c));
const qs = (sieve) => sieve.shown.map((one) => one.q);

test("sound is off until it is asked for", () => {
  const sieve = createSieve();
  sieve.reset([event(1), event(2, "audio"), event(3, "speech")]);
  assert.deepEqual(qs(sieve), [1, 3]);
  sieve.toggle("audio");
  assert.deepEqual(qs(sieve), [1, 2, 3]);
  sieve.toggle("words");
  assert.deepEqual(qs(sieve), [2, 3]);
});

test("a text filters by name and words, in any case", () => {
  const sieve = createSieve();
  sieve.reset([event(1, "words", "Friday morning"), event(2, "speech", "Caller"), event(3, "words", "thursday")]);
  sieve.find(" FRI ");
  assert.deepEqual(qs(sieve), [1]);
  sieve.find("event.speech");
  assert.deepEqual(qs(sieve), [2]);
  sieve.find("");
  assert.deepEqual(qs(sieve), [1, 2, 3]);
});

test("what comes is added, and what the page let go of goes from the list as well", () => {
  const sieve = createSieve();
  const all = many(0, 10);
  sieve.reset(all.slice(0, 6));
  sieve.add(all.slice(4), all.slice(6));
  assert.deepEqual(qs(sieve), [4, 5, 6, 7, 8, 9]);
  sieve.add(many(20, 25), many(10, 25));
  assert.deepEqual(qs(sieve), [20, 21, 22, 23, 24]);
});

test("adding is the same as sifting everything anew", () => {
  const kinds = ["words", "audio", "speech", "usage"];
  const all = Array.from({length: 300}, (_, n) => event(n, kinds[n % 4]));
  const one = createSieve();
  one.reset([]);
  for (let n = 0; n < 300; n += 7) {
    const held = all.slice(Math.max(0, n + 7 - 100), n + 7);
    one.add(held, all.slice(n, n + 7));
    const two = createSieve();
    two.reset(held);
    assert.deepEqual(qs(one), qs(two));
  }
});

test("a pause freezes the list and counts what would be shown without it", () => {
  const sieve = createSieve();
  const all = [...many(0, 5), ...many(5, 15), ...many(15, 20, "audio")];
  sieve.reset(all.slice(0, 5));
  sieve.pause(true);
  sieve.add(all, all.slice(5));
  assert.deepEqual([qs(sieve), sieve.newer, sieve.paused.q], [[0, 1, 2, 3, 4], 10, 4]);
  sieve.toggle("audio");
  assert.equal(sieve.newer, 15);
  sieve.add(many(30, 40), many(30, 40)); // the page let go of all that was before
  assert.deepEqual([qs(sieve).length, sieve.newer], [5, 25]);
  sieve.pause(false);
  assert.deepEqual([qs(sieve)[0], qs(sieve).length, sieve.newer, sieve.isPaused()], [30, 10, 0, false]);
});

test("shown events are copied as JSON lines", () => {
  const lines = jsonLines([event(1, "words", 'a "word"\n'), {...event(2), bad: true}])
    .split("\n")
    .map((line) => JSON.parse(line));
  assert.deepEqual(lines[0], {seq: 1, at: 0.1, from: "server", event: "event.words", summary: 'a "word"\n'});
  assert.equal(lines[1].bad, true);
});

test("JSON is cut into keys and the rest, and nothing of it is lost", () => {
  const text = JSON.stringify(
    {'a "key"': '"no": key', list: [1, {b: null}], html: "</script><img src=x onerror=alert(1)>"},
    null,
    2,
  );
  const pieces = jsonPieces(text);
  assert.equal(pieces.map((piece) => piece.text).join(""), text);
  assert.deepEqual(
    pieces.filter((piece) => piece.key).map((piece) => piece.text),
    ['"a \\"key\\"":', '"list":', '"b":', '"html":'],
  );
  assert.equal(
    jsonPieces("x".repeat(30000))
      .map((piece) => piece.text)
      .join("").length,
    20000,
  );
});
