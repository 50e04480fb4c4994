import assert from "node:assert/strict";
import {describe, it} from "node:test";

import {
  BLOCK,
  Blocks,
  Playback,
  RATE,
  Resampler,
  Ring,
  SILENT,
  decibels,
  fromPcm16,
  level,
  mono,
  toPcm16,
} from "../../handoffkit/widgets/static/pcm-worklet.js";

const RATES = [8000, 11025, 16000, 22050, 24000, 32000, 44100, 48000, 88200, 96000, 192000];

function tone(hertz, rate, seconds, loudness = 0.5) {
  return Float32Array.from({length: rate * seconds}, (_, n) => loudness * Math.sin((2 * Math.PI * hertz * n) / rate));
}

function inBlocks(samples, size = 128) {
  const count = Math.ceil(samples.length / size);
  return Array.from({length: count}, (_, n) => samples.subarray(n * size, (n + 1) * size));
}

function resample(samples, from, to, size = 128) {
  const resampler = new Resampler(from, to);
  return Float32Array.from(inBlocks(samples, size).flatMap((block) => [...resampler.process(block)]));
}

/** The amplitude of one frequency, away from the ends. */
function amplitude(samples, hertz, rate) {
  const inner = samples.subarray(rate / 100, samples.length - rate / 100);
  const whole = inner.subarray(0, Math.floor((inner.length * hertz) / rate) * (rate / hertz));
  let [re, im] = [0, 0];
  whole.forEach((value, n) => {
    re += value * Math.cos((2 * Math.PI * hertz * n) / rate);
    im += value * Math.sin((2 * Math.PI * hertz * n) / rate);
  });
  return (2 * Math.hypot(re, im)) / whole.length;
}

/** How often a tone rises through zero; the filter's faint ringing before its first sample does not count. */
function crossings(samples) {
  let [count, low] = [0, true];
  for (const value of samples) {
    if (low && value > 0.1) count += 1;
    if (Math.abs(value) > 0.1) low = value < 0;
  }
  return count;
}

function loudest(samples) {
  return samples.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
}

describe("PCM16", () => {
  it("rounds, and clamps what is too loud", () => {
    assert.deepEqual([0, 1 / 32768, 0.4 / 32768, 0.6 / 32768, -0.6 / 32768].map(toPcm16), [0, 1, 0, 1, -1]);
    assert.deepEqual([1, 1.5, -1, -9, Infinity, -Infinity].map(toPcm16), [32767, 32767, -32768, -32768, 32767, -32768]);
    assert.equal(toPcm16(NaN), 0);
  });

  it("comes back as it was", () => {
    const all = Int16Array.from({length: 65536}, (_, n) => n - 32768);
    assert.deepEqual(Int16Array.from(fromPcm16(all), toPcm16), all);
  });
});

describe("level", () => {
  it("is in dBFS", () => {
    const sine = Int16Array.from(tone(1000, RATE, 1, 1), toPcm16);
    assert.ok(Math.abs(level(sine).rms + 3.01) < 0.01);
    assert.ok(Math.abs(level(sine).peak) < 0.01);
  });

  it("has a floor", () => {
    assert.deepEqual(level(new Int16Array(10)), {rms: SILENT, peak: SILENT});
    assert.deepEqual(level(new Int16Array(0)), {rms: SILENT, peak: SILENT});
    assert.equal(decibels(1), 0);
  });
});

describe("mono", () => {
  it("is the mean of the channels", () => {
    assert.deepEqual(mono([Float32Array.of(1, 0), Float32Array.of(0, 0.5)]), Float32Array.of(0.5, 0.25));
  });

  it("is silence where nothing is connected", () => {
    assert.deepEqual(mono([]), new Float32Array(128));
  });
});

