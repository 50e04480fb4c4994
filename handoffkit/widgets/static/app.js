// What one model shares among its views (store, link, sound), and one view put together from its parts.

import {copyText} from "./clipboard.js";
import {createDock} from "./dock.js";
import {createScope, h} from "./dom.js";
import {createEvents} from "./events.js";
import {createHeader} from "./header.js";
import {createLink} from "./link.js";
import {createListening} from "./listening.js";
import {createPlayback} from "./playback.js";
import {createSetup} from "./setup.js";
import {createStore, createView} from "./store.js";
import {createStrip} from "./strip.js";
import {createTabs} from "./tabs.js";
import {createTicket} from "./ticket.js";
import {createTimeline} from "./timeline.js";
import {createTranscript} from "./transcript.js";

const TICK_MS = 250;
const HIDDEN_MS = 300;

/** Before the next frame; a hidden page has no frames, and there the microphone still has to be let go in time. */
function soon(fn) {
  const once = () => {
    cancelAnimationFrame(frame);
    clearTimeout(timer);
    fn();
  };
  const frame = requestAnimationFrame(once);
  const timer = setTimeout(once, HIDDEN_MS);
}

/** Whether somebody speaks, or could; while nobody does, the clock's seconds are all that moves in a call. */
function stirs(store) {
  const {mic, rows} = store.state;
  return mic.live || rows.some((row) => row.pending || row.end > store.now());
}

/**
 * Make what all views of one model share. Called once a model, from the factory's closure.
 * @param {{model: object, sources: Object<string, string>}} parts sources: the text of every file, for the worklet
 */
export function createShared({model, sources}) {
  const scope = createScope();
  const store = createStore({schedule: soon});
  let listening = null;
  const link = createLink({model, store, scope, onMessage: (message, buffers) => listening?.message(message, buffers)});
  listening = createListening({store, send: link.send, page: link.page, worklet: sources["pcm-worklet.js"]});
  link.beat(listening.isOpen);
  const dispose = () => {
    listening.dispose();
    link.dispose();
    scope.dispose();
    store.dispose();
  };
  store.request = link.request;
  return {store, sound: listening.sound, listening, send: link.send, page: link.page, dispose};
}

/**
 * Put one view into an element.
 * @param {{shared: object, el: HTMLElement}} parts
 * @returns {function()} what takes the view away again
 */
export function mountPanel({shared, el}) {
  const scope = createScope();
  const {store} = shared;
  let changed = new Set(["all"]);
  let due = false;
  const tell = (name) => {
    changed.add(name);
    if (due) return;
    due = true;
    scope.frame(() => draw());
  };
  const view = createView(tell);
  const panel = h("section", {class: "hk-panel", tabindex: -1, "data-lm-suppress-shortcuts": "true"});
  const parts = compose({...shared, view, panel, scope});
  el.classList.add("hk");
  el.append(panel);

  function draw() {
    due = false;
    const names = changed;
    changed = new Set();
    parts.update({...store.state, view: view.state}, names);
  }

  const unsubscribe = store.subscribe((_, names) => {
    names.forEach((name) => changed.add(name));
    draw();
  });
  const sizes = scope.observe(
    new ResizeObserver(([entry]) => {
      const width = Math.round(entry.contentRect.width);
      view.set({width, narrow: width < 520});
    }),
  );
  sizes.observe(panel);
  let second = -1;
  scope.every(TICK_MS, () => {
    if (store.state.phase !== "on" || document.hidden) return;
    const now = Math.floor(store.elapsed() ?? 0);
    if (now === second && !stirs(store)) return;
    second = now;
    tell("tick");
  });
  draw();
  return () => {
    unsubscribe();
    parts.dispose();
    scope.dispose();
    panel.remove();
  };
}

function compose(base) {
  const {store, send, view, panel, scope, listening} = base;
  scope.on(panel, "pointerdown", () => store.state.phase === "on" && listening.wake());
  const playback = createPlayback({...base, scope: scope.child()});
  const make = (create, more = {}) => create({...base, playback, scope: scope.child(), ...more});
  const onHandoff = () => {
    store.guess({handing_off: true});
    send({t: "handoff"});
  };
  const copy = (text) => copyText(text, panel);
  const act = (name) => {
    if (name === "microphone") view.set({picking: true});
    else if (name === "resume") listening.resume();
    else if (name === "play") listening.wake();
    else if (name === "push") send({t: "hands_free", on: false});
    else if (name === "details") copy(JSON.stringify({error: store.state.error, phase: store.state.phase}, null, 2));
  };
  const header = make(createHeader, {onHandoff});
  const strip = make(createStrip, {act});
  const setup = make(createSetup);
  const timeline = make(createTimeline);
  const ticket = make(createTicket);
  const transcript = make(createTranscript);
  const events = make(createEvents);
  const tabs = make(createTabs, {transcript, events, copy});
  const dock = make(createDock, {
    onHandoff,
    onStart: () => {
      if (store.state.asked === "start" || store.state.phase !== "ready") return;
      store.set({asked: "start"});
      listening.start();
      send({t: "start"});
    },
    onTalk: (down) => listening.talk(down),
  });
  const body = h("div", {class: "hk-body"}, ticket.el, tabs.el);
  panel.append(header.el, strip.el, setup.el, timeline.el, body, dock.el);
  const all = [header, strip, setup, timeline, ticket, tabs, dock];

  return {
    update(state, changed) {
      const bare = ["ready", "starting"].includes(state.phase) && !state.rows.length && !state.facts.watching;
      const done = Boolean(state.ticket && (state.ticket.fields || state.ticket.error || state.ticket.attempts));
      timeline.el.hidden = body.hidden = bare;
      ticket.el.hidden = !done;
      body.classList.toggle("hk-body--split", done);
      panel.setAttribute("aria-label", `Call panel: ${state.facts.title || state.facts.agent || "call"}`);
      for (const part of all) part.update(state, changed);
      if (changed.has("snapshot") && !state.rowOf.has(view.state.selected)) view.set({selected: null, hovered: null});
      if (changed.has("view.picking") && view.state.picking) setup.focus();
    },
    dispose() {
      for (const part of [...all, transcript, events, playback]) part.dispose();
    },
  };
}
