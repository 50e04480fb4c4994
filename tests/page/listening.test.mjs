// The microphone and the call in step: opened on a click, let go when it must be, whatever comes late.

import assert from "node:assert/strict";
import test from "node:test";

import {createListening} from "../../handoffkit/widgets/static/listening.js";
import {createStore} from "../../handoffkit/widgets/static/store.js";

/** Listening with an engine that a test answers for: `did` is what was asked of it, `answer` opens or refuses. */
function listening({controls = {microphone: "page"}, phase = "ready", facts = {}} = {}) {
  const frames = [];
  const store = createStore({now: () => 0, schedule: (fn) => frames.push(fn)});
  const frame = () => frames.splice(0).forEach((fn) => fn());
  store.trait("facts", facts);
  store.trait("phase", phase);
  store.trait("controls", controls);
  const [did, sent, waiting] = [[], [], []];
  const note =
    (name) =>
    (...given) =>
      void did.push([name, ...given].join(" "));
  let tell;
  const makeSound = (parts) => {
    tell = parts;
    return {
      open: (device) => (note("open")(device), new Promise((done) => waiting.push(done))),
      talk: (down) => (note("talk")(down), Promise.resolve()),
      ...Object.fromEntries(
        ["close", "mute", "handsFree", "resume", "dispose", "message"].map((name) => [name, note(name)]),
      ),
      devices: () => Promise.resolve([]),
      microphone: {id: "dev"},
    };
  };
  const ear = createListening({store, send: (message) => sent.push(message), page: "me", worklet: "", makeSound});
  frame();
  did.length = 0;
  const settle = () => new Promise((done) => setTimeout(done));
  const answer = async (ok) => (waiting.shift()(ok), await settle(), frame());
  return {store, ear, did, sent, answer, frame, settle, tell: () => tell, mic: () => store.state.mic};
}

test("start asks for the microphone, and sound is live when it is given", async () => {
  const {ear, did, sent, answer, mic} = listening();
  ear.start();
  assert.deepEqual(did, ["resume", "open "]);
  assert.deepEqual(sent, [{t: "microphone", id: "page"}]);
  assert.equal(mic().opening, true);
  await answer(true);
  assert.equal(mic().live, true);
  assert.equal(ear.isOpen(), true);
});

test("start with no microphone opens none", () => {
  const {ear, did} = listening({controls: {microphone: "none"}});
  ear.start();
  assert.deepEqual(did, ["resume"]);
});

test("a refusal leaves the microphone off and says why", async () => {
  const {ear, store, sent, answer, tell, mic} = listening();
  ear.start();
  tell().onTrouble("denied", "NotAllowedError");
  await answer(false);
  assert.equal(mic().live, false);
  assert.equal(store.state.trouble.id, "denied");
  assert.deepEqual(sent.at(-1), {t: "trouble", kind: "denied", detail: "NotAllowedError"});
});

test("the end of the call lets the microphone go", async () => {
  const {ear, store, did, answer, frame, mic} = listening({phase: "on"});
  ear.resume();
  await answer(true);
  store.trait("phase", "ended");
  frame();
  assert.ok(did.includes("close"));
  assert.equal(mic().live, false);
});

test("another microphone, chosen while the first was being asked for, is opened instead", async () => {
  const {ear, did, answer, mic} = listening({phase: "on"});
  ear.resume();
  ear.choose("page:two");
  await answer(true);
  await answer(true);
  assert.deepEqual(
    did.filter((one) => one.startsWith("open")),
    ["open ", "open two"],
  );
  assert.equal(mic().live, true);
});

test("none, chosen while the microphone was being asked for, stays none", async () => {
  const {ear, did, answer, mic} = listening({phase: "on"});
  ear.resume();
  ear.choose("none");
  await answer(true);
  assert.ok(did.includes("close"));
  assert.deepEqual([mic().id, mic().live], ["none", false]);
});

test("a press is told before its sound, a release after it", async () => {
  const {ear, sent, did, answer, settle} = listening({phase: "on"});
  ear.resume();
  await answer(true);
  sent.length = did.length = 0;
  ear.talk(true);
  assert.deepEqual([sent.map((one) => one.down), did], [[true], ["talk true"]]);
  const released = ear.talk(false);
  assert.deepEqual(
    sent.map((one) => one.down),
    [true],
  );
  await released;
  await settle();
  assert.deepEqual(
    sent.map((one) => one.down),
    [true, false],
  );
});

test("mute and hands-free follow the switches, and nothing is sent hands-free before the call", async () => {
  const {ear, store, did, answer, frame} = listening({controls: {microphone: "page", hands_free: true}});
  ear.start();
  await answer(true);
  assert.ok(!did.includes("handsFree true"));
  store.trait("phase", "on");
  frame();
  assert.ok(did.includes("handsFree true"));
  store.guess({muted: true});
  frame();
  assert.ok(did.includes("mute true"));
});

test("no sound, and then sound again", async () => {
  const {ear, store, answer, tell} = listening({phase: "on"});
  ear.resume();
  await answer(true);
  tell().onTrouble("zeros", "");
  assert.equal(store.state.trouble.id, "zeros");
  tell().onTrouble("sound-again", "");
  assert.equal(store.state.trouble.id, undefined);
  tell().onTrouble("underrun", "3");
  assert.equal(store.state.trouble.id, undefined);
});

test("only the page that owns the call plays the agent", () => {
  const {ear, store, did} = listening({phase: "on"});
  store.trait("controls", {microphone: "page", owner: "somebody"});
  ear.message({t: "s", g: 0, q: 0}, []);
  assert.deepEqual(did, []);
  store.trait("controls", {microphone: "page", owner: "me"});
  ear.message({t: "s", g: 0, q: 0}, []);
  assert.equal(did.length, 1);
});

test("a kernel too old for the page's sound opens nothing", () => {
  const {ear, did, mic} = listening({controls: {}, facts: {page_sound: {ok: false, words: "old"}}});
  assert.equal(mic().id, "none");
  ear.resume();
  assert.deepEqual(did, ["resume"]);
});
