// The dock: its first control is always the main act (Start call, Talk, then Hand off or Play), in the same place.

import {button, fill, h, icon, setAttr, setText} from "./dom.js";
import {OF_THE_MICROPHONE, kindOf} from "./faults.js";
import {db} from "./format.js";
import {createMeter} from "./meter.js";
import {createPlayDock} from "./playdock.js";
import {createTalk} from "./talk.js";
import {createTyped} from "./typed.js";

const GUARD_MS = 500;

/** What the main control says while no call has ended: {what, label, icon, off, why}. Pure. */
export function mainOf({phase, controls, mic, facts, kernel, asked}) {
  if (phase === "ready" && asked !== "start")
    return {
      what: "start",
      label: "Start call",
      icon: "call",
      off: kernel === "silent",
      why: kernel === "silent" ? "The kernel does not answer" : "",
    };
  if (phase === "starting" || phase === "ready")
    return {what: "wait", label: "Starting", icon: "call", off: true, why: "The call is being set up"};
  if (phase === "ending")
    return {what: "wait", label: "Hanging up", icon: "hang", off: true, why: "The last words are being waited for"};
  if (facts.hears?.ok === false)
    return {what: "none", label: "Talk", icon: "micoff", off: true, why: facts.hears.words};
  if (mic.id === "none")
    return {what: "pick", label: "Talk", icon: "mic", off: false, why: "No microphone is chosen: press to choose one"};
  if (mic.id === "page" && !mic.live)
    return mic.opening
      ? {what: "wait", label: "Opening", icon: "mic", off: true, why: "Waiting for the browser's permission"}
      : {what: "open", label: "Start microphone", icon: "mic", off: false, why: "The microphone is off"};
  if (controls.muted)
    return {
      what: "talk",
      label: "Muted",
      icon: "micoff",
      off: true,
      why: "Nothing is sent while the microphone is muted",
    };
  if (controls.hands_free)
    return {what: "talk", label: "Listening", icon: "mic", off: true, why: "Hands-free is on: just speak"};
  return {what: "talk", label: controls.talking ? "Talking" : "Talk", icon: "mic", off: false, why: ""};
}

/** Whether the microphone is open and gives nothing, by the page's word or the kernel's. Pure. */
const dumb = ({trouble, error}) => [trouble, error].some((one) => kindOf(one) === "zeros");

/** The words beside the meter. Pure. */
export function levelWords({mic, trouble, error}) {
  if (mic.id === "none") return "typing only";
  if (mic.id !== "page") return mic.db === null ? "kernel's microphone" : db(mic.db);
  if (!mic.live) return mic.opening ? "opening" : "off";
  if (dumb({trouble, error}) || mic.db === null) return "no signal";
  return db(mic.db);
}

/** Whether the agent speaks at `now` (s on the log's clock), or what it has said is still being played. Pure. */
export function speaks({rows, phase, controls}, now) {
  const last = phase === "on" ? rows.findLast((row) => row.kind === "turn" && /^a/.test(row.who)) : null;
  if (!last || last.pending || last.interrupted) return Boolean(last?.pending);
  const sounds = controls.speaker === "page" ? (last.total_ms ?? 0) / 1000 : 0; // where nobody plays it, it is read
  return now < Math.max(last.end ?? 0, last.at + sounds);
}

