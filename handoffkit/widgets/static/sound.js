// The page's sound engine: one audio context, a microphone into the kernel and the agent's sound out of it.

import {Microphone} from "./microphone.js";
import {Speaker} from "./speaker.js";

const nothing = () => {};

/**
 * The page's microphone and speaker; one for each model, shared by its views.
 *
 *     const sound = new PageSound({send, worklet: sources["pcm-worklet.js"], onLevel, onTrouble, onDevices});
 *     button.onclick = async () => { sound.resume(); await sound.open(); };       // a click, or browsers refuse
 *     onMessage = (message, buffers) => sound.message(message, buffers);          // "s" and "flush"; others pass
 *     send({t: "talk", down: true}); sound.talk(true);                            // the key is pressed
 *     await sound.talk(false); send({t: "talk", down: false});                    // … and let go: last words first
 *     sound.mute(on); sound.handsFree(on); sound.close(); sound.dispose();
 *
 * It sends `mic`, `a`, `mic_end`, `played` and `flushed` itself. While the microphone is open and nothing is to be
 * sent it sends `{t: "a", s, q, n: 0}` once a second as a sign of life, q being the next block's number.
 *
 * Kinds of trouble, told once when they begin; who makes the engine tells the kernel:
 *
 * - of opening it: "insecure" "denied" "no-device" "in-use" "no-worklet"; "late" (allowed after close: it was stopped)
 * - of an open one: "ended" (unplugged: it is closed), "zeros" (nothing but zeros for a second), "sound-again"
 * - of the speaker: "no-worklet"; "blocked" (the page must be clicked first); for the log rather than the reader
 *   "underrun" and "dropped"
 */
export class PageSound {
  #parts;
  #context = null;
  #url = null;
  #loaded = null;
  #output = null;
  #microphone;
  #speaker;

  /**
   * @param {object} parts
   * @param {function(object, ArrayBuffer[]=)} parts.send Sends a message to the kernel.
   * @param {string} parts.worklet The text of pcm-worklet.js.
   * @param {function({rms: number, peak: number})} [parts.onLevel] 25 times a second while a microphone is open; dBFS,
   *   -120 for no sound at all.
   * @param {function(string, string)} [parts.onTrouble] A kind (see above) and its detail, for people who look for it.
   * @param {function({id: string, label: string}[])} [parts.onDevices] The microphones, whenever they change.
   * @param {object} [parts.constraints] Of the microphone's track; the browser's voice processing by default.
   * @param {function(): AudioContext} [parts.makeContext]
   * @param {function(): MediaDevices|undefined} [parts.media]
   */
  constructor(parts) {
    this.#parts = {onLevel: nothing, onTrouble: nothing, onDevices: nothing, makeContext: () => new AudioContext(), ...parts};
    const tell = {
      send: (message, buffers) => this.#parts.send(message, buffers),
      context: () => this.context(),
      onLevel: (level) => this.#parts.onLevel(level),
      onTrouble: (kind, detail) => this.#parts.onTrouble(kind, detail),
      onDevices: (devices) => this.#parts.onDevices(devices),
    };
    const own = Object.fromEntries(["media", "constraints", "makeNode"].filter((name) => parts[name]).map((name) => [name, parts[name]]));
    this.#microphone = new Microphone({...tell, ...own, load: (context) => this.#load(context)});
    this.#speaker = new Speaker({...tell, connect: parts.connect ?? ((context) => this.#connect(context))});
  }

  /** The audio context that everything in the page shares; made when it is first asked for, and resumed. */
  context() {
    this.#context ??= this.#parts.makeContext();
    if (this.#context.state === "suspended") this.#context.resume().catch(nothing);
    return this.#context;
  }

  /** The node through which the agent's sound goes to the speakers: connect a meter to it. */
  output() {
    if (!this.#output) {
      this.#output = this.context().createGain();
      this.#output.connect(this.context().destination);
    }
    return this.#output;
  }

  /** Call it on a click: the browser allows the page to play, and playing is made ready. */
  resume() {
    this.context();
    return this.#speaker.open();
  }

  #load(context) {
    if (!context.audioWorklet) return Promise.reject(new Error("this page has no audio worklets"));
    this.#loaded ??= context.audioWorklet.addModule(this.#blob()).catch((error) => {
      this.#loaded = null;
      throw error;
    });
    return this.#loaded;
  }

  #blob() {
    this.#url ??= URL.createObjectURL(new Blob([this.#parts.worklet], {type: "text/javascript"}));
    return this.#url;
  }

  async #connect(context) {
    if (!context.audioWorklet) return this.#connectWithout(context);
    await this.#load(context);
    const node = new AudioWorkletNode(context, "handoffkit-playback", {numberOfInputs: 0, outputChannelCount: [1]});
    node.connect(this.output());
    return node.port;
  }

  /** Play where a page has no worklets, as on http: by the older node, on the page's own thread. */
  async #connectWithout(context) {
    const {Playback} = await import(/* webpackIgnore: true */ this.#blob());
    const port = {onmessage: null};
    const playback = new Playback(context.sampleRate, (data) => port.onmessage?.({data}));
    const node = context.createScriptProcessor(1024, 0, 1);
    node.onaudioprocess = ({outputBuffer}) => playback.pull(outputBuffer.getChannelData(0));
    node.connect(this.output());
    port.postMessage = (message) => {
      if (message.t === "s") playback.push(message.g, message.samples, message.at);
      else if (message.t === "flush") playback.flush(message.g);
      else node.disconnect();
    };
    return port;
  }

  /**
   * Take a message of the kernel's: sound (`s`) or its end (`flush`); others are passed over.
   * @param {object} message
   * @param {(ArrayBuffer|ArrayBufferView)[]} [buffers]
   */
  message(message, buffers = []) {
    if (message.t === "s" && buffers.length) this.#speaker.play(message, buffers[0]);
    else if (message.t === "flush") this.#speaker.flush(message.g);
  }

  /** The microphone that is open: `{id, label, stream}`, or null. */
  get microphone() {
    return this.#microphone.state;
  }

  /**
   * Open a microphone on a click; one that is open is closed before.
   * @param {string} [deviceId] As onDevices gave it; the browser's default without one.
   * @returns {Promise<boolean>} whether it is open now. It never rejects: onTrouble says why not.
   */
  open(deviceId = "") {
    return this.#microphone.open(deviceId);
  }

  /** Close the microphone: its tracks stop and the browser's light goes out. An answer that comes later changes nothing. */
  close() {
    this.#microphone.close();
  }

  /**
   * Press or release push-to-talk. The 200 ms before the press are sent too; say `talk` to the kernel before a press.
   * @returns {Promise} done when everything that was said has been sent, at most 0.1 s after a release.
   */
  talk(down) {
    return this.#microphone.talk(down);
  }

  /** Mute or unmute: while muted nothing is sent, and the level still shows. */
  mute(on) {
    this.#microphone.mute(on);
  }

  /** Send everything that is heard (true), or only while the key is held (false, as it begins). */
  handsFree(on) {
    this.#microphone.handsFree(on);
  }

  /** Ask the browser for its microphones; onDevices gets them too. Without permission they have no names, or are none. */
  devices() {
    return this.#microphone.devices();
  }

  /** End everything: the microphone, the speaker, the context. */
  dispose() {
    this.#microphone.dispose();
    this.#speaker.dispose();
    this.#context?.close?.().catch(nothing);
    this.#context = null;
    if (this.#url) URL.revokeObjectURL(this.#url);
    this.#url = null;
  }
}
