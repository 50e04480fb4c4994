// The list of events: what passes on the wire as it passes, one of them open at a time with its raw JSON.

import {copyFrom} from "./clipboard.js";
import {h, icon, fill, setAttr, setText} from "./dom.js";
import {drawEvent, lineOf, makeEvent} from "./event_row.js";
import {clock, plural} from "./format.js";
import {createList} from "./list.js";
import {createSieve, jsonLines, KINDS, OTHER_KINDS} from "./sieve.js";

const GUESS = 26; // px of an event's line

const titled = (word) => word[0].toUpperCase() + word.slice(1);

/** Make the event list with its toolbar. */
export function createEvents({store, send, scope}) {
  const sieve = createSieve();
  const chips = new Map([...KINDS, ...OTHER_KINDS].map((kind) => [kind, chip(kind)]));
  const find = h("input", {
    class: "hk-input hk-find",
    type: "search",
    placeholder: "Filter",
    "aria-label": "Show events with these words",
  });
  const pauseText = h("span");
  const pauseIcon = h("span", {class: "hk-ic-box"});
  const pause = h(
    "button",
    {type: "button", class: "hk-btn hk-btn--small", "aria-pressed": "false"},
    pauseIcon,
    pauseText,
  );
  const copyLabel = h("span", {text: "Copy shown"});
  const copy = h(
    "button",
    {type: "button", class: "hk-btn hk-btn--small", data: {label: "Copy shown"}},
    icon("copy", true),
    copyLabel,
  );
  const bar = h(
    "div",
    {class: "hk-evbar"},
    h(
      "div",
      {class: "hk-chips", role: "group", "aria-label": "Show kinds of event"},
      [...chips.values()].map((one) => one.el),
      find,
    ),
    h("div", {class: "hk-acts"}, pause, copy),
  );
  const older = h("p", {class: "hk-ev-older hk-quiet", hidden: true});
  const nothing = h("p", {class: "hk-nothing hk-quiet"});
  const rows = h("ol", {"aria-label": "Events"});
  const scroller = h(
    "div",
    {class: "hk-evs", tabindex: "0", role: "region", "aria-label": "Events"},
    older,
    nothing,
    rows,
  );
  const newest = h(
    "button",
    {class: "hk-btn hk-btn--small", type: "button", on: {click: () => list.toEnd()}},
    icon("down", true),
    "newest",
  );
  const newestLine = h("div", {class: "hk-newest", hidden: true}, newest);
  const el = h("div", {class: "hk-events"}, bar, h("div", {class: "hk-listbox"}, scroller, newestLine));
  const list = createList({scroller, list: rows, guess: GUESS, make: makeEvent, draw: drawItem, moved});
  let open = null; // q of the event that is open
  let active = null; // q of the event that the keyboard is on
  let raw = null; // its JSON, null until it has come
  let fault = "";

  function chip(kind) {
    const count = h("span", {text: "0"});
    const el = h(
      "button",
      {type: "button", class: "hk-chip", data: {kind}},
      icon("check", true),
      titled(kind),
      " ",
      count,
    );
    el.addEventListener("click", () => (sieve.toggle(kind), showAll()));
    return {el, count};
  }

  const ctx = {since: store.since, scope};

  function drawItem(li, {event}) {
    const isOpen = event.q === open;
    drawEvent(
      li,
      event,
      {open: isOpen, raw: isOpen ? raw : null, fault: isOpen ? fault : "", active: event.q === active},
      ctx,
    );
  }

  const items = () => sieve.shown.map((event) => ({id: String(event.q), event}));

  function showAll() {
    list.show(items(), null);
    tools();
  }

  function redraw(...qs) {
    list.show(items(), new Set(qs.filter((q) => q !== null).map(String)));
  }

  function update(state, changed) {
    if (changed.has("all") || changed.has("snapshot") || (changed.has("events") && state.eventsReset)) {
      sieve.reset(state.events);
      showAll();
    } else if (changed.has("events")) {
      sieve.add(state.events, state.newEvents);
      if (!sieve.isPaused()) redraw();
      tools();
    } else if (changed.has("clock")) showAll();
    else if (changed.has("counts")) tools();
  }

  function tools() {
    const {eventCounts, dropped} = store.state;
    for (const [kind, {el: button, count}] of chips) {
      setText(count, String(eventCounts[kind] ?? 0));
      setAttr(button, "aria-pressed", String(!sieve.off.has(kind)));
      button.hidden = !KINDS.includes(kind) && !eventCounts[kind];
    }
    drawPause();
    older.hidden = !dropped.events;
    setText(
      older,
      `${plural(dropped.events, "older event")} ${dropped.events === 1 ? "is" : "are"} not kept here; call.log has them.`,
    );
    copy.disabled = sieve.shown.length === 0;
    nothing.hidden = sieve.shown.length > 0;
    setText(nothing, store.state.events.length ? "No event passes the filter." : "Nothing has passed on the wire yet.");
  }

  let drawnPause = null;
  function drawPause() {
    const on = sieve.isPaused();
    setText(pauseText, !on ? "Pause" : sieve.newer ? `Resume, ${sieve.newer} newer` : "Resume");
    if (drawnPause === on) return;
    drawnPause = on;
    fill(pauseIcon, icon(on ? "play" : "pause", true));
    pause.classList.toggle("hk-btn--on", on);
    setAttr(pause, "aria-pressed", String(on));
    setAttr(
      rows,
      "aria-label",
      on && sieve.paused ? `Events, paused at ${clock(store.since(sieve.paused.at))}` : "Events",
    );
  }

  function moved() {
    newestLine.hidden = list.following() || list.range().all || sieve.isPaused();
  }

  async function toggle(q) {
    const before = open;
    [open, raw, fault, active] = [open === q ? null : q, null, "", q];
    redraw(before, q);
    if (open === null) return;
    try {
      const answer = store.wait((m) => m.t === "raw" && m.q === q);
      send({t: "raw", q});
      const {message} = await answer;
      if (open === q) raw = String(message.text ?? "");
    } catch (error) {
      if (open === q) fault = error.message;
    }
    if (open === q) redraw(q);
  }

  const qOf = (target) => {
    const id = target.closest?.("li[data-id]")?.dataset.id;
    return id === undefined ? null : Number(id);
  };

  /** Put the keyboard on an event, bringing it into view. */
  function focus(n) {
    const item = list.items[Math.min(Math.max(0, n), list.items.length - 1)];
    if (!item) return;
    const before = active;
    active = item.event.q;
    list.reveal(item.id);
    redraw(before, active);
    const li = list.child(item.id);
    if (li) lineOf(li).focus({preventScroll: true});
  }

  function keys(event) {
    if (event.target.closest?.("pre") && event.key !== "Escape") return;
    const at = list.items.findIndex((item) => item.event.q === active);
    const end = list.items.length - 1;
    const to = {ArrowDown: at < 0 ? 0 : at + 1, ArrowUp: at < 0 ? end : at - 1, Home: 0, End: end}[event.key];
    if (to !== undefined) focus(to);
    else if (event.key === "Escape" && open !== null) toggle(open);
    else if (event.key === "Enter" && event.target === scroller && active !== null) toggle(active);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  rows.addEventListener("click", (event) => {
    const line = event.target.closest("button[aria-expanded]");
    const q = line && qOf(line);
    if (q !== null && q !== undefined) toggle(q);
  });
  scroller.addEventListener("keydown", keys);
  find.addEventListener("input", () => (sieve.find(find.value), showAll()));
  pause.addEventListener("click", () => (sieve.pause(!sieve.isPaused()), showAll()));
  copy.addEventListener("click", () => copyFrom(copy, copyLabel, jsonLines(sieve.shown), scope));
  scope.observe(new ResizeObserver(() => list.refresh())).observe(scroller);

  return {el, update, dispose() {}};
}
