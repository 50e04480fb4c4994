import assert from "node:assert/strict";
import {webcrypto} from "node:crypto";
import {beforeEach, describe, it} from "node:test";

import {Gate, Silence} from "../../handoffkit/widgets/static/gate.js";
import {VOICE, kindOf} from "../../handoffkit/widgets/static/microphone.js";
import {PageSound} from "../../handoffkit/widgets/static/sound.js";
import {samplesOf} from "../../handoffkit/widgets/static/speaker.js";

globalThis.crypto ??= webcrypto; // node 18 has it under another name

const tick = () => new Promise((resolve) => setImmediate(resolve));

/** A promise that the test settles. */
function answer() {
  const settled = {};
  settled.promise = new Promise((yes, no) => Object.assign(settled, {yes, no}));
  return settled;
}

class Track extends EventTarget {
  constructor(label) {
    super();
    Object.assign(this, {label, readyState: "live", onended: null});
  }

  stop() {
    this.readyState = "ended";
  }

  getSettings() {
    return {deviceId: "default"};
  }

  unplug() {
    this.stop();
    this.onended?.();
  }
}

/** What navigator.mediaDevices is to the page: it answers when the test says so. */
class Media extends EventTarget {
  constructor() {
    super();
    Object.assign(this, {asked: [], tracks: [], plugged: [{kind: "audioinput", deviceId: "default", label: "Built-in"}]});
  }

  getUserMedia(constraints) {
    const settled = answer();
    this.asked.push({constraints, ...settled});
    return settled.promise;
  }

  allow(at = this.asked.length - 1, label = "Built-in") {
    const track = new Track(label);
    this.tracks.push(track);
    this.asked[at].yes({getTracks: () => [track], getAudioTracks: () => [track]});
    return track;
  }

  refuse(name, at = this.asked.length - 1) {
    this.asked[at].no(Object.assign(new Error("no"), {name}));
  }

  async enumerateDevices() {
    return this.plugged;
  }
}

function makeContext(more = {}) {
  return {
    state: "running",
    sampleRate: 44100,
    audioWorklet: {addModule: async () => {}},
    createMediaStreamSource: () => ({connect() {}, disconnect() {}}),
    resume: async () => {},
    close: async () => {},
    ...more,
  };
}

class Port {
  posted = [];
  onmessage = null;

  postMessage(message) {
    this.posted.push(message);
  }

  say(data) {
    this.onmessage?.({data});
  }
}

let sent, troubles, levels, devices, media, context, ports, player, sound;

function make(more = {}) {
  [sent, troubles, levels, devices, ports] = [[], [], [], [], []];
  media = new Media();
  context = makeContext();
  player = new Port();
  sound = new PageSound({
    worklet: "",
    send: (message, buffers) => sent.push(buffers ? {...message, buffers} : message),
    onLevel: (level) => levels.push(level),
    onTrouble: (kind, detail) => troubles.push([kind, detail]),
    onDevices: (found) => devices.push(found),
    media: () => media,
    makeContext: () => context,
    makeNode: () => (ports.push(new Port()), {port: ports.at(-1), connect() {}, disconnect() {}}),
    connect: async () => player,
    ...more,
  });
}

const kinds = () => troubles.map(([kind]) => kind);
const said = (t) => sent.filter((message) => message.t === t);

async function opened(deviceId) {
  const opening = sound.open(deviceId);
  const track = media.allow();
  assert.equal(await opening, true);
  return track;
}

function hear(count = 1, first = 1, zeros = false) {
  for (let n = 0; n < count; n += 1) {
    ports.at(-1).say({samples: new Int16Array(960).fill(zeros ? 0 : first + n), rms: -20, peak: -10, zeros});
  }
}

const heard = () => said("a").filter(({n}) => n).map(({buffers: [buffer]}) => new Int16Array(buffer)[0]);

beforeEach(() => make());

