// Traits and messages to one state: order, bounds, batches, and what a page knows by itself.

import assert from "node:assert/strict";
import test from "node:test";

import {LIMITS, createStore, createView} from "../../handoffkit/widgets/static/store.js";

/** A store whose frames and clock a test moves by hand. */
function still() {
  const frames = [];
  const time = {ms: 0};
  const store = createStore({now: () => time.ms, schedule: (fn) => frames.push(fn)});
  const seen = [];
  store.subscribe((state, changed) =>
    seen.push({changed: [...changed].sort(), touched: [...state.touched], news: state.newEvents.length}),
  );
  return {store, time, seen, frames, frame: () => frames.splice(0).forEach((fn) => fn())};
}

const rows = (from, to, more = {}) =>
  Array.from({length: to - from}, (_, n) => ({k: `r${from + n}`, kind: "turn", who: "c", at: from + n, ...more}));
const events = (from, to, c = "words") => Array.from({length: to - from}, (_, n) => ({q: from + n, at: from + n, c}));
const keys = (store) => store.state.rows.map((row) => row.k);

test("a frame tells once of all that happened in it", () => {
  const {store, seen, frame, frames} = still();
  store.trait("phase", "on");
  store.message({t: "rows", rows: rows(0, 2)});
  store.message({t: "rows", rows: rows(1, 3)});
  assert.equal(seen.length, 0);
  assert.equal(frames.length, 1);
  frame();
  assert.deepEqual(seen, [{changed: ["phase", "rows"], touched: ["r0", "r1", "r2"], news: 0}]);
  assert.equal(store.state.touched.size, 0);
});

test("a row with a known key takes its place, others are appended", () => {
  const {store} = still();
  store.message({t: "rows", rows: rows(0, 3)});
  store.message({t: "rows", rows: [{k: "r1", text: "changed", at: 1}]});
  assert.deepEqual(keys(store), ["r0", "r1", "r2"]);
  assert.equal(store.state.rowOf.get("r1").text, "changed");
  assert.equal(store.state.rows[1].text, "changed");
});

test("an order puts the last rows as they were spoken, and rows that are gone go", () => {
  const {store, frame} = still();
  store.message({t: "rows", rows: rows(0, 4)});
  frame();
  store.message({t: "rows", rows: [{k: "late", at: 1.5}], order: ["late", "r2", "r3"], gone: ["r0"]});
  assert.deepEqual(keys(store), ["r1", "late", "r2", "r3"]);
  assert.equal(store.state.reordered, true);
  assert.deepEqual([...store.state.gone], ["r0"]);
  frame();
  assert.equal(store.state.reordered, false);
});

test("an order that names unknown keys loses nothing", () => {
  const {store} = still();
  store.message({t: "rows", rows: rows(0, 2), order: ["nobody", "r1", "r0"]});
  assert.deepEqual(keys(store), ["r1", "r0"]);
});

test("no more than a thousand rows stay, the oldest go and it is said", () => {
  const {store} = still();
  store.trait("counts", {rows: 1500, events: 0, rows_dropped: 40, events_dropped: 0});
  store.message({t: "rows", rows: rows(0, 1500)});
  assert.equal(store.state.rows.length, LIMITS.rows);
  assert.equal(store.state.rows[0].k, "r500");
  assert.equal(store.state.rowOf.size, LIMITS.rows);
  assert.deepEqual(store.state.dropped, {rows: 540, events: 0});
  assert.equal(store.state.earlier, 500);
});

test("no more than five thousand events stay, however fast they come", () => {
  const {store, frame, seen} = still();
  for (let n = 0; n < 12000; n += 300) store.message({t: "events", list: events(n, n + 300)});
  assert.equal(store.state.events.length, LIMITS.events);
  assert.equal(store.state.events.at(-1).q, 11999);
  assert.equal(store.state.dropped.events, 7000);
  assert.equal(store.state.eventCounts.words, 12000);
  assert.ok(store.state.newEvents.length <= LIMITS.events);
  frame();
  assert.equal(seen.length, 1);
  assert.equal(store.state.newEvents.length, 0);
});

