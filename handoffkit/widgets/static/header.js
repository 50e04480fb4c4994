// The header: what state the call is in, for how long, who answers; Hand off, Mute and Hang up.

import {button, h, setAttr, setText} from "./dom.js";
import {OF_THE_MICROPHONE, kindOf} from "./faults.js";
import {clockShort, names} from "./format.js";

const WORDS = {ready: "Ready", starting: "Starting", on: "On call", ending: "Hanging up", ended: "Ended"};
/** The state in words (short ones for a narrow panel) and the colour of its dot ("", "on", "warn", "bad"). Pure. */
export function stateOf({phase, error, controls, facts, kernel, trouble}) {
  if (kernel === "silent")
    return {word: phase === "on" ? "On call, no answer" : "No answer", short: "No answer", dot: "warn"};
  const wrong = error?.tone === "bad" || !trouble?.id ? (error ?? {}) : trouble;
  if (phase === "on") {
    if (facts.watching) return {word: "Watching", dot: "on"};
    if (OF_THE_MICROPHONE.has(kindOf(wrong))) return {word: "On call, no sound", short: "No sound", dot: "warn"};
    if (controls.muted) return {word: "On call, muted", short: "Muted", dot: wrong.tone === "warn" ? "warn" : "on"};
    return {word: WORDS.on, dot: wrong.tone ?? "on"};
  }
  if (phase === "ended" && wrong.tone === "bad") return {word: "Ended early", dot: "bad"};
  return {word: WORDS[phase] ?? phase, dot: wrong.tone ?? ""};
}

/** Who speaks for the house: [{name, who}]; while a call is on the one who does now, afterwards all who did. Pure. */
export function agentsOf({rows, phase, facts}) {
  const all = new Map();
  for (const row of rows) if (/^a\d/.test(row.who) && row.kind === "turn") all.set(row.name, row.who);
  const list = [...all].map(([name, who]) => ({name, who}));
  if (!list.length) return [{name: facts.agent || "The agent", who: "a1"}];
  if (phase === "ended") return list;
  const last = rows.findLast((row) => /^a\d/.test(row.who));
  return [{name: last.name, who: last.who}];
}

/** Build the header. */
export function createHeader({store, send, onHandoff}) {
  const dot = h("span", {class: "hk-dot"});
  const word = h("span");
  const clock = h("span", {class: "hk-clock", "aria-hidden": true});
  const state = h("div", {class: "hk-state"}, dot, h("span", {role: "status"}, word), clock);
  const swatch = h("i", {class: "hk-sw"});
  const name = h("b");
  const short = h("span", {class: "hk-quiet"});
  const mute = button({label: "Mute", icon: "micoff", hideText: true, onClick: () => toggleMute()});
  const handoff = button({label: "Hand off", icon: "over", hideText: true, onClick: onHandoff});
  const hang = button({label: "Hang up", icon: "hang", kind: "danger", onClick: () => send({t: "hangup"})});
  const acts = h("div", {class: "hk-acts"}, handoff, mute, hang);
  const el = h("div", {class: "hk-head"}, state, h("div", {class: "hk-who-head"}, swatch, name, short), acts);

  const toggleMute = () => {
    const on = !store.state.controls.muted;
    store.guess({muted: on});
    send({t: "mute", on});
  };

  const drawState = (s) => {
    const {word: text, short: brief, dot: tone} = stateOf(s);
    setText(word, s.view.narrow ? (brief ?? text) : text);
    dot.className = tone ? `hk-dot hk-dot--${tone}` : "hk-dot";
    const agents = agentsOf(s);
    setText(name, names(agents.map((agent) => agent.name)));
    swatch.hidden = agents.length > 1;
    swatch.dataset.who = agents[0].who;
    setText(short, s.facts.who?.short ?? s.facts.who?.head ?? "");
  };

  const drawActs = (s) => {
    const live = ["on", "starting", "ending"].includes(s.phase) && !s.facts.watching;
    acts.hidden = !live;
    handoff.hidden = !s.facts.hands_to || s.phase !== "on";
    mute.hidden = s.phase !== "on";
    hang.disabled = s.phase === "ending";
    mute.classList.toggle("hk-btn--on", Boolean(s.controls.muted));
    setAttr(mute, "aria-pressed", Boolean(s.controls.muted));
    handoff.disabled = Boolean(s.controls.handing_off);
    setAttr(handoff, "aria-busy", s.controls.handing_off ? "true" : null);
    setAttr(
      handoff,
      "title",
      s.controls.handing_off ? "The handoff is on its way" : `Hand this call to ${s.facts.hands_to}`,
    );
  };

  return {
    el,
    update(s, changed) {
      const all = changed.has("all");
      const any = (...wanted) => all || wanted.some((one) => changed.has(one));
      if (any("phase", "error", "controls", "facts", "kernel", "trouble", "rows", "view.narrow")) drawState(s);
      if (any("phase", "controls", "facts")) drawActs(s);
      const seconds = store.elapsed();
      setText(clock, seconds === null || s.phase === "ready" || s.phase === "starting" ? "" : clockShort(seconds));
    },
    dispose() {},
  };
}