describe("Gate", () => {
  it("sends nothing before the key is pressed, and then what was said just before too", () => {
    const gate = new Gate(2);
    assert.deepEqual([1, 2, 3].flatMap((block) => gate.take(block)), []);
    gate.press(true);
    assert.deepEqual([4, 5].map((block) => gate.take(block)), [[2, 3, 4], [5]]);
  });

  it("sends the block in which the key was let go, and no more", () => {
    const gate = new Gate(2);
    gate.press(true);
    gate.press(false);
    assert.deepEqual([1, 2].map((block) => gate.take(block)), [[1], []]);
  });

  it("sends no block twice when the key is pressed again at once", () => {
    const gate = new Gate(2);
    gate.press(true);
    gate.take(1);
    gate.press(false);
    gate.take(2);
    gate.press(true);
    assert.deepEqual(gate.take(3), [3]);
  });

  it("sends nothing of what was said while muted, also later", () => {
    const gate = new Gate(2);
    gate.take(1);
    gate.mute(true);
    gate.press(true);
    assert.deepEqual(gate.take(2), []);
    gate.mute(false);
    assert.deepEqual(gate.take(3), [3]);
    gate.mute(true);
    gate.press(false);
    gate.mute(false);
    assert.deepEqual(gate.take(4), []);
  });

  it("is open while hands-free", () => {
    const gate = new Gate(2);
    gate.handsFree = true;
    assert.deepEqual([1, 2].map((block) => gate.take(block)), [[1], [2]]);
  });
});

describe("Silence", () => {
  it("is named once, after a second of zeros, and so is the sound that comes back", () => {
    const silence = new Silence(3);
    const told = [1, 1, 0, 1, 1, 1, 1, 1, 0, 0, 1].map((zeros) => silence.take(Boolean(zeros)));
    assert.deepEqual(told, [null, null, null, null, null, "zeros", null, null, "sound-again", null, null]);
  });
});

describe("opening a microphone", () => {
  it("asks for the browser's voice processing, and begins a stream", async () => {
    await opened();
    assert.deepEqual(media.asked[0].constraints, {audio: VOICE});
    assert.ok(VOICE.echoCancellation && VOICE.noiseSuppression && VOICE.autoGainControl);
    const [begin] = said("mic");
    assert.deepEqual(begin, {t: "mic", s: begin.s, rate: 44100, name: "default", label: "Built-in"});
    assert.ok(begin.s.length > 6);
    assert.deepEqual(sound.microphone, {id: "default", label: "Built-in", stream: begin.s});
    assert.deepEqual(devices.at(-1), [{id: "default", label: "Built-in"}]);
  });

  it("takes exactly the device that was chosen", async () => {
    await opened("usb");
    assert.deepEqual(media.asked[0].constraints.audio.deviceId, {exact: "usb"});
    assert.equal(said("mic")[0].name, "usb");
  });

  it("says that the page is insecure", async () => {
    make({media: () => undefined});
    assert.equal(await sound.open(), false);
    assert.deepEqual(kinds(), ["insecure"]);
    assert.deepEqual(await sound.devices(), []);
  });

  for (const [name, kind] of Object.entries({
    NotAllowedError: "denied",
    SecurityError: "denied",
    NotFoundError: "no-device",
    OverconstrainedError: "no-device",
    NotReadableError: "in-use",
    AbortError: "in-use",
    SomethingNew: "in-use",
  })) {
    it(`says ${kind} for ${name}`, async () => {
      const opening = sound.open();
      media.refuse(name);
      assert.equal(await opening, false);
      assert.deepEqual(troubles, [[kind, `${name}: no`]]);
      assert.equal(kindOf({name}), kind);
      assert.deepEqual(sent, []);
    });
  }

  it("stops the tracks of a permission that comes after Stop, and says late", async () => {
    const opening = sound.open();
    sound.close();
    const track = media.allow();
    assert.equal(await opening, false);
    assert.equal(track.readyState, "ended");
    assert.deepEqual(kinds(), ["late"]);
    assert.deepEqual(sent, []);
    assert.equal(sound.microphone, null);
  });

  it("says nothing of a refusal after Stop", async () => {
    const opening = sound.open();
    sound.close();
    media.refuse("NotAllowedError");
    assert.equal(await opening, false);
    assert.deepEqual(kinds(), []);
  });

  it("keeps only the newest choice, and that is no late one", async () => {
    const first = sound.open("a");
    const second = sound.open("b");
    const kept = media.allow(1);
    const dropped = media.allow(0);
    assert.deepEqual(await Promise.all([first, second]), [false, true]);
    assert.deepEqual([kept.readyState, dropped.readyState], ["live", "ended"]);
    assert.deepEqual(kinds(), []);
    assert.deepEqual(said("mic").map(({name}) => name), ["b"]);
  });

  it("stops the tracks if it is closed while the worklet loads", async () => {
    const loading = answer();
    context.audioWorklet.addModule = () => loading.promise;
    const opening = sound.open();
    const track = media.allow();
    await tick();
    sound.close();
    loading.yes();
    assert.equal(await opening, false);
    assert.equal(track.readyState, "ended");
    assert.deepEqual([kinds(), sent], [["late"], []]);
  });

  it("stops the tracks if there are no worklets, and tries again the next time", async () => {
    context.audioWorklet.addModule = async () => assert.fail("forbidden");
    const opening = sound.open();
    const track = media.allow();
    assert.equal(await opening, false);
    assert.equal(track.readyState, "ended");
    assert.deepEqual(troubles, [["no-worklet", "forbidden"]]);
    context.audioWorklet.addModule = async () => {};
    await opened();
  });
});

