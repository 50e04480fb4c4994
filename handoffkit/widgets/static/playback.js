// The call heard again: the sound of its turns, fetched as the cursor nears them and scheduled as they overlapped.

import {createClips} from "./clips.js";
import {ahead, cue, pieces, plan, sounding} from "./plan.js";
import {stretch} from "./stretch.js";
import {RATE} from "./wav.js";

const AHEAD = 2; // clips fetched before they are due
const LEAD = 0.06; // s between scheduling and sound, so that no start is missed
const STEP_MS = 50;
const WAIT_S = 0.25; // how long the cursor waits for a clip that is due before it is held

/**
 * Make the playback of a call.
 * @param {{store: object, send: function, sound: object|null, view: object, scope: object}} parts `sound.context()` gives the page's
 *   AudioContext (made on a click); without it one is made here
 * @returns {{toggle: function(), seek: function(number), rate: function(number), skip: function(boolean),
 *   one: function(string): Promise, clip: function(string): Promise, output: function(AudioNode), dispose: function()}}
 */
export function createPlayback({store, send, sound, view, scope}) {
  const clips = createClips((k) => {
    const answer = store.wait((m) => m.t === "clip" && m.k === k);
    send({t: "clip", k});
    return answer;
  });
  let context = null;
  let own = false; // the context was made here, and ends here
  let started = null; // {at, clock}: where playback began, and when on the audio clock
  let playing = new Map(); // key -> the source of a clip that is scheduled
  let loading = new Set();
  let silent = new Set(); // keys that have no sound after all
  let end = null; // ends the ticking
  let only = null; // key, while a single turn is played

  const play = () => view.state.play;
  const put = (parts) => view.set({play: {...play(), ...parts}});
  const list = () =>
    pieces(store.state.rows, store.since).filter(
      (piece) => !silent.has(piece.k) && (only === null || piece.k === only),
    );
  const length = () => Math.max(store.elapsed() ?? 0, ...list().map((piece) => piece.to), 0);
  const layout = () => plan(list(), {length: length(), skip: play().skip});

  async function wake() {
    if (!context) {
      context = sound?.context?.() ?? null;
      own = !context;
      context ??= new AudioContext();
    }
    if (context.state === "suspended") await context.resume();
    return context;
  }

  async function start(at) {
    const found = list();
    if (!found.length) return put({words: "Typed call: nothing to play", ready: false, on: false});
    const from = at >= length() - 0.05 ? 0 : at;
    put({on: true, at: from, length: length(), words: "", ready: true, keys: sounding(found, from)});
    await wake();
    if (!play().on) return undefined;
    begin(from);
    return undefined;
  }

  function begin(at) {
    quiet();
    started = {at, clock: context.currentTime + LEAD, rate: play().rate};
    end ??= scope.every(STEP_MS, tick);
    tick();
  }

  /** Where the cursor is now, in seconds of the call. */
  function cursor() {
    if (!started) return play().at;
    const ran = Math.max(0, context.currentTime - started.clock) * started.rate;
    const shape = layout();
    return shape.toCall(shape.toPlayed(started.at) + ran);
  }

  function tick() {
    if (!started) return;
    const at = cursor();
    const now = list();
    const next = ahead(now, at);
    next.slice(0, AHEAD + sounding(now, at).length).forEach(schedule);
    const late = next.find((piece) => piece.from <= at + WAIT_S / 2 && loading.has(piece.k) && !playing.has(piece.k));
    if (late) return hold(Math.max(started.at, Math.min(at, late.from)));
    if (at >= stopAt() - 0.01) return stop(only === null ? length() : stopAt());
    put({at, length: length(), keys: sounding(now, at)});
  }

  const stopAt = () => {
    const last = list().at(-1)?.to ?? 0;
    if (only !== null) return last;
    const shape = layout();
    return play().skip ? shape.toCall(shape.played) : length();
  };

  /** Wait at a moment: what is due there has not come yet. */
  function hold(at) {
    put({at, keys: sounding(list(), at)});
    quiet();
    started = {at, clock: context.currentTime + LEAD, rate: play().rate};
  }

  function schedule(piece) {
    if (playing.has(piece.k) || loading.has(piece.k)) return;
    loading.add(piece.k);
    clips.get(piece.k).then(
      (clip) => {
        loading.delete(piece.k);
        if (started) sources(piece, clip);
      },
      (error) => {
        loading.delete(piece.k);
        silent.add(piece.k);
        put({words: error.message});
      },
    );
  }

  /** Schedule one clip on the audio clock; what is already over is left out. */
  function sources(piece, clip) {
    const {when, offset, seconds} = cue(piece, layout(), started);
    const rest = clip.samples.subarray(Math.round(offset * RATE), Math.round((offset + seconds) * RATE));
    if (!rest.length || playing.has(piece.k)) return void playing.set(piece.k, null);
    const samples = stretch(
      Float32Array.from(rest, (sample) => sample / 32768),
      started.rate,
    );
    const buffer = context.createBuffer(1, samples.length, RATE);
    buffer.copyToChannel(samples, 0);
    const source = new AudioBufferSourceNode(context, {buffer});
    source.connect(context.destination);
    const late = Math.max(0, context.currentTime - when);
    if (late < buffer.duration) source.start(Math.max(when, context.currentTime), late);
    playing.set(piece.k, source);
  }

  function quiet() {
    for (const source of playing.values()) {
      try {
        source?.stop();
      } catch {
        // never started: it was over before it came
      }
      source?.disconnect();
    }
    playing = new Map();
  }

  function stop(at) {
    quiet();
    started = null;
    only = null;
    end?.();
    end = null;
    put({on: false, at: Math.max(0, at), length: length(), keys: []});
  }

  const api = {
    toggle: () => (play().on ? stop(cursor()) : start(play().at)),

    seek(at) {
      const to = Math.min(Math.max(0, at), length());
      only = null;
      if (play().on && context && started) begin(to);
      put({at: to, length: length(), keys: play().on ? sounding(list(), to) : []});
    },

    rate(rate) {
      const at = cursor();
      put({rate});
      if (started) begin(at);
    },

    skip(skip) {
      const at = cursor();
      put({skip});
      if (started) begin(at);
    },

    /** Play one turn from its beginning, then stop. */
    async one(k) {
      if (play().on) stop(cursor());
      await clips.get(k);
      only = k;
      await start(list()[0]?.from ?? 0);
    },

    clip: (k) => clips.get(k),
    held: () => clips.size(),

    dispose() {
      if (play().on) stop(0);
      quiet();
      clips.clear();
      if (own) context?.close();
    },
  };
  return api;
}
