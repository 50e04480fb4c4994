// Which rows of a long list belong into the page for a scroll position. Pure: numbers in, numbers out (px).

/**
 * Add up heights: the n+1 positions of the edges of n rows.
 * @param {Array} keys
 * @param {function(*): number|undefined} heightOf measured height of a key, undefined where none was measured
 * @param {number} guess height of a row that was never drawn
 * @returns {Float64Array}
 */
export function offsets(keys, heightOf, guess) {
  const edges = new Float64Array(keys.length + 1);
  for (let n = 0; n < keys.length; n++) edges[n + 1] = edges[n] + (heightOf(keys[n]) ?? guess);
  return edges;
}

/** The row that covers a position: the last whose top is at or above it. */
export function rowAt(edges, position) {
  let low = 0;
  let high = Math.max(0, edges.length - 2);
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (edges[middle] <= position) low = middle;
    else high = middle - 1;
  }
  return low;
}

/**
 * Rows first..last-1 are drawn; spacers of `above` and `below` px stand for the others.
 * @param {Float64Array} edges
 * @param {number} top scroll position
 * @param {number} height of the view
 * @param {number} margin px drawn beyond both edges of the view, so that scrolling shows no holes
 * @returns {{first: number, last: number, above: number, below: number}}
 */
export function visible(edges, top, height, margin) {
  const count = edges.length - 1;
  if (count <= 0) return {first: 0, last: 0, above: 0, below: 0};
  const total = edges[count];
  const from = Math.min(Math.max(0, top), Math.max(0, total - height));
  const first = rowAt(edges, from - margin);
  const end = rowAt(edges, from + Math.max(0, height) + margin) + 1;
  const last = Math.min(count, Math.max(first + 1, end));
  return {first, last, above: edges[first], below: total - edges[last]};
}

/** Whether the reader is at the end of a list and new rows should be followed. */
export const follows = (top, height, total, slack = 24) => top + height >= total - slack;