describe("an open microphone", () => {
  it("numbers its blocks, and ends with the last number", async () => {
    const track = await opened();
    sound.handsFree(true);
    hear(3);
    sound.close();
    const [{s}] = said("mic");
    assert.deepEqual(said("a").map((message) => [message.s, message.q, message.n]), [[s, 0, 960], [s, 1, 960], [s, 2, 960]]);
    assert.deepEqual(said("a").map(({buffers}) => buffers[0].byteLength), [1920, 1920, 1920]);
    assert.deepEqual(sent.at(-1), {t: "mic_end", s, last: 2});
    assert.equal(track.readyState, "ended");
    assert.deepEqual(ports[0].posted, [{t: "close"}]);
  });

  it("begins another stream when it is opened again, with numbers from 0", async () => {
    await opened();
    sound.handsFree(true);
    hear(2);
    await opened("usb");
    hear(1);
    const [first, second] = said("mic").map(({s}) => s);
    assert.notEqual(first, second);
    assert.deepEqual(said("mic_end"), [{t: "mic_end", s: first, last: 1}]);
    assert.deepEqual(said("a").map(({s, q}) => [s, q]), [[first, 0], [first, 1], [second, 0]]);
  });

  it("shows its level, and sends nothing while no key is pressed", async () => {
    await opened();
    hear(3);
    assert.deepEqual(levels, Array(3).fill({rms: -20, peak: -10}));
    assert.deepEqual(said("a"), []);
  });

  it("says once a second that it is open though nothing is sent", async () => {
    await opened();
    sound.handsFree(true);
    hear(2);
    sound.mute(true);
    hear(60);
    const [{s}] = said("mic");
    assert.deepEqual(said("a").slice(2), Array(2).fill({t: "a", s, q: 2, n: 0}));
  });

  it("sends the 200 ms before the key was pressed, and the block in which it was let go", async () => {
    await opened();
    hear(8, 1);
    sound.talk(true);
    hear(2, 9);
    const done = sound.talk(false);
    hear(3, 11);
    await done;
    assert.deepEqual(heard(), [4, 5, 6, 7, 8, 9, 10, 11]);
    assert.deepEqual(said("a").map(({q}) => q), [0, 1, 2, 3, 4, 5, 6, 7]);
  });

  it("does not wait for a last block that does not come", async () => {
    await opened();
    sound.talk(true);
    await sound.talk(false);
    sound.talk(true);
    const released = sound.talk(false);
    sound.close();
    await released;
    await sound.talk(true);
    await sound.talk(false);
    assert.deepEqual(heard(), []);
  });

  it("sends nothing while muted, though the key is pressed", async () => {
    await opened();
    sound.mute(true);
    sound.talk(true);
    hear(3);
    assert.deepEqual([said("a"), levels.length], [[], 3]);
    sound.mute(false);
    hear(1, 9);
    assert.deepEqual(heard(), [9]);
  });

  it("says zeros after a second of them, and sound-again", async () => {
    await opened();
    hear(24, 0, true);
    assert.deepEqual(kinds(), []);
    hear(30, 0, true);
    hear(2);
    assert.deepEqual(kinds(), ["zeros", "sound-again"]);
  });

  it("is closed and named when its device is unplugged", async () => {
    const track = await opened();
    sound.handsFree(true);
    hear(2);
    media.plugged = [];
    track.unplug();
    await tick();
    assert.deepEqual(troubles, [["ended", "Built-in"]]);
    assert.deepEqual(sent.at(-1), {t: "mic_end", s: said("mic")[0].s, last: 1});
    assert.deepEqual([sound.microphone, devices.at(-1)], [null, []]);
  });

  it("is closed and named when its device is gone from the list, though its track did not end", async () => {
    media.plugged = [{kind: "audioinput", deviceId: "usb", label: ""}, {kind: "audiooutput", deviceId: "x", label: "x"}];
    await opened("usb");
    assert.deepEqual(devices.at(-1), [{id: "usb", label: "Microphone 1"}]);
    media.plugged = [{kind: "audioinput", deviceId: "other", label: "Other"}];
    media.dispatchEvent(new Event("devicechange"));
    await tick();
    assert.deepEqual([kinds(), devices.at(-1)], [["ended"], [{id: "other", label: "Other"}]]);
  });

  it("goes on when another device comes", async () => {
    await opened();
    media.plugged = [...media.plugged, {kind: "audioinput", deviceId: "usb", label: "USB"}];
    media.dispatchEvent(new Event("devicechange"));
    await tick();
    assert.deepEqual([kinds(), devices.at(-1).length], [[], 2]);
  });

  it("passes over what the worklet says after it was closed", async () => {
    await opened();
    sound.handsFree(true);
    const [port] = ports;
    sound.close();
    sent.length = 0;
    port.say({samples: new Int16Array(960), rms: -20, peak: -10, zeros: false});
    sound.close();
    assert.deepEqual([sent, levels], [[], []]);
  });
});

