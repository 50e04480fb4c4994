/**
 * Sound on the audio thread: a microphone's into blocks of PCM16 (mono, 24000 Hz), and such sound to the speaker.
 *
 * The context keeps the device's own rate, and both processors resample: a browser may refuse a context of 24000 Hz.
 * The classes are pure and run anywhere; the two processors at the end exist only where a worklet does.
 */

/** Hz of all sound that leaves or enters the page. */
export const RATE = 24000;
/** Samples of a block: 40 ms. */
export const BLOCK = 960;
/** dBFS of what has no sound at all. */
export const SILENT = -120;

const ZERO_CROSSINGS = 24; // of the filter, to each side: with BETA, 80 dB down 1.2 kHz beyond its edge
const BETA = 8;
const EDGE = 0.9; // of half the lower rate: 10.8 kHz, so that what could fold back is gone at 12 kHz
const MOST_PHASES = 1024;

/** A sample from -1 to 1 as PCM16: rounded, and clamped where it is louder than that holds. */
export function toPcm16(value) {
  return Math.max(-32768, Math.min(32767, Math.round(value * 32768))) || 0;
}

/** PCM16 as samples from -1 to just under 1. */
export function fromPcm16(samples) {
  return Float32Array.from(samples, (sample) => sample / 32768);
}

/** A share of full scale in dBFS, at least `SILENT`. */
export function decibels(share) {
  return share > 0 ? Math.max(20 * Math.log10(share), SILENT) : SILENT;
}

/** The level of PCM16 samples: `{rms, peak}` in dBFS. */
export function level(samples) {
  let power = 0;
  let peak = 0;
  for (const sample of samples) {
    power += sample * sample;
    peak = Math.max(peak, Math.abs(sample));
  }
  return {rms: decibels(Math.sqrt(power / Math.max(samples.length, 1)) / 32768), peak: decibels(peak / 32768)};
}

/** The mean of a frame's channels; a frame without any is `length` samples of silence. */
export function mono(channels, length = 128) {
  if (channels.length === 1) return channels[0];
  const mixed = new Float32Array(channels[0]?.length ?? length);
  for (const channel of channels) channel.forEach((value, at) => (mixed[at] += value / channels.length));
  return mixed;
}

/** The Bessel function that a Kaiser window is made of. */
function bessel(x) {
  let sum = 1;
  let term = 1;
  for (let k = 1; term > sum * 1e-12; k += 1) {
    term *= (x / (2 * k)) ** 2;
    sum += term;
  }
  return sum;
}

/** One tap: a windowed sinc, `x` input samples from its centre; `cutoff` in cycles per input sample. */
function tap(x, cutoff, half) {
  if (Math.abs(x) >= half) return 0;
  const turn = 2 * Math.PI * cutoff * x;
  const sinc = Math.abs(turn) < 1e-9 ? 1 : Math.sin(turn) / turn;
  return (sinc * bessel(BETA * Math.sqrt(1 - (x / half) ** 2))) / bessel(BETA);
}

/** The taps for one phase (0 to 1 input sample), scaled so that a constant stays what it is. */
function phase(offset, half, cutoff) {
  const taps = Float32Array.from({length: 2 * half}, (_, at) => tap(half - 1 - at + offset, cutoff, half));
  const sum = taps.reduce((total, value) => total + value, 0);
  return taps.map((value) => value / sum);
}

function gcd(a, b) {
  return b ? gcd(b, a % b) : a;
}

/**
 * From one rate to another, block by block, without an error that grows: positions are whole numbers.
 *
 * A polyphase windowed sinc, 1 ms of delay. The blocks may have any length; it remembers what it needs of the last.
 */
export class Resampler {
  /**
   * @param {number} from Hz of what goes in.
   * @param {number} to Hz of what comes out.
   */
  constructor(from, to) {
    const shared = gcd(Math.round(from), Math.round(to));
    this.up = Math.round(to) / shared;
    this.down = Math.round(from) / shared;
    const narrow = Math.min(1, to / from);
    this.half = Math.ceil(ZERO_CROSSINGS / narrow);
    const phases = Math.min(this.up, MOST_PHASES);
    this.phases = Array.from({length: phases}, (_, at) => phase(at / phases, this.half, (EDGE * narrow) / 2));
    this.reset();
  }

  /** Forgets what went in. */
  reset() {
    this.rest = new Float32Array(this.up === this.down ? 0 : 2 * this.half - 1);
    this.at = 0; // of the next sample that comes out, in parts (1/up) of an input sample, from the start of `rest`
  }

  /** How many samples must go in for `count` to come out; more may come out of them, so that `process` takes a limit. */
  needed(count) {
    if (this.up === this.down) return count;
    const last = Math.floor((this.at + (count - 1) * this.down) / this.up);
    return Math.max(last + 2 * this.half - this.rest.length, 0);
  }

