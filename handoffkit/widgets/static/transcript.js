// The transcript: one row a turn, only the rows near the view in the page, at the newest while the reader is there.

import {setAttr, h, icon, setText} from "./dom.js";
import {plural} from "./format.js";
import {createList} from "./list.js";
import {drawRow, makeRow} from "./row.js";
import {rowActions} from "./row_actions.js";
import {inTranscript, plainText, spoken} from "./words.js";

const GUESS = 34; // px of a row never drawn
const ASK_MS = 5000; // how long an asking for earlier rows is waited for before it may be repeated

/**
 * Make the transcript.
 * @returns {{el: HTMLElement, update: function(object, Set<string>), copy: function(): string, dispose: function()}}
 */
export function createTranscript({store, send, view, playback, scope}) {
  const rows = h("ol", {class: "hk-rows-log", "aria-label": "Transcript"});
  const tokensHead = h("span", {text: "Tokens"});
  const cols = h(
    "div",
    {class: "hk-cols", "aria-hidden": "true"},
    ["Time", "Speaker", "Words", "Reply gap"].map((text) => h("span", {text})),
    tokensHead,
  );
  const aboveText = h("span");
  const above = h("button", {class: "hk-earlier", type: "button", on: {click: pageUp}}, icon("up", true), aboveText);
  const older = h("button", {class: "hk-older", type: "button", hidden: true, on: {click: askEarlier}});
  const nothing = h("p", {class: "hk-nothing hk-quiet", text: "Nothing has been said yet."});
  const heard = h("div", {class: "hk-sr", role: "log", "aria-live": "polite", "aria-label": "New turns"});
  const newest = h(
    "button",
    {class: "hk-btn hk-btn--small", type: "button", on: {click: toNewest}},
    icon("down", true),
    "newest",
  );
  const newestLine = h("div", {class: "hk-newest", hidden: true}, newest);
  const content = h("div", {}, above, cols, older, nothing, rows, heard);
  const log = h(
    "div",
    {class: "hk-log", tabindex: "0", role: "region", "aria-label": "Transcript", on: {keydown: keys}},
    content,
  );
  const el = h("div", {class: "hk-listbox"}, log, newestLine);

  const actions = rowActions({store, playback, scope});
  const list = createList({
    scroller: log,
    list: rows,
    guess: GUESS,
    make: (item) => makeRow(item.row),
    draw: drawItem,
    moved,
  });
  let own = null; // the selection made here: it needs no scrolling to
  let asked = {before: null, at: -Infinity};
  let finals = null; // keys of the rows known to be final, null before the first drawing
  let tokens = true;

  function drawItem(li, {row}) {
    drawRow(li, row, store.since, tokens);
    actions.put(li, row);
    dress(li, row.k);
  }

  /** Show selection, hover and what is being played on one row. */
  function dress(li, k) {
    const {selected, hovered, play} = view.state;
    const playing = play.on && (play.keys ?? []).includes(k);
    li.classList.toggle("is-sel", k === selected || playing);
    li.classList.toggle("is-hover", k === hovered);
    setAttr(li, "aria-current", k === selected || playing ? "true" : null);
    actions.reachable(li, k === selected);
  }

  const dressAll = () => [...rows.children].forEach((li) => dress(li, li.dataset.id));

  function update(state, changed) {
    const all = changed.has("all") || changed.has("snapshot") || state.reordered;
    log.classList.toggle("is-live", isLive(state));
    if (changed.has("totals") || changed.has("facts") || changed.has("all")) heads(state);
    if (all || changed.has("rows") || changed.has("clock")) {
      list.show(
        state.rows.filter(inTranscript).map((row) => ({id: row.k, row})),
        all || changed.has("clock") ? null : state.touched,
      );
      if (finals === null && list.items.length && state.phase === "ended") list.toStart();
      announce(state);
    }
    if (["all", "rows", "counts"].some((name) => changed.has(name))) tellOlder(state);
    if (["view.selected", "view.hovered", "view.play"].some((name) => changed.has(name))) dressAll();
    if (changed.has("view.selected")) showSelected();
    if (changed.has("view.play")) followPlay();
  }

  const isLive = (state) => state.phase === "on" || state.phase === "ending";

  function heads(state) {
    tokens = !(state.totals?.simulated ?? state.facts.mode === "simulated");
    setText(tokensHead, tokens ? "Tokens" : "");
  }

  function showSelected() {
    const {selected} = view.state;
    if (selected !== null && selected !== own) list.reveal(selected);
    own = null;
  }

  let lastPlayed = null;
  function followPlay() {
    const key = view.state.play.on ? ((view.state.play.keys ?? []).at(-1) ?? null) : null;
    if (key !== null && key !== lastPlayed) list.reveal(key);
    lastPlayed = key;
  }

  /** Tell a screen reader of turns that have just become final, and of nothing else. */
  function announce(state) {
    const final = new Set(state.rows.filter((row) => !row.pending).map((row) => row.k));
    if (finals === null && !state.rows.length) return;
    if (finals !== null && isLive(state)) {
      for (const k of state.touched) if (final.has(k) && !finals.has(k)) say(state.rowOf.get(k));
    }
    finals = final;
  }

  function say(row) {
    if (!row || !inTranscript(row)) return;
    heard.append(h("p", {text: spoken(row)}));
    while (heard.childElementCount > 3) heard.firstElementChild.remove();
  }

  function tellOlder(state) {
    nothing.hidden = list.items.length > 0 || state.earlier > 0;
    older.hidden = state.earlier === 0;
    setText(older, `Show ${plural(state.earlier, "earlier row")}`);
  }

  function askEarlier() {
    const before = store.state.rows[0]?.k;
    if (before === undefined || store.state.earlier === 0) return;
    if (asked.before === before && performance.now() - asked.at < ASK_MS) return;
    asked = {before, at: performance.now()};
    send({t: "earlier", before});
  }

  function moved() {
    const range = list.range();
    const items = list.items;
    newestLine.hidden = list.following() || range.all;
    const hidden = range.first + store.state.earlier;
    above.hidden = hidden === 0;
    setText(aboveText, plural(hidden, "earlier turn"));
    const shown = items
      .slice(range.first, range.last)
      .map(({row}) => row)
      .filter((row) => !row.seeded);
    const seen =
      range.all || !shown.length ? null : {from: shown[0].at, to: Math.max(...shown.map((row) => row.end ?? row.at))};
    view.set({seen});
    if (log.clientHeight && !range.all && !list.following() && log.scrollTop < 40) askEarlier();
  }

  function pageUp() {
    log.scrollTop -= Math.max(60, log.clientHeight - 60);
  }

  function toNewest() {
    list.toEnd();
    log.focus({preventScroll: true});
  }

  function select(k) {
    own = k;
    view.set({selected: k});
  }

  const keyOf = (target) => target.closest?.("li[data-id]")?.dataset.id ?? null;

  rows.addEventListener("click", (event) => {
    const k = keyOf(event.target);
    if (k === null || event.target.closest("button") || String(globalThis.getSelection?.() ?? "")) return;
    select(view.state.selected === k ? null : k);
  });
  rows.addEventListener("mouseover", (event) => view.set({hovered: keyOf(event.target)}));
  rows.addEventListener("mouseleave", () => view.set({hovered: null}));

  /** Arrows move the selection from row to row, Home and End go to the ends, Escape lets go. */
  function keys(event) {
    const items = list.items;
    const at = items.findIndex((item) => item.id === view.state.selected);
    const to = {
      ArrowDown: at < 0 ? items.length - 1 : at + 1,
      ArrowUp: at < 0 ? items.length - 1 : at - 1,
      Home: 0,
      End: items.length - 1,
    }[event.key];
    if (event.key === "Escape" && at >= 0) view.set({selected: null});
    else if (to === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    else if (items[to]) moveTo(items[to].id);
    event.preventDefault();
    event.stopPropagation();
  }

  function moveTo(id) {
    if (log.getRootNode().activeElement !== log) log.focus({preventScroll: true});
    select(id);
    list.reveal(id);
  }

  scope.observe(new ResizeObserver(() => list.refresh())).observe(log);

  return {
    el,
    update,
    copy: () => plainText(store.state.rows, store.since, store.state.earlier),
    dispose: () => view.set({seen: null, hovered: null}),
  };
}