describe("Resampler", () => {
  for (const rate of RATES) {
    it(`keeps a tone of 440 Hz from and to ${rate} Hz`, () => {
      for (const [from, to] of [[rate, RATE], [RATE, rate]]) {
        const output = resample(tone(440, from, 1), from, to);
        assert.ok(Math.abs(output.length - to) <= to / 500, `${output.length} samples of ${to}`);
        assert.ok(Math.abs(crossings(output) - 440) <= 1, `${crossings(output)} Hz`);
        assert.ok(Math.abs(amplitude(output, 440, to) - 0.5) < 0.005);
      }
    });
  }

  it("adds nothing that was not there", () => {
    for (const from of [44100, 48000]) {
      const output = resample(tone(440, from, 1), from, RATE);
      for (const other of [880, 1320, 3000, 7000, 11000]) assert.ok(amplitude(output, other, RATE) < 0.0002, `${other}`);
    }
  });

  it("lets no tone fold back", () => {
    for (const [from, hertz] of [[44100, 15000], [48000, 15000], [48000, 20000], [48000, 13000], [96000, 40000]]) {
      const output = resample(tone(hertz, from, 1), from, RATE).subarray(RATE / 100);
      assert.ok(decibels(loudest(output) / 0.5) < -65, `${hertz} Hz at ${from}: ${decibels(loudest(output) / 0.5)} dB`);
    }
  });

  it("keeps what a voice has", () => {
    for (const hertz of [100, 1000, 4000, 8000, 9000]) {
      const loss = decibels(amplitude(resample(tone(hertz, 48000, 1), 48000, RATE), hertz, RATE) / 0.5);
      assert.ok(Math.abs(loss) < 0.5, `${hertz} Hz: ${loss} dB`);
    }
  });

  it("gives the same whatever the blocks are", () => {
    const samples = tone(440, 44100, 0.3);
    const whole = resample(samples, 44100, RATE, samples.length);
    for (const size of [1, 7, 128, 1000]) assert.deepEqual(resample(samples, 44100, RATE, size), whole);
  });

  it("has no error that grows: an hour of blocks gives an hour of sound", () => {
    const resampler = new Resampler(44100, RATE);
    let [taken, given] = [0, 0];
    for (let n = 0; n < 20000; n += 1) {
      taken += 128;
      given += resampler.process(new Float32Array(128)).length;
    }
    assert.ok(Math.abs(given - (taken * 80) / 147) < 30);
    assert.ok(resampler.at < 147 * 80);
  });

  it("says exactly how much it needs", () => {
    for (const to of RATES) {
      const resampler = new Resampler(RATE, to);
      for (let n = 0; n < 50; n += 1) {
        assert.equal(resampler.process(new Float32Array(resampler.needed(128)), 128).length, 128, `to ${to}`);
      }
    }
  });

  it("takes rates that have nothing in common, within a small table", () => {
    const resampler = new Resampler(47999, RATE);
    assert.equal(resampler.phases.length, 1024);
    assert.equal(crossings(resample(tone(440, 47999, 1), 47999, RATE)), 440);
  });

  it("keeps a constant as it is, and silence silent", () => {
    const output = resample(new Float32Array(9600).fill(0.25), 48000, RATE).subarray(100);
    assert.ok(output.every((value) => Math.abs(value - 0.25) < 1e-6));
    assert.ok(resample(new Float32Array(9600), 48000, RATE).every((value) => value === 0));
  });
});

describe("Blocks", () => {
  it("are of 960 samples, and lose none", () => {
    const blocks = new Blocks();
    const samples = Float32Array.from({length: 10 * BLOCK + 5}, (_, n) => (n % 30000) / 32768);
    const full = inBlocks(samples, 77).flatMap((part) => blocks.push(part));
    assert.equal(full.length, 10);
    assert.deepEqual(Int16Array.from(full.flatMap(({samples: block}) => [...block])), Int16Array.from(samples.subarray(0, 10 * BLOCK), toPcm16));
  });

  it("do not share their memory: each is handed over", () => {
    const [first, second] = new Blocks(2).push(Float32Array.of(0, 0, 0, 0));
    assert.notEqual(first.samples.buffer, second.samples.buffer);
  });

  it("tell no sound at all from very quiet sound", () => {
    const [none, some, after] = new Blocks(2).push(Float32Array.of(0, -0, 0, 1e-9, 0, 0));
    assert.deepEqual([none.zeros, some.zeros, after.zeros], [true, false, true]);
    assert.deepEqual([none.rms, some.rms], [SILENT, SILENT]);
  });
});

