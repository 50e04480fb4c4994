// A long list of which only the part near the view is in the page: spacers stand for the rest, heights are measured.

import {keyed} from "./keyed.js";
import {follows, offsets, rowAt, visible} from "./window.js";

const MARGIN = 320; // px drawn beyond both edges of the view
const VIEW = 500; // px taken for the view as long as it has no height of its own

/**
 * Make a windowed list that stays at its end only while the reader is there.
 * @param {object} options
 * @param {HTMLElement} options.scroller what scrolls
 * @param {HTMLElement} options.list the <ol> in it, whose children are ours
 * @param {function(object): HTMLElement} options.make a child for an item ({id, …})
 * @param {function(HTMLElement, object)} options.draw writes an item into its child
 * @param {number} options.guess height of a child never drawn (px)
 * @param {function()} options.moved called after a scroll or a drawing: what is in view may have changed
 */
export function createList({scroller, list, make, draw, guess, moved = () => {}}) {
  const sync = keyed(list, make);
  const heights = new Map();
  let items = [];
  let edges = offsets([], () => undefined, guess);
  let following = true;
  let drawn = {first: 0, last: 0};
  let width = 0;
  let kept = null; // the anchor at the last drawing
  let hidden = false;
  scroller.style.overflowAnchor = "none";

  const top = () => scroller.scrollTop - list.offsetTop;
  const view = () => scroller.clientHeight || VIEW;
  const layOut = () => (edges = offsets(items, (item) => heights.get(item.id), guess));

  /** The first row in view and how far above the edge it begins: what must not move when rows above change. */
  function anchor() {
    if (!items.length || !scroller.clientHeight) return null;
    const n = rowAt(edges, Math.max(0, top()));
    return n < items.length ? {id: items[n].id, rest: top() - edges[n]} : null;
  }

  const place = () => (following ? null : hidden ? kept : anchor());

  function restore(held) {
    if (following) scroller.scrollTop = scroller.scrollHeight;
    else if (held) {
      const n = items.findIndex((item) => item.id === held.id);
      const wanted = n < 0 ? null : edges[n] + held.rest;
      if (wanted !== null && Math.abs(wanted - top()) >= 1) scroller.scrollTop = wanted + list.offsetTop;
    }
  }

  function drawWindow(touched, at) {
    const part = visible(edges, at, view(), MARGIN);
    const fresh = [];
    const before = new Set([...list.children].map((el) => el.dataset.id));
    keepFocus(part);
    sync(items.slice(part.first, part.last), (el, item) => {
      const known = before.has(item.id);
      if (known && touched && !touched.has(item.id)) return;
      el.dataset.id = item.id;
      draw(el, item);
      fresh.push(el);
    });
    list.style.paddingTop = `${part.above}px`;
    list.style.paddingBottom = `${part.below}px`;
    drawn = part;
    return fresh.length > 0;
  }

  /** Give the focus to the list before the row that has it leaves the page. */
  function keepFocus(part) {
    const focused = scroller.getRootNode().activeElement;
    const row = focused && focused !== scroller && list.contains(focused) ? focused.closest("[data-id]") : null;
    if (row && !items.slice(part.first, part.last).some((item) => item.id === row.dataset.id)) {
      scroller.focus({preventScroll: true});
    }
  }

  /** Measure what is in the page; true if a height differs from what was laid out. */
  function measure() {
    if (!scroller.clientHeight) return false;
    const rows = [...list.children];
    let differs = false;
    rows.forEach((el, n) => {
      const end = n + 1 < rows.length ? rows[n + 1].offsetTop : el.offsetTop + el.offsetHeight;
      const height = end - el.offsetTop;
      if (height > 0 && heights.get(el.dataset.id) !== height) differs = Boolean(heights.set(el.dataset.id, height));
    });
    return differs;
  }

  function render(touched, held) {
    let at = following ? Infinity : held ? wantedTop(held) : top();
    for (let round = 0; round < 3; round += 1) {
      if (!drawWindow(touched, at) || !measure()) break;
      touched = new Set();
      layOut();
      at = following ? Infinity : held ? wantedTop(held) : top();
    }
    restore(held);
    settle();
  }

  /** Remember the place, since an element that is hidden may forget it, and tell. */
  function settle() {
    if (!scroller.clientHeight) return;
    kept = anchor();
    hidden = false;
    moved();
  }

  const wantedTop = (held) => {
    const n = items.findIndex((item) => item.id === held.id);
    return n < 0 ? top() : edges[n] + held.rest;
  };

  const api = {
    /** Show these items; `touched` (ids) says which are new or changed, null that all may be. */
    show(next, touched = null) {
      const held = place();
      items = next;
      if (heights.size > items.length * 2 + 200) forget();
      layOut();
      render(touched, held);
    },

    /** Draw again: the view has another size, or came back from being hidden. */
    refresh() {
      if (!scroller.clientHeight) return void (hidden = true);
      const held = place();
      if (scroller.clientWidth !== width) heights.clear();
      width = scroller.clientWidth;
      layOut();
      render(null, held);
    },

    /** Go to the end, and stay there. */
    toEnd() {
      following = true;
      render(new Set(), null);
    },

    /** Go to the beginning, and follow nothing. */
    toStart() {
      following = false;
      scroller.scrollTop = 0;
      render(new Set(), null);
    },

    /** Bring a row into view if it is not; false if there is none such. */
    reveal(id) {
      const n = items.findIndex((item) => item.id === id);
      if (n < 0) return false;
      const [from, to] = [edges[n], edges[n + 1]];
      const outside = from < top() || to > top() + view();
      if (outside) {
        following = false;
        scroller.scrollTop = list.offsetTop + (from < top() ? from - 40 : to - view() + 40);
        following = atEnd();
        render(new Set(), null);
      }
      return true;
    },

    /** Indexes of the rows in view: first..last-1, and whether that is all of them. */
    range() {
      const first = rowAt(edges, Math.max(0, top() + 1));
      const last = items.length ? Math.min(items.length, rowAt(edges, Math.max(0, top() + view() - 1)) + 1) : 0;
      return {first, last, all: scroller.scrollHeight <= scroller.clientHeight + 1};
    },

    /** The child of an item, if it is in the page. */
    child: (id) => [...list.children].find((el) => el.dataset.id === id) ?? null,
    following: () => following,
    get items() {
      return items;
    },
  };

  const atEnd = () => follows(scroller.scrollTop, scroller.clientHeight, scroller.scrollHeight);

  function forget() {
    const live = new Set(items.map((item) => item.id));
    for (const id of heights.keys()) if (!live.has(id)) heights.delete(id);
  }

  function scrolled() {
    if (!scroller.clientHeight) return;
    following = atEnd();
    const part = visible(edges, top(), view(), MARGIN / 2);
    if (part.first < drawn.first || part.last > drawn.last) render(new Set(), anchor());
    else settle();
  }

  scroller.addEventListener("scroll", scrolled, {passive: true});
  return api;
}