  /**
   * Takes a block and returns what comes out of it, often a sample more or less than the last time.
   * @param {Float32Array} input
   * @param {number} most Samples to return at most; the others come the next time.
   * @returns {Float32Array}
   */
  process(input, most = Infinity) {
    if (this.up === this.down) return input;
    const all = new Float32Array(this.rest.length + input.length);
    all.set(this.rest);
    all.set(input, this.rest.length);
    const end = (all.length - 2 * this.half + 1) * this.up;
    const output = new Float32Array(Math.min(Math.max(Math.ceil((end - this.at) / this.down), 0), most));
    for (let n = 0; n < output.length; n += 1, this.at += this.down) output[n] = this.#sample(all);
    const done = Math.min(Math.floor(this.at / this.up), all.length);
    this.rest = all.slice(done);
    this.at -= done * this.up;
    return output;
  }

  #sample(all) {
    const start = Math.floor(this.at / this.up);
    const taps = this.phases[Math.floor(((this.at - start * this.up) * this.phases.length) / this.up)];
    let sum = 0;
    for (let k = 0; k < taps.length; k += 1) sum += taps[k] * all[start + k];
    return sum;
  }
}

/** Collects samples into blocks of PCM16 of exactly `size`, each with its level. */
export class Blocks {
  constructor(size = BLOCK) {
    this.size = size;
    this.#begin();
  }

  #begin() {
    this.block = new Int16Array(this.size);
    this.filled = 0;
    this.zeros = true;
  }

  /**
   * Takes samples (Float32Array, any length) and returns the blocks that are full now, often none.
   * @returns {{samples: Int16Array, rms: number, peak: number, zeros: boolean}[]} Levels in dBFS. `zeros` says that
   *   not one sample differed from 0, before rounding: no device that hears anything does that.
   */
  push(samples) {
    const full = [];
    for (const sample of samples) {
      this.block[this.filled] = toPcm16(sample);
      this.filled += 1;
      this.zeros = this.zeros && sample === 0;
      if (this.filled < this.size) continue;
      full.push({samples: this.block, ...level(this.block), zeros: this.zeros});
      this.#begin();
    }
    return full;
  }
}

/** A queue of PCM16 samples that holds at most `limit` of them: the oldest go. It grows as it is needed. */
export class Ring {
  constructor(limit, room = 10 * RATE) {
    this.limit = limit;
    this.store = new Int16Array(Math.min(room, limit));
    this.start = 0;
    this.size = 0;
  }

  /** Adds samples (Int16Array) and returns how many of the oldest had to go for them. */
  push(samples) {
    const kept = samples.length > this.limit ? samples.subarray(samples.length - this.limit) : samples;
    const lost = Math.max(this.size + kept.length - this.limit, 0);
    this.drop(lost);
    if (this.size + kept.length > this.store.length) this.#grow(this.size + kept.length);
    const end = (this.start + this.size) % this.store.length;
    const first = Math.min(kept.length, this.store.length - end);
    this.store.set(kept.subarray(0, first), end);
    this.store.set(kept.subarray(first), 0);
    this.size += kept.length;
    return lost + samples.length - kept.length;
  }

  /** Takes the oldest `count` samples, or all there are. */
  take(count) {
    const taken = this.#oldest(Math.min(count, this.size));
    this.drop(taken.length);
    return taken;
  }

  /** Drops the oldest `count` samples, or all there are. */
  drop(count = this.size) {
    const gone = Math.min(count, this.size);
    this.start = (this.start + gone) % this.store.length;
    this.size -= gone;
  }

  #oldest(count) {
    const oldest = new Int16Array(count);
    const first = Math.min(count, this.store.length - this.start);
    oldest.set(this.store.subarray(this.start, this.start + first));
    oldest.set(this.store.subarray(0, count - first), first);
    return oldest;
  }

  #grow(least) {
    const all = this.#oldest(this.size);
    this.store = new Int16Array(Math.min(Math.max(2 * this.store.length, least), this.limit));
    this.store.set(all);
    this.start = 0;
  }
}

const LONGEST = 300 * RATE; // samples that wait for the speaker at most: five minutes
const AHEAD = 0.08 * RATE; // samples that are waited for before sound begins, and after it ran dry
const PATIENCE = 0.2 * RATE; // samples' time after which less than that begins too: it is all there is
const FADE = 0.005 * RATE; // samples over which sound ends when it is flushed
const HICCUP = 0.5 * RATE; // samples: sound that goes on sooner than this after it ran dry was late
const REMEMBERED = 16; // generations whose counts are kept for a flush that comes late

/**
 * What waits for the speaker, what has left, and the answers to both. Times are counted in samples, never on a clock.
 *
 * `said` gets what the kernel must know: `{t: "played"|"flushed", g, n}`, where n counts the samples (24000 Hz) of
 * generation g that have left, and `{t: "underrun"|"dropped", ms}`.
 */
