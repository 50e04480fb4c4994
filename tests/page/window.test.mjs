// Which rows are drawn: for any heights and any scroll position the view is covered and the spacers add up.

import assert from "node:assert/strict";
import test from "node:test";

import {follows, offsets, rowAt, visible} from "../../handoffkit/widgets/static/window.js";

/** A small generator of numbers, the same on every run. */
function numbers(seed) {
  let state = seed;
  return (most) => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return state % most;
  };
}

const edgesOf = (heights) =>
  offsets(
    heights.map((_, n) => n),
    (n) => heights[n],
    30,
  );

test("edges add up, with a guess where nothing was measured", () => {
  assert.deepEqual([...offsets(["a", "b", "c"], (key) => ({a: 10, c: 50})[key], 30)], [0, 10, 40, 90]);
  assert.deepEqual([...offsets([], () => 1, 30)], [0]);
});

test("a position belongs to the row that covers it", () => {
  const edges = edgesOf([10, 20, 30]);
  assert.deepEqual(
    [0, 9, 10, 29, 30, 59, 60, 999, -5].map((at) => rowAt(edges, at)),
    [0, 0, 1, 1, 2, 2, 2, 2, 0],
  );
});

test("whatever the heights and the position, the view is covered and nothing is lost", () => {
  const next = numbers(7);
  for (let round = 0; round < 2000; round++) {
    const heights = Array.from({length: next(60)}, () => 1 + next(120));
    const edges = edgesOf(heights);
    const total = edges[heights.length];
    const [top, height, margin] = [next(total + 200) - 50, 1 + next(500), next(200)];
    const {first, last, above, below} = visible(edges, top, height, margin);
    const drawn = heights.slice(first, last).reduce((sum, one) => sum + one, 0);
    assert.equal(above + drawn + below, total);
    const from = Math.min(Math.max(0, top), Math.max(0, total - height));
    assert.ok(above <= from, "the top of the view is drawn");
    assert.ok(above + drawn >= Math.min(total, from + height), "the end of the view is drawn");
  }
});

test("of ten thousand rows only what is near the view is drawn", () => {
  const edges = edgesOf(Array(10000).fill(30));
  const {first, last} = visible(edges, 150000, 480, 200);
  assert.ok(last - first <= (480 + 400) / 30 + 2);
  assert.ok(first >= 4990 && last <= 5030);
});

test("an empty list draws nothing", () => {
  assert.deepEqual(visible(edgesOf([]), 100, 480, 200), {first: 0, last: 0, above: 0, below: 0});
});

test("the end is followed within a small slack, and not once the reader has scrolled up", () => {
  assert.deepEqual(
    [follows(520, 480, 1000), follows(500, 480, 1000), follows(400, 480, 1000), follows(0, 480, 100)],
    [true, true, false, true],
  );
});
