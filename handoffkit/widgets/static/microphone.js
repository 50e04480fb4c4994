// The page's microphone: opened on a click, gated by push-to-talk and mute, sent to the kernel in blocks of 40 ms.

import {Gate, SECOND, Silence} from "./gate.js";

const BLOCK = 960; // samples
const TAIL_MS = 100; // how long the block in which the key was let go is waited for

/** What is asked of a browser: its voice processing, without which an agent hears itself. */
export const VOICE = {echoCancellation: true, noiseSuppression: true, autoGainControl: true, channelCount: 1};

/** Faults by the name of getUserMedia's error: https://www.w3.org/TR/mediacapture-streams/#dom-mediadevices-getusermedia */
const KINDS = {
  NotAllowedError: "denied",
  SecurityError: "denied",
  NotFoundError: "no-device",
  OverconstrainedError: "no-device",
  NotReadableError: "in-use",
  AbortError: "in-use",
};

/** The kind of trouble that an error of getUserMedia's is. */
export const kindOf = (error) => KINDS[error?.name] ?? "in-use";

const randomId = () => Array.from(crypto.getRandomValues(new Uint32Array(2)), (n) => n.toString(36)).join("");

/** The microphone, as `PageSound` has it. */
export class Microphone {
  #parts;
  #gate = new Gate();
  #wanted = false;
  #turn = 0; // of open() and close(): an answer to an older one is late
  #open = null;
  #released = null;
  #changed = () => this.#look();