test("an event that comes twice stands once", () => {
  const {store} = still();
  store.message({t: "events", list: events(0, 3)});
  store.message({t: "events", list: events(1, 4)});
  assert.deepEqual(
    store.state.events.map((event) => event.q),
    [0, 1, 2, 3],
  );
  assert.equal(store.state.eventCounts.words, 4);
});

test("a snapshot replaces everything, and is the same when it comes twice", () => {
  const {store, frame, seen} = still();
  store.message({t: "rows", rows: rows(50, 60)});
  store.message({t: "events", list: events(90, 95)});
  const snapshot = {
    t: "snapshot",
    rows: rows(0, 3),
    events: events(0, 5),
    totals: {gap_ms: 700},
    counts: {rows: 9, events: 5},
  };
  for (const again of [1, 2]) {
    store.message(snapshot);
    assert.deepEqual(keys(store), ["r0", "r1", "r2"], `snapshot ${again}`);
    assert.equal(store.state.events.length, 5);
    assert.equal(store.state.earlier, 6);
    assert.equal(store.state.totals.gap_ms, 700);
    assert.equal(store.state.eventsReset, true);
  }
  frame();
  assert.ok(seen[0].changed.includes("snapshot"));
});

test("older rows come in front, never twice, and never beyond the limit", () => {
  const {store} = still();
  store.message({t: "rows", rows: rows(200, 1100)});
  store.message({t: "rows", rows: rows(150, 210), older: true});
  assert.equal(store.state.rows[0].k, "r150");
  assert.equal(new Set(keys(store)).size, store.state.rows.length);
  store.message({t: "rows", rows: rows(0, 150), older: true});
  assert.equal(store.state.rows.length, LIMITS.rows);
  assert.equal(store.state.rows[0].k, "r100");
});

test("the clock runs in the page while the call is on, and stands once it has ended", () => {
  const {store, time} = still();
  assert.equal(store.elapsed(), null);
  store.trait("clock", {began: 10, ended: null, now: 12});
  store.trait("phase", "on");
  assert.equal(store.elapsed(), 2);
  time.ms += 5000;
  assert.equal(store.elapsed(), 7);
  store.trait("clock", {began: 10, ended: 18, now: 18});
  time.ms += 5000;
  assert.equal(store.elapsed(), 8);
  assert.equal(store.since(14), 4);
});

test("a clock that was set long ago is behind, and the newest row puts it right", () => {
  const {store} = still();
  store.trait("clock", {began: 10, ended: null, now: 10});
  store.trait("phase", "on");
  store.message({t: "rows", rows: [{k: "a", at: 70}]});
  assert.equal(store.elapsed(), 60);
});

test("a control shows as the reader set it until the kernel says how it stands", () => {
  const {store} = still();
  store.trait("controls", {muted: false, hands_free: true});
  store.guess({muted: true});
  assert.deepEqual(store.state.controls, {muted: true, hands_free: true});
  store.trait("controls", {muted: false, hands_free: false});
  assert.deepEqual(store.state.controls, {muted: false, hands_free: false});
});

test("somebody who waits gets the answer that fits, and an error if none comes", async () => {
  const {store} = still();
  const answer = store.wait((message) => message.t === "raw" && message.q === 4);
  store.message({t: "raw", q: 3, text: "no"});
  store.message({t: "raw", q: 4, text: "yes"}, ["sound"]);
  assert.deepEqual(await answer, {message: {t: "raw", q: 4, text: "yes"}, buffers: ["sound"]});
  await assert.rejects(
    store.wait(() => false, 1),
    /did not answer/,
  );
  const left = store.wait(() => false);
  store.dispose();
  await assert.rejects(left, Error);
});

test("unknown traits, empty values and unknown messages change nothing", () => {
  const {store, frames} = still();
  store.trait("_esm", "x");
  store.trait("phase", null);
  store.message({t: "unheard-of"});
  assert.equal(frames.length, 0);
});

test("a view tells of what changed, and of nothing that did not", () => {
  const told = [];
  const view = createView((name) => told.push(name));
  view.set({selected: "r1"});
  view.set({selected: "r1", tab: "transcript"});
  view.set({tab: "events", play: {...view.state.play}});
  assert.deepEqual(told, ["view.selected", "view.tab"]);
});