describe("Ring", () => {
  it("gives what it took, in order, round its end", () => {
    const ring = new Ring(10, 4);
    const taken = [];
    for (let n = 0; n < 100; n += 3) {
      assert.equal(ring.push(Int16Array.of(n, n + 1, n + 2)), 0);
      taken.push(...ring.take(3));
    }
    assert.deepEqual(taken, Array.from({length: 102}, (_, n) => n));
  });

  it("grows with what is in it, up to its limit", () => {
    const ring = new Ring(10, 2);
    ring.push(Int16Array.of(1, 2));
    ring.take(1);
    ring.push(Int16Array.of(3, 4, 5));
    assert.deepEqual([...ring.take(9)], [2, 3, 4, 5]);
    ring.push(new Int16Array(10));
    assert.equal(ring.store.length, 10);
  });

  it("drops the oldest, and says how many", () => {
    const ring = new Ring(4);
    ring.push(Int16Array.of(1, 2, 3));
    assert.equal(ring.push(Int16Array.of(4, 5)), 1);
    assert.deepEqual([...ring.take(9)], [2, 3, 4, 5]);
    assert.equal(ring.push(Int16Array.of(1, 2, 3, 4, 5, 6)), 2);
    assert.deepEqual([...ring.take(9)], [3, 4, 5, 6]);
    assert.equal(ring.size, 0);
  });
});

/** A playback at `rate`, its messages, and a pull of `frames` render quanta that returns what came out. */
function playback(rate = RATE, limit = undefined) {
  const said = [];
  const player = new Playback(rate, (message) => said.push(message), limit);
  const pull = (frames) =>
    Float32Array.from(
      Array.from({length: frames}, () => {
        const output = new Float32Array(128);
        player.pull(output);
        return [...output];
      }).flat(),
    );
  return {player, said, pull};
}

function ramp(count, first = 1) {
  return Int16Array.from({length: count}, (_, n) => ((first + n) % 30000) + 1);
}