  /**
   * @param {object} parts
   * @param {function(object, ArrayBuffer[]=)} parts.send
   * @param {function(): AudioContext} parts.context
   * @param {function(AudioContext): Promise} parts.load Loads the worklet's processors into a context.
   * @param {function({rms: number, peak: number})} parts.onLevel
   * @param {function(string, string)} parts.onTrouble
   * @param {function({id: string, label: string}[])} parts.onDevices
   * @param {object} [parts.constraints] Of the audio track; the browser's voice processing by default.
   * @param {function(): MediaDevices|undefined} [parts.media]
   * @param {function(AudioContext): AudioWorkletNode} [parts.makeNode]
   */
  constructor(parts) {
    this.#parts = {
      constraints: VOICE,
      media: () => globalThis.navigator?.mediaDevices,
      makeNode: (context) => new AudioWorkletNode(context, "handoffkit-capture"),
      ...parts,
    };
  }

  /** What is open: `{id, label, stream}`, or null. */
  get state() {
    return this.#open && {id: this.#open.id, label: this.#open.label, stream: this.#open.stream};
  }

  /** Open a device, the browser's default if none is named; returns whether it is open now. */
  async open(deviceId = "") {
    this.close();
    this.#wanted = true;
    const turn = this.#turn;
    const media = this.#parts.media();
    if (!media?.getUserMedia) return this.#fail("insecure", "The page is neither https nor localhost.");
    media.addEventListener?.("devicechange", this.#changed);
    let stream = null;
    try {
      stream = await media.getUserMedia({audio: this.#asked(deviceId)});
    } catch (error) {
      return turn === this.#turn && this.#fail(kindOf(error), `${error.name}: ${error.message}`);
    }
    if (turn !== this.#turn) return this.#late(stream);
    return this.#connect(stream, deviceId, turn);
  }

  #asked(deviceId) {
    return deviceId ? {...this.#parts.constraints, deviceId: {exact: deviceId}} : this.#parts.constraints;
  }

  async #connect(media, deviceId, turn) {
    try {
      const context = this.#parts.context();
      await this.#parts.load(context);
      if (turn !== this.#turn) return this.#late(media);
      this.#begin(context, media, deviceId);
    } catch (error) {
      stop(media);
      return turn === this.#turn && this.#fail("no-worklet", String(error?.message ?? error));
    }
    await this.devices();
    return turn === this.#turn;
  }

  #begin(context, media, deviceId) {
    const [track] = media.getAudioTracks();
    const source = context.createMediaStreamSource(media);
    const node = this.#parts.makeNode(context);
    const id = deviceId || track.getSettings?.().deviceId || "";
    const open = {id, label: track.label, stream: randomId(), media, source, node, q: 0, idle: 0, silence: new Silence()};
    this.#gate.forget();
    this.#open = open;
    track.onended = () => this.#open === open && this.#lost();
    node.port.onmessage = ({data}) => this.#open === open && this.#block(open, data);
    this.#parts.send({t: "mic", s: open.stream, rate: Math.round(context.sampleRate), name: id, label: open.label});
    source.connect(node);
    node.connect(context.destination); // it gives silence; what leads nowhere is not run in every browser
  }

  #late(media) {
    stop(media);
    if (!this.#wanted) this.#parts.onTrouble("late", "The microphone was allowed after it had been closed, and stays closed.");
    return false;
  }

  #fail(kind, detail) {
    this.close();
    this.#parts.onTrouble(kind, detail);
    return false;
  }

  #lost() {
    this.#fail("ended", this.#open.label);
    this.devices();
  }

  /** Close it: the tracks stop, the browser's light goes out, and an answer that is still to come is late. */
  close() {
    this.#turn += 1;
    this.#wanted = false;
    const open = this.#open;
    this.#open = null;
    this.#let();
    if (!open) return;
    open.node.port.onmessage = null;
    open.node.port.postMessage({t: "close"});
    open.source.disconnect();
    open.node.disconnect();
    stop(open.media);
    this.#parts.send({t: "mic_end", s: open.stream, last: open.q - 1});
  }

  #block(open, {samples, rms, peak, zeros}) {
    this.#parts.onLevel({rms, peak});
    const kind = open.silence.take(zeros);
    if (kind) this.#parts.onTrouble(kind, open.label);
    const blocks = this.#gate.take(samples);
    for (const block of blocks) this.#send(open, block);
    if (!this.#gate.tail) this.#let();
    open.idle = blocks.length ? 0 : open.idle + 1;
    if (open.idle === SECOND) this.#idle(open);
  }

  #send(open, block) {
    this.#parts.send({t: "a", s: open.stream, q: open.q, n: BLOCK}, [block.buffer]);
    open.q += 1;
  }

  /** Say once a second that it is open though nothing is sent: else the kernel would take it for gone. */
  #idle(open) {
    open.idle = 0;
    this.#parts.send({t: "a", s: open.stream, q: open.q, n: 0});
  }

  /**
   * Press or release the push-to-talk key.
   * @returns {Promise} done when what was said until now has been sent: 40 ms after a release, usually.
   */
  talk(down) {
    this.#gate.press(down);
    if (!this.#open || !this.#gate.tail) return Promise.resolve(this.#let());
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#let(), TAIL_MS);
      this.#released = () => (clearTimeout(timer), resolve());
    });
  }

  #let() {
    const released = this.#released;
    this.#released = null;
    if (released) released();
  }

  /** Mute or unmute: while muted nothing is sent, and the level still shows. */
  mute(on) {
    this.#gate.mute(on);
    if (on) this.#let();
  }

  /** Send everything (true), or only while the key is held (false, as it begins). */
  handsFree(on) {
    this.#gate.handsFree = on;
  }

  /** The microphones that the browser names; it does so only after one was allowed. */
  async devices() {
    const all = await this.#parts.media()?.enumerateDevices?.().catch(() => []) ?? [];
    const inputs = all.filter(({kind, deviceId}) => kind === "audioinput" && deviceId);
    const named = inputs.map(({deviceId, label}, at) => ({id: deviceId, label: label || `Microphone ${at + 1}`}));
    this.#parts.onDevices(named);
    return named;
  }

  /** Look again at what is plugged in: some browsers take a device away without ending its track. */
  async #look() {
    const named = await this.devices();
    const open = this.#open;
    if (!open) return;
    const gone = open.id && named.length && !named.some(({id}) => id === open.id);
    if (gone || open.media.getAudioTracks()[0].readyState === "ended") this.#lost();
  }

  /** Close it for good. */
  dispose() {
    this.close();
    this.#parts.media()?.removeEventListener?.("devicechange", this.#changed);
  }
}

function stop(media) {
  for (const track of media.getTracks()) {
    track.onended = null;
    track.stop();
  }
}