/** Build the dock; `onStart`, `onHandoff`, `onTalk(down)` do what the buttons say. */
export function createDock(parts) {
  const {store, send, view, panel, scope, listening, onStart, onTalk} = parts;
  let since = -Infinity;
  const guard = () => performance.now() - since > GUARD_MS;
  const main = h("button", {type: "button", class: "hk-btn hk-talk"});
  const stop = button({
    label: "Stop",
    icon: "stop",
    hideText: true,
    title: "Stop the agent's reply",
    onClick: () => send({t: "interrupt"}),
  });
  const free = h(
    "button",
    {type: "button", class: "hk-switch", role: "switch", on: {click: () => setFree()}},
    h("i"),
    "Hands-free",
  );
  const meter = createMeter();
  const level = h("span", {class: "hk-level"});
  const pick = button({
    label: "Change microphone",
    icon: "down",
    kind: "bare",
    small: true,
    hideText: true,
    onClick: () => view.set({picking: !view.state.picking}),
  });
  pick.classList.add("hk-pick-mic");
  const line = h("div", {class: "hk-meterline"}, meter.el, level, pick);
  const hint = h("p", {class: "hk-dock-hint"});
  const typed = createTyped(parts);
  const live = h("div", {class: "hk-dock"}, main, free, line, stop, typed.el, hint);
  const play = createPlayDock({...parts, guard});
  const el = h("div", {class: "hk-docks"}, live, play.el);
  let drawn = "";
  let what = "";

  const talk = createTalk({
    panel,
    talk: main,
    scope,
    press: onTalk,
    allowed: () => what === "talk" && guard() && main.getAttribute("aria-disabled") !== "true",
  });

  main.addEventListener("click", () => {
    if (!guard() || main.getAttribute("aria-disabled") === "true") return;
    if (what === "start") onStart();
    else if (what === "pick") view.set({picking: true});
    else if (what === "open") listening.resume();
  });

  const setFree = () => {
    const on = !store.state.controls.hands_free;
    talk.release();
    store.guess({hands_free: on});
    send({t: "hands_free", on});
  };

  const drawMain = (s) => {
    const now = mainOf(s);
    const key = JSON.stringify([now, s.controls.talking]);
    if (key === drawn) return;
    drawn = key;
    if (now.what !== what) since = what ? performance.now() : -Infinity;
    what = now.what;
    const space = now.what === "talk" && !now.off;
    fill(
      main,
      icon(now.icon),
      h("span", {class: "hk-label", text: now.label}),
      space ? h("kbd", {text: "hold Space"}) : null,
    );
    main.classList.toggle("hk-btn--primary", now.what === "start" || now.what === "wait");
    setAttr(main, "aria-pressed", now.what === "talk" ? Boolean(s.controls.talking) : null);
    setAttr(main, "aria-disabled", now.off ? "true" : null);
    setAttr(main, "title", now.why || null);
  };

  const drawRest = (s) => {
    const on = s.phase === "on" || s.phase === "ending";
    live.classList.toggle("hk-dock--start", !on);
    free.hidden = line.hidden = stop.hidden = !on;
    const deaf = s.mic.id === "none" || s.facts.hears?.ok === false;
    free.disabled = deaf || s.phase !== "on";
    setAttr(free, "aria-checked", Boolean(s.controls.hands_free));
    stop.disabled = !speaks(s, store.now());
    pick.hidden = s.phase !== "on";
    setAttr(pick, "aria-expanded", Boolean(view.state.picking));
  };

  const drawLevel = (s) => {
    meter.show(dumb(s) ? {...s.mic, db: null} : s.mic);
    line.classList.toggle("hk-meterline--live", s.mic.live);
    line.classList.toggle(
      "hk-meterline--bad",
      [s.trouble, s.error].some((one) => OF_THE_MICROPHONE.has(kindOf(one))),
    );
    meter.el.hidden = s.mic.id !== "page";
    setText(level, levelWords(s));
  };

  return {
    el,
    update(s, changed) {
      const watching = Boolean(s.facts.watching);
      const ended = s.phase === "ended";
      if (!ended && !watching) (drawMain(s), drawRest(s), drawLevel(s));
      if (s.phase !== "on") talk.release();
      typed.update(s, changed);
      [main, typed.el].forEach((one) => (one.hidden = watching));
      if (watching) [free, line, stop].forEach((one) => (one.hidden = true));
      hint.hidden = !watching;
      setText(hint, watching ? "This panel watches what passes on the wire; the call is made by code." : "");
      live.hidden = ended;
      play.el.hidden = !ended;
      if (ended) {
        if (drawn !== "ended") since = drawn ? performance.now() : -Infinity;
        drawn = what = "ended";
        play.update(s, changed);
      }
    },
    dispose() {
      talk.dispose();
      typed.dispose();
      play.dispose();
    },
  };
}