describe("Playback", () => {
  it("waits for 80 ms of sound, then plays every sample once", () => {
    const {player, said, pull} = playback();
    player.push(0, ramp(1919));
    assert.equal(loudest(pull(2)), 0);
    player.push(0, ramp(4000, 1920));
    const out = pull(60);
    assert.deepEqual(Int16Array.from(out.subarray(0, 5919), toPcm16), ramp(5919));
    assert.equal(loudest(out.subarray(5919)), 0);
    assert.deepEqual(said.at(-1), {t: "played", g: 0, n: 5919});
  });

  it("waits 0.2 s at most for the rest of a sound that is shorter than that", () => {
    const {player, said, pull} = playback();
    player.push(0, ramp(100));
    assert.equal(loudest(pull(36)), 0);
    assert.deepEqual(said, []);
    pull(4);
    assert.deepEqual(said, [{t: "played", g: 0, n: 100}]);
  });

  it("reports every 100 ms while it plays, and nothing while it does not", () => {
    const {player, said, pull} = playback(48000);
    player.push(0, ramp(RATE));
    pull(500);
    assert.ok(Math.abs(said.length - 10) <= 1, `${said.length} reports`);
    said.reduce((before, {n}) => {
      assert.ok(n > before);
      return n;
    }, 0);
    assert.equal(said.at(-1).n, RATE);
    pull(500);
    assert.equal(said.at(-1).n, RATE);
    assert.ok(said.length <= 11);
  });

  it("stops at once, fades, and says exactly what had left", () => {
    for (const rate of [44100, 48000]) {
      const {player, said, pull} = playback(rate);
      player.push(0, new Int16Array(5 * RATE).fill(10000));
      const before = pull(100);
      said.length = 0;
      player.flush(0);
      const [{n}] = said;
      assert.deepEqual(said, [{t: "flushed", g: 0, n}]);
      assert.ok(Math.abs(n - (before.length * RATE) / rate - 120) < 60, `${n}`);
      const after = pull(100);
      const steps = after.map((value, at) => Math.abs(value - (at ? after[at - 1] : before.at(-1))));
      assert.ok(loudest(steps) < 0.01, "a click");
      assert.equal(loudest(after.subarray(rate * 0.008)), 0);
    }
  });

  it("counts each generation from its own beginning, and drops sound of one that is over", () => {
    const {player, said, pull} = playback();
    player.push(0, ramp(9600));
    pull(10);
    player.flush(0);
    player.push(0, ramp(9600));
    player.push(1, ramp(2000));
    said.length = 0;
    pull(100);
    assert.deepEqual(said.at(-1), {t: "played", g: 1, n: 2000});
  });

  it("answers a flush that comes again with the same count, and one of an unknown generation with 0", () => {
    const {player, said, pull} = playback();
    player.push(3, ramp(9600));
    pull(10);
    [3, 3, 7, 5].forEach((g) => player.flush(g));
    assert.deepEqual(said.map(({g, n}) => [g, n]), [[3, 1400], [3, 1400], [7, 0], [5, 0]]);
  });

  it("has played nothing of what it was still waiting to begin", () => {
    const {player, said} = playback();
    player.push(0, ramp(1000));
    player.flush(0);
    assert.deepEqual(said, [{t: "flushed", g: 0, n: 0}]);
  });

  it("says an underrun when sound comes late, and none at the end of a reply", () => {
    const {player, said, pull} = playback();
    player.push(0, ramp(2400));
    pull(25);
    player.push(0, ramp(2400));
    assert.deepEqual(said.filter(({t}) => t === "underrun"), [{t: "underrun", ms: 32}]);
    assert.equal(loudest(pull(0)), 0);
    pull(200);
    player.push(0, ramp(2400));
    assert.equal(said.filter(({t}) => t === "underrun").length, 1);
    pull(40);
    assert.equal(said.at(-1).n, 7200);
  });

  it("waits for 80 ms again after an underrun", () => {
    const {player, pull} = playback();
    player.push(0, ramp(2000));
    pull(20);
    player.push(0, ramp(1000));
    assert.equal(loudest(pull(5)), 0);
    player.push(0, ramp(1000));
    assert.ok(loudest(pull(5)) > 0);
  });

  it("is bounded: the oldest goes, is said, and counts as passed", () => {
    const {player, said, pull} = playback(RATE, 4800);
    player.push(0, ramp(4800));
    player.push(0, ramp(2400));
    assert.deepEqual(said, [{t: "dropped", ms: 100}]);
    pull(100);
    assert.equal(said.at(-1).n, 7200);
  });

  it("knows where it is when it has missed the beginning, as after a reload", () => {
    const {player, said, pull} = playback();
    player.push(2, ramp(2400), 48000);
    player.push(2, ramp(2400), 50400);
    pull(100);
    assert.deepEqual(said.at(-1), {t: "played", g: 2, n: 52800});
  });

  it("keeps a tone what it was", () => {
    for (const rate of [44100, 48000, 96000]) {
      const {player, pull} = playback(rate);
      player.push(0, Int16Array.from(tone(440, RATE, 1.2), toPcm16));
      const out = pull(Math.ceil(rate / 128)).subarray(0, rate);
      assert.ok(Math.abs(crossings(out) - 440) <= 1);
      assert.ok(Math.abs(amplitude(out.subarray(rate / 10), 440, rate) - 0.5) < 0.005);
    }
  });
});
