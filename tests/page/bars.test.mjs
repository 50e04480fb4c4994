// The timeline as numbers: bars, gaps, flags, ticks and which labels have room.

import assert from "node:assert/strict";
import test from "node:test";

import {
  axis,
  bars,
  flags,
  gaps,
  merged,
  placeFlags,
  placeGaps,
  placeTicks,
  reigns,
  summary,
  ticks,
} from "../../handoffkit/widgets/static/bars.js";

const since = (at) => at - 10; // the call began at 10 s of the log
const row = (k, more) => ({
  k,
  kind: "turn",
  who: "a1",
  name: "Agent",
  at: 10,
  end: 12,
  text: "",
  lane: "agent",
  look: "plain",
  pending: false,
  seeded: false,
  interrupted: false,
  inaudible: false,
  heard_ms: null,
  total_ms: 2000,
  gap_ms: null,
  note: "",
  bad: false,
  ...more,
});
const caller = (k, at, end, more = {}) => row(k, {who: "c", lane: "caller", at, end, ...more});

test("a turn is a bar in its lane, in seconds of the call", () => {
  const [one] = bars([caller("c1", 11.2, 15.6)], since, null);
  assert.equal(one.lane, 0);
  assert.equal(one.look, "plain");
  assert.deepEqual([one.from.toFixed(3), one.to.toFixed(3)], ["1.200", "5.600"]);
});

test("an interrupted reply is solid as far as it was heard, then dashed", () => {
  const cut = row("a", {at: 16, end: 20.2, interrupted: true, heard_ms: 1800, total_ms: 4200, look: "cut"});
  const [heard, rest] = bars([cut], since, null);
  assert.deepEqual([heard.look, rest.look], ["cut", "unheard"]);
  assert.ok(Math.abs(heard.to - 7.8) < 1e-9 && heard.to === rest.from && Math.abs(rest.to - 10.2) < 1e-9);
});

test("a reply of which nothing was heard has no solid part", () => {
  const cut = row("a", {at: 16, end: 16, interrupted: true, heard_ms: 0, total_ms: 900});
  assert.deepEqual(
    bars([cut], since, null).map((bar) => bar.look),
    ["unheard"],
  );
});

test("while the call is on, a turn that goes on reaches to now, and sound not yet played is not drawn", () => {
  const open = caller("c", 20, 20.4, {pending: true});
  const ahead = row("a", {at: 15, end: 40});
  const [one, two] = bars([open, ahead], since, 14);
  assert.equal(one.look, "open");
  assert.equal(one.to, 14);
  assert.equal(two.to, 14);
});

test("given history, marks and rows without a lane have no bar; attempts do", () => {
  const rows = [
    row("s", {seeded: true}),
    row("o", {kind: "over", lane: null, look: "flag"}),
    row("m", {kind: "mark", lane: null}),
    row("x1", {kind: "mark", who: "t", lane: "tools", look: "fail"}),
    row("x2", {kind: "mark", who: "t", lane: "tools", look: "ok"}),
  ];
  assert.deepEqual(
    bars(rows, since, null).map((bar) => [bar.lane, bar.look]),
    [
      [2, "fail"],
      [2, "ok"],
    ],
  );
});

test("bars thinner than a bar can be are joined: ten thousand turns are few nodes", () => {
  const rows = Array.from({length: 10000}, (_, n) => caller(`c${n}`, 10 + n * 0.3, 10.1 + n * 0.3));
  const list = bars(rows, since, null);
  const few = merged(list, 900 / 3000);
  assert.ok(few.length < 320, `${few.length} bars`);
  assert.equal(
    few.reduce((sum, bar) => sum + bar.keys.length, 0),
    10000,
  );
  assert.equal(merged(list.slice(0, 5), 100).length, 5);
});

test("a gap has a label from 700 ms and is long from 1000 ms", () => {
  const of = (ms) => gaps([row("a", {at: 20, gap_ms: ms})], since)[0];
  assert.deepEqual([of(699).label, of(700).label, of(999).long, of(1000).long], ["", "700 ms", false, true]);
  assert.ok(Math.abs(of(1820).from - 8.18) < 1e-9 && of(1820).to === 10);
});

test("a gap's label goes where it would hit a bar of the caller's, a flag, the cursor or the end", () => {
  const scale = {rate: 15, track: 900, span: 60, live: true};
  const wait = gaps([row("a", {at: 20, gap_ms: 800})], since); // its line ends at 150 px, its label at about 197
  const place = (drawn, flagged, cursors, to = scale) => placeGaps(wait, drawn, flagged, cursors, to)[0].label;
  assert.equal(place([], [], []), "800 ms");
  assert.equal(place([{lane: 0, from: 12, to: 14}], [], []), "");
  assert.equal(place([{lane: 1, from: 12, to: 14}], [], []), "800 ms");
  assert.equal(place([], [{at: 11}], []), "");
  assert.equal(place([], [], [12]), "");
  assert.equal(place([], [], [], {...scale, track: 180}), "");
});