describe("the speaker", () => {
  const pcm = (...values) => Int16Array.from(values).buffer;
  const play = (g, q = 0, at = undefined) => sound.message({t: "s", g, q, at}, [pcm(g, q)]);

  it("copies samples out of any view", () => {
    const bytes = new Uint8Array([9, 1, 0, 2, 0, 3]);
    assert.deepEqual(samplesOf(new DataView(bytes.buffer, 1, 4)), Int16Array.of(1, 2));
    assert.deepEqual(samplesOf(new DataView(bytes.buffer, 1, 5)), Int16Array.of(1, 2));
    assert.deepEqual(samplesOf(pcm(5, 6)), Int16Array.of(5, 6));
  });

  it("keeps the order of what comes while it gets ready", async () => {
    play(0, 0, 0);
    play(0, 1, 2);
    await tick();
    play(0, 2, 4);
    assert.deepEqual(player.posted.map(({g, at, samples}) => [g, at, samples[1]]), [[0, 0, 0], [0, 2, 1], [0, 4, 2]]);
  });

  it("reports what was played", async () => {
    await sound.resume();
    play(0);
    player.say({t: "played", g: 0, n: 2400});
    assert.deepEqual(sent, [{t: "played", g: 0, n: 2400}]);
  });

  it("passes a flush on at once, and its exact answer back", async () => {
    await sound.resume();
    play(0);
    sound.message({t: "flush", g: 0});
    assert.deepEqual(player.posted.at(-1), {t: "flush", g: 0});
    player.say({t: "flushed", g: 0, n: 1234});
    player.say({t: "flushed", g: 0, n: 1234});
    player.say({t: "played", g: 0, n: 5000});
    assert.deepEqual(sent, [{t: "flushed", g: 0, n: 1234}]);
  });

  it("drops sound of a generation that is over", async () => {
    await sound.resume();
    sound.message({t: "flush", g: 0});
    play(0);
    play(1);
    assert.deepEqual(player.posted.filter(({t}) => t === "s").map(({g}) => g), [1]);
  });

  it("leaves the answer to a flush to the page that plays", async () => {
    await sound.resume();
    play(0);
    sound.message({t: "flush", g: 1});
    sound.message({t: "flush", g: 2});
    play(2);
    assert.deepEqual([sent, player.posted.length], [[], 1]);
    make();
    sound.message({t: "flush", g: 0});
    assert.deepEqual(sent, []);
  });

  it("answers a flush that comes before it is ready: nothing was played", async () => {
    play(0);
    sound.message({t: "flush", g: 0});
    play(1);
    assert.deepEqual(sent, [{t: "flushed", g: 0, n: 0}]);
    await tick();
    assert.deepEqual(player.posted.map(({g}) => g), [1]);
  });

  it("answers by what it knows if the audio thread is silent", async () => {
    await sound.resume();
    play(0);
    player.say({t: "played", g: 0, n: 2400});
    sound.message({t: "flush", g: 0});
    await new Promise((resolve) => setTimeout(resolve, 300));
    assert.deepEqual(sent.at(-1), {t: "flushed", g: 0, n: 2400});
  });

  it("says once that the browser keeps the page silent, and plays no old sound later", async () => {
    await sound.resume();
    context.state = "suspended";
    play(0, 0);
    play(0, 1);
    context.state = "running";
    play(0, 2);
    assert.deepEqual(kinds(), ["blocked"]);
    assert.deepEqual(player.posted.map(({samples}) => samples[1]), [2]);
  });

  it("says why there is no sound, queues none, and tries again on a click", async () => {
    let fails = true;
    make({connect: async () => (fails ? assert.fail("no worklet") : player)});
    play(0);
    await tick();
    play(0);
    sound.message({t: "flush", g: 0});
    assert.deepEqual(troubles, [["no-worklet", "no worklet"]]);
    assert.deepEqual(sent, [{t: "flushed", g: 0, n: 0}]);
    fails = false;
    assert.equal(await sound.resume(), true);
    play(1);
    assert.equal(player.posted.length, 1);
  });

  it("passes on in words what the audio thread says of itself", async () => {
    await sound.resume();
    player.say({t: "underrun", ms: 37});
    player.say({t: "dropped", ms: 12000});
    assert.deepEqual(troubles, [
      ["underrun", "The agent's sound came 37 ms late."],
      ["dropped", "12.0 s of the agent's sound were dropped: too much waited."],
    ]);
  });

  it("passes over messages that are not for it", () => {
    sound.message({t: "rows", rows: []});
    sound.message({t: "s", g: 0, q: 0});
    assert.deepEqual([sent, player.posted], [[], []]);
  });
});

describe("the end", () => {
  it("closes the microphone, the speaker and the context, also twice", async () => {
    const track = await opened();
    await sound.resume();
    let closed = 0;
    context.close = async () => (closed += 1);
    sound.dispose();
    sound.dispose();
    sound.message({t: "s", g: 0, q: 0}, [new ArrayBuffer(4)]);
    media.dispatchEvent(new Event("devicechange"));
    await tick();
    assert.deepEqual([track.readyState, closed, player.posted], ["ended", 1, [{t: "close"}]]);
    assert.equal(sent.at(-1).t, "mic_end");
    assert.equal(devices.length, 1);
  });

  it("makes one context for all, when it is first asked for", () => {
    let made = 0;
    make({makeContext: () => ((made += 1), makeContext({state: "suspended"}))});
    assert.equal(made, 0);
    assert.equal(sound.context(), sound.context());
    assert.equal(made, 1);
  });
});
