// The call as a picture: who spoke when, waits, tools and handoffs. After the call it is the slider of the playback.

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
} from "./bars.js";
import {h, icon, fill, setAttr} from "./dom.js";
import {clockShort} from "./format.js";
import {keyed} from "./keyed.js";
import {follows} from "./window.js";

const BEYOND = 200; // px drawn beyond both edges of the strip
const FIRST_PX = 20; // so near to the beginning the label of now stands beside its line
const SUMMARY_MS = 5000; // how often the spoken summary of a live call may change

const FLAG_ICONS = {bad: "x", ok: "check", "": "over"};

/** Make the timeline. */
export function createTimeline({store, view, playback, scope}) {
  const track = h("div", {class: "hk-tl-track"});
  const strip = h("div", {class: "hk-tl-scroll"}, track);
  const names = h(
    "ul",
    {class: "hk-tl-names", "aria-hidden": "true"},
    ["Caller", "Agents", "Tools"].map((text) => h("li", {text})),
  );
  const el = h("div", {class: "hk-tl"}, names, strip);
  const sync = keyed(track, make);
  let pinned = true; // the strip follows now (or the playback) sideways
  let scale = axis({live: true, seconds: 0, view: 800, panel: 980});
  let said = -Infinity;

  const live = () => store.state.clock.ended === null || store.state.clock.ended === undefined;
  const seconds = () => Math.max(0, store.since(live() ? store.now() : endOf()));

  /** The end of an ended call: its last row may lie after it (a ticket). */
  const endOf = () =>
    store.state.rows.reduce(
      (end, row) => (row.seeded ? end : Math.max(end, row.end ?? row.at)),
      store.state.clock.ended ?? 0,
    );

  function update(state, changed) {
    const only = (...known) => [...changed].every((name) => known.includes(name));
    if (only("events", "totals", "controls", "approvals", "error", "ticket", "mic", "view.tab", "facts", "kernel"))
      return;
    if (only("view.selected", "view.hovered")) dressAll();
    else draw();
  }

  function draw() {
    const now = live() ? seconds() : null;
    scale = axis({
      live: live(),
      seconds: seconds(),
      view: strip.clientWidth || 800,
      panel: el.clientWidth || view.state.width,
    });
    el.classList.toggle("hk-tl--live", live());
    track.style.setProperty("--d", String(scale.span));
    track.style.setProperty("--dn", String(scale.span));
    track.style.width = strip.clientWidth && scale.track > strip.clientWidth ? `${scale.track}px` : "";
    follow(now);
    sync(itemsOf(now), write);
    describe();
  }

  /** What stands in the part of the strip that can be seen, in the order in which it is drawn. */
  function itemsOf(now) {
    const {rows} = store.state;
    const from = (strip.scrollLeft - BEYOND) / scale.rate;
    const to = (strip.scrollLeft + (strip.clientWidth || 800) + BEYOND) / scale.rate;
    const inside = (one) => (one.to ?? one.at) >= from && (one.from ?? one.at) <= to;
    const cursor = now ?? (view.state.play.on || view.state.play.at > 0 ? view.state.play.at : null);
    const cursors = cursor === null ? [] : [cursor];
    const flagged = placeFlags(flags(rows, store.since).filter(inside), scale, cursor);
    const drawn = merged(bars(rows, store.since, now, scale.span).filter(inside), scale.rate);
    const waits = gaps(rows, store.since).filter((gap) => inside(gap) && (gap.to - gap.from) * scale.rate >= 2);
    const axisTicks = ticks(scale, from, to, strip.clientWidth || 800).map((tick) => ({...tick}));
    return [
      ...placeTicks(axisTicks, flagged, cursors, scale).map((tick) => ({...tick, id: `tick:${tick.at}`, as: "tick"})),
      ...[0, 1, 2].map((lane) => ({id: `lane:${lane}`, as: "lane", lane})),
      ...reigns(rows, store.since, now ?? seconds()).filter(inside).map((reign) => ({...reign, as: "reign"})),
      ...placeGaps(waits, drawn, flagged, cursors, scale).map((gap) => ({...gap, as: "gap"})),
      ...drawn.map((bar) => ({...bar, as: "bar"})),
      ...flagged.map((flag) => ({...flag, as: "flag"})),
      ...seenItem(),
      ...(cursor === null ? [] : [{id: "now", as: "now", at: cursor, play: now === null}]),
    ];
  }

  function seenItem() {
    const {seen} = view.state;
    return seen
      ? [{id: "seen", as: "seen", from: store.since(seen.from), to: Math.min(store.since(seen.to), scale.span)}]
      : [];
  }

  function make(item) {
    if (item.as === "lane") return h("i", {class: "hk-lane", data: {l: String(item.lane)}});
    if (item.as === "bar") return h("i", {class: "hk-bar"});
    if (item.as === "reign") return h("i", {class: "hk-reign"});
    if (item.as === "seen") return h("i", {class: "hk-seen"});
    const tag = item.as === "tick" ? "span" : "i";
    return h(tag, {class: {tick: "hk-tk", gap: "hk-gapm", flag: "hk-mark", now: "hk-now"}[item.as]});
  }

  function write(node, item) {
    const vars = `--s:${(item.from ?? item.at ?? 0).toFixed(3)};--e:${(item.to ?? 0).toFixed(3)}`;
    if (item.as !== "lane" && node.getAttribute("style") !== vars) node.setAttribute("style", vars);
    WRITE[item.as]?.(node, item);
  }

  const writeReign = (node, {who}) => node.dataset.who === who || (node.dataset.who = who);

  const writeTick = (node, {label}) => node.textContent === label || fill(node, label);

  function writeGap(node, {label, long}) {
    node.classList.toggle("hk-gapm--long", long);
    if (node.textContent !== label) fill(node, label && h("span", {text: label}));
  }

  function writeBar(node, bar) {
    const kind = bar.look === "plain" ? "" : ` hk-bar--${bar.look}`;
    const name = `hk-bar${kind}`;
    if (node.dataset.look !== name) node.className = node.dataset.look = name;
    Object.assign(node.dataset, {l: String(bar.lane), who: bar.who, k: bar.keys[0]});
    node.keys = bar.keys;
    dress(node);
  }

  function writeFlag(node, flag) {
    node.className = `hk-mark${flag.tone ? ` hk-mark--${flag.tone}` : ""}${flag.side === "left" ? " hk-mark--left" : ""}`;
    if (node.dataset.who !== flag.who) node.dataset.who = flag.who ?? "";
    if (node.dataset.label === flag.label) return;
    node.dataset.label = flag.label;
    fill(node, flag.label && h("span", {}, icon(FLAG_ICONS[flag.tone], true), flag.label));
  }

  function writeNow(node, {at, play}) {
    node.classList.toggle("hk-now--play", play);
    node.classList.toggle("hk-now--first", (at / scale.span) * track.clientWidth < FIRST_PX);
    const label = clockShort(at);
    if (node.textContent !== label) fill(node, h("span", {text: label}));
  }

  const WRITE = {
    tick: writeTick,
    gap: writeGap,
    bar: writeBar,
    flag: writeFlag,
    now: writeNow,
    reign: writeReign,
  };

  function dress(node) {
    const {selected, hovered, play} = view.state;
    const playing = play.on ? (play.keys ?? []) : [];
    node.classList.toggle(
      "is-sel",
      node.keys.some((k) => k === selected || k === hovered || playing.includes(k)),
    );
  }

  const dressAll = () => track.querySelectorAll(".hk-bar").forEach(dress);

  function follow(now) {
    if (!strip.clientWidth || scale.track <= strip.clientWidth) return;
    if (now !== null && pinned) strip.scrollLeft = scale.track;
    else if (now === null && view.state.play.on && pinned) centre(view.state.play.at * scale.rate);
  }

  /** Scroll so that a playback's cursor stays inside the strip. */
  function centre(at) {
    const width = strip.clientWidth;
    if (at < strip.scrollLeft + 20 || at > strip.scrollLeft + width - 40) strip.scrollLeft = at - width / 3;
  }

  function describe() {
    if (live()) return describeLive();
    const {play} = view.state;
    const speaking = store.state.rows.filter((row) => (play.keys ?? []).includes(row.k)).map((row) => row.name);
    const words = speaking.length ? `${clockShort(play.at)}, ${speaking.join(" and ")} speaking` : clockShort(play.at);
    attributes(track, {
      role: "slider",
      tabindex: "0",
      "aria-label": "Playback position",
      "aria-valuemin": 0,
      "aria-valuemax": Math.round(play.length || seconds()),
      "aria-valuenow": Math.round(play.at),
      "aria-valuetext": words,
    });
    attributes(strip, {role: null, tabindex: null, "aria-label": null});
  }

  function describeLive() {
    const old = ["role", "tabindex", "aria-label", "aria-valuemin", "aria-valuemax", "aria-valuenow", "aria-valuetext"];
    attributes(track, Object.fromEntries(old.map((name) => [name, null])));
    attributes(strip, {role: "img", tabindex: "0"});
    if (performance.now() - said < SUMMARY_MS && strip.hasAttribute("aria-label")) return;
    said = performance.now();
    setAttr(strip, "aria-label", summary(store.state.rows, seconds()));
  }

  const attributes = (node, values) => Object.entries(values).forEach(([name, value]) => setAttr(node, name, value));

  const barUnder = (event) => event.target.closest?.(".hk-bar") ?? null;

  track.addEventListener("mouseover", (event) => view.set({hovered: barUnder(event)?.dataset.k ?? null}));
  track.addEventListener("mouseleave", () => view.set({hovered: null}));
  track.addEventListener("click", (event) => {
    const k = barUnder(event)?.dataset.k ?? null;
    if (k !== null) view.set({selected: view.state.selected === k ? null : k});
    if (!live()) playback?.seek((event.clientX - track.getBoundingClientRect().left) / scale.rate);
  });

  const STEPS = {
    ArrowLeft: -1,
    ArrowDown: -1,
    ArrowRight: 1,
    ArrowUp: 1,
    PageUp: 10,
    PageDown: -10,
    Home: -Infinity,
    End: Infinity,
  };

  track.addEventListener("keydown", (event) => {
    const step = STEPS[event.key];
    if (live() || step === undefined || !playback) return;
    const {at, length} = view.state.play;
    playback.seek(Math.min(Math.max(0, at + step), length || seconds()));
    event.preventDefault();
    event.stopPropagation();
  });

  strip.addEventListener(
    "scroll",
    () => {
      const moved = !follows(strip.scrollLeft, strip.clientWidth, strip.scrollWidth, 30);
      if (live()) pinned = !moved;
      sync(itemsOf(live() ? seconds() : null), write);
    },
    {passive: true},
  );
  strip.addEventListener("wheel", () => (pinned = live() ? pinned : false), {passive: true});
  track.addEventListener("pointerdown", () => (pinned = true));

  scope.observe(new ResizeObserver(draw)).observe(strip);

  return {el, update, dispose: () => view.set({hovered: null})};
}