test("flags are handoffs, ends and trouble; the ticket has one, and then a clean end needs none", () => {
  const over = row("h", {
    kind: "over",
    who: "a2",
    lane: null,
    look: "flag",
    name: "Delivery form agent",
    text: "handed over: Support → Delivery form agent",
  });
  const ended = row("e", {kind: "over", who: "o", lane: null, look: "good", text: "call ended"});
  const closed = row("b", {
    kind: "over",
    who: "o",
    name: "Operator",
    lane: null,
    look: "bad",
    bad: true,
    text: "connection closed",
  });
  const made = row("x", {kind: "mark", who: "t", lane: "tools", look: "ok", at: 70, end: 71});
  assert.deepEqual(
    flags([over, ended, closed], since).map((flag) => [flag.label, flag.tone]),
    [
      ["Delivery form", ""],
      ["call ended", "ok"],
      ["connection closed", "bad"],
    ],
  );
  assert.deepEqual(
    flags([over, ended, made], since).map((flag) => flag.label),
    ["Delivery form", "Ticket"],
  );
});

const over = (k, at, who, more) => row(k, {kind: "over", lane: null, look: "flag", who, at, end: at, ...more});

test("who had the call is known from the first reply on, where it was handed over", () => {
  const rows = [
    row("c1", {who: "c", lane: "caller", at: 10, end: 11}),
    row("r1", {at: 12, end: 13}),
    over("h1", 14, "a2", {name: "Billing"}),
    row("r2", {at: 15, end: 16, look: "late"}),
    row("r3", {who: "a2", at: 17, end: 18}),
    over("h2", 20, "a1", {name: "Front"}),
    row("r4", {at: 21, end: 24}),
  ];
  const brief = (list) => list.map(({from, to, who}) => [from, to, who]);
  assert.deepEqual(brief(reigns(rows, since, 15)), [
    [2, 4, "a1"],
    [4, 10, "a2"],
    [10, 15, "a1"],
  ]);
  assert.deepEqual(reigns(rows.slice(0, 2), since, 15), []);
  const next = [over("end", 25, "o", {look: "good"}), over("call", 30, "o"), row("x1", {at: 31, end: 32})];
  assert.deepEqual(brief(reigns([...rows, ...next], since, 40)).at(-1), [10, 15, "a1"]);
  assert.equal(bars(rows, since, null).find((bar) => bar.keys[0] === "r2").look, "late");
});

test("a flag's label turns left at the end of the strip, and goes where it would cover another", () => {
  const scale = {rate: 10, track: 600};
  const flag = (at, label) => ({at, label, tone: ""});
  const [first, second, last] = placeFlags([flag(10, "one"), flag(11, "two is long"), flag(59, "end")], scale, null);
  assert.deepEqual([first.side, first.label], ["right", "one"]);
  assert.equal(second.label, "");
  assert.deepEqual([last.side, last.label], ["left", "end"]);
});

test("axis labels under a flag or a cursor go", () => {
  const scale = {rate: 10, track: 600, span: 60, live: true};
  const list = ticks(scale, 0, 60, 600);
  const flagged = placeFlags([{at: 19, label: "Delivery form", tone: ""}], scale, null);
  const left = placeTicks(list, flagged, [40], scale);
  assert.deepEqual(
    left.filter((tick) => !tick.label).map((tick) => tick.at),
    [20, 30, 40, 60],
  ); // the last has no room
});

test("a live axis is 60 s long, then grows; in a narrow panel a second never has less than 14 px", () => {
  assert.equal(axis({live: true, seconds: 20, view: 900, panel: 980}).span, 60);
  assert.equal(axis({live: true, seconds: 600, view: 900, panel: 980}).span, 610);
  const narrow = axis({live: true, seconds: 600, view: 280, panel: 360});
  assert.equal(narrow.rate, 14);
  assert.equal(narrow.track, 604 * 14);
  const ended = axis({live: false, seconds: 68, view: 900, panel: 980});
  assert.ok(ended.span > 68 && ended.span < 72 && ended.track === 900);
});

test("an axis has few labels, whatever the length", () => {
  for (const seconds of [1, 5, 23, 68, 600, 3600, 36000]) {
    const scale = axis({live: false, seconds, view: 900, panel: 980});
    const count = ticks(scale, 0, scale.span, 900).length;
    assert.ok(count >= 2 && count <= 12, `${count} labels for ${seconds} s`);
  }
});

test("the picture in a sentence", () => {
  const rows = [
    caller("c", 11, 12),
    row("a", {at: 14, gap_ms: 1820}),
    row("t", {kind: "tool", lane: "tools"}),
    row("h", {kind: "over", look: "flag", lane: null}),
  ];
  assert.equal(
    summary(rows, 47.2),
    "Timeline, 47 seconds: 1 caller turn, 1 agent turn, 1 tool call, 1 handoff. Longest wait 1820 ms.",
  );
  assert.equal(summary([], 0), "Timeline, 0 seconds: nothing was said yet.");
});
