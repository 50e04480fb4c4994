// Which microphone listens and when: the reader's choice and the sound engine, kept in step with the call.

import {FOR_THE_LOG, faultOf} from "./faults.js";
import {PageSound} from "./sound.js";

const MARK = "handoffkit.microphone";
const FALL_DB = 0.8; // by which the peak's mark falls a block of 40 ms: 20 dB a second

/** A reload stops the microphone without a word; what the tab remembers tells it from a first load. */
const memory = {
  keep(open) {
    try {
      if (open) sessionStorage.setItem(MARK, "open");
      else sessionStorage.removeItem(MARK);
    } catch {
      // no storage on this page: then a reload looks like a first load, and nothing is said
    }
  },
  get open() {
    try {
      return sessionStorage.getItem(MARK) === "open";
    } catch {
      return false;
    }
  },
};

/**
 * Make the page's sound, and tie it to the store.
 * @param {{store: object, send: function, page: string, worklet: string, makeSound?: function(object): object}} parts
 *   worklet: the text of pcm-worklet.js
 */
export function createListening({store, send, page, worklet, makeSound = (parts) => new PageSound(parts)}) {
  const {state} = store;
  let device = "";
  let opening = false;
  let peak = -120;
  let before = state.phase;
  const mic = (more) => store.set({mic: {...state.mic, ...more}});
  const pages = () => state.mic.id === "page";
  const allowed = () => state.facts.page_sound?.ok !== false && state.facts.hears?.ok !== false;

  const sound = makeSound({
    send,
    worklet,
    onLevel({rms, peak: top}) {
      peak = Math.max(top, peak - FALL_DB);
      mic({db: Math.round(rms), peak: Math.round(peak)});
    },
    onTrouble(kind, detail) {
      if (kind === "no-worklet" && globalThis.isSecureContext === false) return; // "insecure" says why, and what to do
      send({t: "trouble", kind, detail: String(detail ?? "")});
      if (kind === "sound-again" && state.trouble.id === "zeros") store.set({trouble: {}});
      if (FOR_THE_LOG.has(kind)) return;
      store.set({trouble: faultOf(kind, detail)});
      if (kind === "ended") closed();
    },
    onDevices: (list) =>
      mic({devices: list.filter((one) => one.id && one.label).map(({id, label}) => ({id, name: label}))}),
  });

  const closed = () => {
    memory.keep(false);
    mic({live: false, opening: false, db: null, peak: null, device: ""});
  };

  const open = async () => {
    if (opening || !allowed()) return;
    opening = true;
    store.set({trouble: {}});
    mic({opening: true});
    const wanted = device;
    const ok = await sound.open(wanted);
    opening = false;
    if (wanted !== device && pages()) return open(); // another was chosen meanwhile
    if (!ok || !pages()) return closed();
    memory.keep(true);
    mic({live: true, opening: false, device: sound.microphone?.id ?? ""});
    arrange();
  };

  /** Bring the engine in step with the switches, and let the microphone go when the call is over. */
  const arrange = () => {
    sound.mute(Boolean(state.controls.muted));
    sound.handsFree(state.phase === "on" && Boolean(state.controls.hands_free));
    if (state.phase === "ended" && before !== "ended") stop();
    before = state.phase;
  };

  const stop = () => {
    sound.close();
    closed();
  };

  /** Take the kernel's word for which microphone is used: another view, or a cell, may have chosen. */
  const follow = () => {
    const said = state.controls.microphone;
    if (!said || said === state.mic.id) return;
    if (said !== "page" && pages()) stop();
    mic({id: said});
  };

  mic({id: state.controls.microphone ?? (allowed() ? "page" : "none")});
  if (allowed()) sound.devices()?.catch?.(() => {});
  if (state.phase === "on" && pages() && memory.open) {
    store.set({trouble: faultOf("reloaded")});
    send({t: "trouble", kind: "reloaded", detail: ""});
  }
  memory.keep(false);
  const leave = store.subscribe((_, changed) => {
    if (changed.has("controls")) follow();
    if (changed.has("controls") || changed.has("phase")) arrange();
  });

  return {
    sound,

    /** Choose "page", "page:<device>", "card:<n>" or "none"; during a call the page's is opened at once. */
    choose(choice) {
      const id = choice.startsWith("page") ? "page" : choice;
      device = id === "page" ? choice.slice("page:".length) : "";
      const was = state.mic.live || opening;
      store.guess({microphone: id});
      mic({id});
      store.set({trouble: {}});
      send({t: "microphone", id});
      if (id !== "page") stop();
      else if (was || state.phase === "on") open();
    },

    /** Open the page's microphone on a click, before the call to see its level, or again after it has stopped. */
    resume() {
      sound.resume();
      if (pages()) open();
    },

    /** Get ready on the click that starts the call: the browser allows sound now, and asks for the microphone. */
    start() {
      sound.resume();
      send({t: "microphone", id: state.mic.id});
      if (pages() && !state.mic.live) open();
    },

    /** Press or release push-to-talk: the kernel hears of a press before its sound, and of a release after it. */
    async talk(down) {
      store.guess({talking: down});
      if (down) send({t: "talk", down});
      if (pages()) await sound.talk(down);
      if (!down) send({t: "talk", down});
    },

    /** Let the browser play: on any click in the panel. */
    wake() {
      sound.resume();
      if (state.trouble.id === "blocked") store.set({trouble: {}});
    },

    /** Take the kernel's message; sound of the agent's is played by one page only. */
    message(message, buffers) {
      const {owner} = state.controls;
      if (message.t === "s" && owner && owner !== page) return;
      sound.message(message, buffers);
    },

    isOpen: () => Boolean(state.mic.live),

    dispose() {
      leave();
      sound.dispose();
      memory.keep(false);
    },
  };
}