export class Playback {
  /**
   * @param {number} rate Hz of the context.
   * @param {(message: object) => void} said
   * @param {number} limit Samples that wait at most.
   */
  constructor(rate, said, limit = LONGEST) {
    Object.assign(this, {rate, said, ring: new Ring(limit), resampler: new Resampler(RATE, rate)});
    Object.assign(this, {g: 0, passed: 0, counts: new Map(), fading: new Int16Array(0)});
    Object.assign(this, {playing: false, waited: 0, dry: Infinity, quiet: Infinity, reported: 0});
  }

  /**
   * Queues sound of generation `g`; of one that was flushed it is dropped.
   * @param {number} g
   * @param {Int16Array} samples PCM16 at 24000 Hz.
   * @param {number} [at] How many samples of this generation come before these, if some may never have arrived here.
   */
  push(g, samples, at) {
    if (g < this.g) return;
    if (g > this.g) this.#turn(g);
    this.passed += Math.max((at ?? 0) - this.passed - this.ring.size, 0);
    if (!this.playing && this.ring.size === 0 && this.dry < HICCUP) {
      this.said({t: "underrun", ms: Math.round((this.dry / RATE) * 1000)});
    }
    const lost = this.ring.push(samples);
    this.passed += lost;
    if (lost) this.said({t: "dropped", ms: Math.round((lost / RATE) * 1000)});
  }

  /** Ends generation `g` with a short fade, and says exactly how many of its samples have left. */
  flush(g) {
    if (g >= this.g) this.#turn(g + 1, g);
    this.said({t: "flushed", g, n: this.counts.get(g) ?? 0});
  }

  /** Closes all generations before `next`; what still fades out has been counted. */
  #turn(next) {
    const last = this.playing ? this.ring.take(FADE) : new Int16Array(0);
    this.fading = last.map((sample, at) => Math.round(sample * (1 - (at + 1) / last.length)));
    this.ring.drop();
    this.counts.set(this.g, this.passed + last.length);
    if (this.counts.size > REMEMBERED) this.counts.delete(this.counts.keys().next().value);
    Object.assign(this, {g: next, passed: 0, playing: false, waited: 0, dry: Infinity, reported: 0});
  }

  /** Fills `output` (Float32Array at the context's rate) with what is next, or with silence. */
  pull(output) {
    const input = this.#next(this.resampler.needed(output.length));
    if (this.quiet > 2 * this.resampler.half + input.length) output.fill(0);
    else output.set(this.resampler.process(input, output.length));
  }

  #next(count) {
    const input = new Float32Array(count);
    const faded = this.fading.subarray(0, count);
    this.fading = this.fading.subarray(faded.length);
    input.set(fromPcm16(faded));
    const fresh = this.#start(count) ? this.ring.take(count - faded.length) : new Int16Array(0);
    input.set(fromPcm16(fresh), faded.length);
    this.#count(fresh.length, count);
    this.quiet = faded.length + fresh.length ? 0 : this.quiet + count;
    return input;
  }

  /** Whether sound may go on: enough is there, or what is there has waited in vain for more. */
  #start(count) {
    if (this.playing || this.ring.size === 0) return this.playing;
    this.waited += count;
    this.playing = this.ring.size >= AHEAD || this.waited > PATIENCE;
    return this.playing;
  }

  #count(left, count) {
    this.passed += left;
    this.dry += count;
    if (!this.playing) return;
    this.reported += count;
    const ended = this.ring.size === 0;
    if (ended) Object.assign(this, {playing: false, waited: 0, dry: 0});
    if (!ended && this.reported < RATE / 10) return;
    this.reported = 0;
    this.said({t: "played", g: this.g, n: this.passed});
  }
}

if (typeof registerProcessor === "function") {
  /** Takes a microphone and posts blocks: `{samples, rms, peak, zeros}`. Ends on `{t: "close"}`. */
  class Capture extends AudioWorkletProcessor {
    constructor() {
      super();
      this.resampler = new Resampler(sampleRate, RATE);
      this.blocks = new Blocks();
      this.port.onmessage = () => (this.closed = true);
    }

    process([channels]) {
      for (const block of this.blocks.push(this.resampler.process(mono(channels)))) {
        this.port.postMessage(block, [block.samples.buffer]);
      }
      return !this.closed;
    }
  }

  /** Plays what is posted: `{t: "s", g, samples, at?}`, `{t: "flush", g}`, `{t: "close"}`. */
  class Player extends AudioWorkletProcessor {
    constructor() {
      super();
      this.playback = new Playback(sampleRate, (message) => this.port.postMessage(message));
      this.port.onmessage = ({data}) => this.#take(data);
    }

    #take(message) {
      if (message.t === "s") this.playback.push(message.g, message.samples, message.at);
      else if (message.t === "flush") this.playback.flush(message.g);
      else this.closed = true;
    }

    process(_, [channels]) {
      if (channels.length === 0) return !this.closed;
      this.playback.pull(channels[0]);
      for (const channel of channels.slice(1)) channel.set(channels[0]);
      return !this.closed;
    }
  }

  registerProcessor("handoffkit-capture", Capture);
  registerProcessor("handoffkit-playback", Player);
}
