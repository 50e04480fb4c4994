// The page's speaker: the agent's sound on the audio thread, stopped at once, and told exactly how much was played.

const ANSWER_MS = 200; // in which the audio thread says what it played; the kernel waits for a second
const ALLOWED_MS = 1000; // in which a context that may play does so
const QUEUED = 1000; // messages that wait while the worklet loads

/** A message's buffer as samples of their own: a DataView into a bigger buffer need not be aligned. */
export function samplesOf(buffer) {
  const view = ArrayBuffer.isView(buffer) ? buffer : new Uint8Array(buffer);
  const size = view.byteLength - (view.byteLength % 2);
  return new Int16Array(view.buffer.slice(view.byteOffset, view.byteOffset + size));
}

/** Words for what the audio thread says of itself. */
const WORDS = {
  underrun: (ms) => `The agent's sound came ${ms} ms late.`,
  dropped: (ms) => `${(ms / 1000).toFixed(1)} s of the agent's sound were dropped: too much waited.`,
};

export class Speaker {
  #parts;
  #port = null;
  #opening = null;
  #queue = [];
  #next = 0; // the oldest generation that is still played
  #here = -1; // the newest generation of which sound came to this page
  #played = new Map(); // generation -> samples, as last said
  #asked = new Map(); // generation -> timer of a flush
  #blocked = false;
  #failed = false; // nothing is queued any more, until it is opened again on a click
  #disposed = false;

  /**
   * @param {object} parts
   * @param {function(object)} parts.send
   * @param {function(): AudioContext} parts.context
   * @param {function(AudioContext): Promise<MessagePort>} parts.connect Connects a playback processor, returns its port.
   * @param {function(string, string)} parts.onTrouble
   */
  constructor(parts) {
    this.#parts = parts;
  }

  /** Get ready to play; on a click the browser allows it. Returns whether it can play. */
  async open() {
    this.#failed = false;
    this.#opening ??= this.#connect();
    return this.#opening;
  }

  async #connect() {
    try {
      const context = this.#parts.context();
      const port = await this.#parts.connect(context);
      await Promise.race([context.resume().catch(() => {}), new Promise((resolve) => setTimeout(resolve, ALLOWED_MS))]);
      if (this.#disposed) return false;
      port.onmessage = ({data}) => this.#said(data);
      this.#port = port;
      for (const message of this.#queue.splice(0)) this.#post(message);
      return true;
    } catch (error) {
      this.#failed = true;
      this.#opening = null;
      this.#queue = [];
      if (!this.#disposed) this.#parts.onTrouble("no-worklet", String(error?.message ?? error));
      return false;
    }
  }

  /**
   * Play sound after what is queued; of a generation that was flushed, none.
   * @param {{g: number, q: number, at?: number}} message
   * @param {ArrayBuffer|ArrayBufferView} buffer PCM16, mono, 24000 Hz.
   */
  play({g, at}, buffer) {
    if (this.#disposed || g < this.#next) return;
    this.#next = this.#here = g;
    if (this.#failed) return;
    const message = {t: "s", g, at, samples: samplesOf(buffer)};
    if (this.#port) this.#post(message);
    else this.#wait(message);
  }

  #wait(message) {
    this.open();
    this.#queue.push(message);
    if (this.#queue.length > QUEUED) this.#queue.shift();
  }

  /** Hand sound to the audio thread, unless the browser keeps the page silent: old sound must not begin later. */
  #post(message) {
    const context = this.#parts.context();
    if (context.state === "running") {
      this.#blocked = false;
      this.#port.postMessage(message, [message.samples.buffer]);
    } else if (!this.#blocked) {
      this.#blocked = true;
      this.#parts.onTrouble("blocked", "The browser plays no sound in this page before it is clicked.");
    }
  }

  /**
   * Stop generation `g` at once; `{t: "flushed", g, n}` is sent with the samples of it that were played. A page that
   * was sent none of it says nothing: another one plays, and its answer counts.
   */
  flush(g) {
    this.#next = Math.max(this.#next, g + 1);
    this.#queue = this.#queue.filter((message) => message.g > g);
    if (g !== this.#here || this.#disposed) return;
    if (!this.#port) return this.#answer(g, 0);
    this.#asked.set(g, setTimeout(() => this.#answer(g, this.#played.get(g) ?? 0), ANSWER_MS));
    this.#port.postMessage({t: "flush", g});
  }

  #answer(g, n) {
    clearTimeout(this.#asked.get(g));
    this.#asked.delete(g);
    this.#played.delete(g);
    this.#parts.send({t: "flushed", g, n});
  }

  #said(message) {
    const {t, g, n, ms} = message;
    if (t === "flushed" && this.#asked.has(g)) this.#answer(g, n);
    if (t === "played" && g >= this.#next) {
      this.#played.clear();
      this.#played.set(g, n);
      this.#parts.send({t, g, n});
    }
    if (t in WORDS) this.#parts.onTrouble(t, WORDS[t](ms));
  }

  /** Play nothing any more. */
  dispose() {
    this.#disposed = true;
    for (const timer of this.#asked.values()) clearTimeout(timer);
    this.#asked.clear();
    this.#queue = [];
    if (this.#port) this.#port.onmessage = null;
    this.#port?.postMessage({t: "close"});
    this.#port = null;
  }
}
