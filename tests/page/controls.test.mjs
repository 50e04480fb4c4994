// What the controls say and do, as pure functions of the state: words, main act, troubles, choices, order of loading.

import assert from "node:assert/strict";
import {readFileSync, readdirSync} from "node:fs";
import test from "node:test";

import {levelWords, mainOf, speaks} from "../../handoffkit/widgets/static/dock.js";
import {faultOf, kindOf} from "../../handoffkit/widgets/static/faults.js";
import {agentsOf, stateOf} from "../../handoffkit/widgets/static/header.js";
import {importsOf, inOrder} from "../../handoffkit/widgets/static/panel.js";
import {mainAct} from "../../handoffkit/widgets/static/playdock.js";
import {choicesOf, hintOf} from "../../handoffkit/widgets/static/setup.js";
import {worst} from "../../handoffkit/widgets/static/strip.js";
import {sumsOf} from "../../handoffkit/widgets/static/tabs.js";

const STATIC = new URL("../../handoffkit/widgets/static/", import.meta.url);
const MIC = {id: "page", live: true, opening: false, device: "", db: -20, peak: -18, devices: []};
const state = (more = {}) => ({
  phase: "on",
  error: {},
  controls: {},
  facts: {},
  kernel: "ok",
  trouble: {},
  mic: MIC,
  rows: [],
  ticket: {},
  asked: "",
  ...more,
});

test("the state is one short word, and what is wrong with it", () => {
  const words = (more) => Object.values(stateOf(state(more))).join(" | ");
  assert.equal(words({phase: "ready"}), "Ready | ");
  assert.equal(words({}), "On call | on");
  assert.equal(words({controls: {muted: true}}), "On call, muted | Muted | on");
  assert.equal(words({error: {id: "zeros-3", tone: "warn"}}), "On call, no sound | No sound | warn");
  assert.equal(words({trouble: faultOf("denied")}), "On call, no sound | No sound | warn");
  assert.equal(words({error: {id: "echo-1", tone: "warn"}}), "On call | warn");
  assert.equal(words({kernel: "silent"}), "On call, no answer | No answer | warn");
  assert.equal(words({phase: "ended"}), "Ended | ");
  assert.equal(words({phase: "ended", error: {id: "early-1", tone: "bad"}}), "Ended early | bad");
  assert.equal(words({facts: {watching: true}}), "Watching | on");
});

test("during the call the agent who speaks now is named, afterwards all who did", () => {
  const rows = [
    {who: "a1", name: "Support", kind: "turn"},
    {who: "c", name: "Caller", kind: "turn"},
    {who: "a2", name: "Delivery", kind: "turn"},
  ];
  assert.deepEqual(agentsOf(state({facts: {agent: "Support"}})), [{name: "Support", who: "a1"}]);
  assert.deepEqual(agentsOf(state({rows})), [{name: "Delivery", who: "a2"}]);
  assert.deepEqual(
    agentsOf(state({rows, phase: "ended"})).map((one) => one.name),
    ["Support", "Delivery"],
  );
});

test("the main act fits the state, and says why it cannot be done", () => {
  const main = (more) => {
    const {what, label, off} = mainOf(state(more));
    return `${what}: ${label}${off ? ", off" : ""}`;
  };
  assert.equal(main({phase: "ready"}), "start: Start call");
  assert.equal(main({phase: "ready", asked: "start"}), "wait: Starting, off");
  assert.equal(main({phase: "ready", kernel: "silent"}), "start: Start call, off");
  assert.equal(main({}), "talk: Talk");
  assert.equal(main({controls: {talking: true}}), "talk: Talking");
  assert.equal(main({controls: {hands_free: true}}), "talk: Listening, off");
  assert.equal(main({controls: {muted: true, hands_free: true}}), "talk: Muted, off");
  assert.equal(main({mic: {...MIC, live: false}}), "open: Start microphone");
  assert.equal(main({mic: {...MIC, live: false, opening: true}}), "wait: Opening, off");
  assert.equal(main({mic: {...MIC, id: "none", live: false}}), "pick: Talk");
  assert.equal(main({mic: {...MIC, id: "card:0", live: false}}), "talk: Talk");
  assert.equal(mainOf(state({facts: {hears: {ok: false, words: "Install speech."}}})).why, "Install speech.");
});

test("hand off comes before play until there is a ticket, if there is somebody to hand to", () => {
  const facts = {hands_to: "Triage"};
  assert.equal(mainAct(state({facts})), "handoff");
  assert.equal(mainAct(state({facts, ticket: {ok: true}})), "play");
  assert.equal(mainAct(state({facts, ticket: {ok: false}})), "handoff");
  assert.equal(mainAct(state({facts, ticket: {ok: true}, controls: {handing_off: true}})), "handoff");
  assert.equal(mainAct(state({facts: {hands_to: null}})), "play");
  assert.equal(mainAct(state({facts: {...facts, watching: true}})), "play");
});

test("the agent speaks while its reply is made and while it is still being heard", () => {
  const row = {kind: "turn", who: "a1", at: 10, end: 12, total_ms: 4000, pending: false, interrupted: false};
  const played = {controls: {speaker: "page"}};
  assert.equal(speaks(state({rows: [row], ...played}), 13), true);
  assert.equal(speaks(state({rows: [row], ...played}), 14.1), false);
  assert.equal(speaks(state({rows: [row]}), 11), true);
  assert.equal(speaks(state({rows: [row]}), 13), false, "a reply that nobody plays is read");
  assert.equal(speaks(state({rows: [{...row, interrupted: true}]}), 11), false);
  assert.equal(speaks(state({rows: [{...row, pending: true}]}), 99), true);
  assert.equal(speaks(state({rows: [row], phase: "ended"}), 11), false);
  assert.equal(speaks(state(), 1), false);
});

test("one trouble is shown: no answer first, then what ended the call, then the page's own", () => {
  const [warn, bad, own] = [{id: "echo-1", tone: "warn"}, {id: "early-1", tone: "bad"}, faultOf("denied")];
  assert.equal(worst(state({kernel: "silent", error: bad, trouble: own})).id, "kernel");
  assert.equal(worst(state({error: bad, trouble: own})), bad);
  assert.equal(worst(state({error: warn, trouble: own})), own);
  assert.equal(worst(state({error: warn})), warn);
  assert.equal(worst(state()), null);
});

test("every fault has a fact, advice and a button that there is", () => {
  for (const kind of [
    "insecure",
    "denied",
    "no-device",
    "in-use",
    "ended",
    "zeros",
    "no-worklet",
    "reloaded",
    "blocked",
    "unheard-of",
  ]) {
    const fault = faultOf(kind);
    assert.match(fault.fact, /^[A-Z].*\.$/);
    assert.match(fault.advice, /^[A-Z].*\.$/);
    assert.ok([null, "microphone", "resume", "play"].includes(fault.action));
    assert.equal(kindOf({id: `${kind}-12`}), kind);
  }
});

test("microphones of the page, then of the kernel, then none", () => {
  const card = [{id: "card:0", name: "USB"}];
  const ids = (more) => choicesOf(state(more)).map((one) => one.id);
  assert.deepEqual(ids({facts: {card}}), ["page", "card:0", "none"]);
  assert.deepEqual(
    ids({
      facts: {card},
      mic: {
        ...MIC,
        devices: [
          {id: "a", name: "A"},
          {id: "b", name: "B"},
        ],
      },
    }),
    ["page:a", "page:b", "card:0", "none"],
  );
  assert.deepEqual(ids({facts: {card, page_sound: {ok: false, words: "old"}}}), ["card:0", "none"]);
});

test("what stands under the microphone says why there is no level", () => {
  assert.equal(hintOf(state()), "");
  assert.equal(hintOf(state({facts: {hears: {ok: false, words: "No speech here."}}})), "No speech here.");
  assert.equal(hintOf(state({facts: {page_sound: {ok: false, words: "Old kernel."}}})), "Old kernel.");
  assert.match(hintOf(state({phase: "ready", mic: {...MIC, live: false}})), /Start asks for it/);
  assert.match(hintOf(state({mic: {...MIC, live: false, opening: true}})), /permission/);
  assert.match(hintOf(state({mic: {...MIC, id: "none", live: false}})), /typed/);
});

test("the level in words", () => {
  const words = (mic, more = {}) => levelWords(state({mic: {...MIC, ...mic}, ...more}));
  assert.deepEqual(
    [words({}), words({db: -80}), words({db: null}), words({live: false}), words({id: "none"})],
    ["\u221220 dB", "silence", "no signal", "off", "typing only"],
  );
  assert.equal(words({}, {trouble: faultOf("zeros")}), "no signal");
  assert.equal(words({}, {error: {id: "zeros-4", tone: "warn"}}), "no signal");
});

test("a simulated call shows no tokens and no price, never $0.000", () => {
  assert.deepEqual(sumsOf({gap_ms: 710, tokens: 2185, cost: "$0.019", simulated: false}), [
    "median gap 710 ms",
    "2185 tokens",
    "$0.019",
  ]);
  assert.deepEqual(sumsOf({gap_ms: null, tokens: 0, cost: "$0.000", simulated: true}), [
    "simulated, no tokens",
    "no cost",
  ]);
  assert.deepEqual(sumsOf(null), []);
});

test("files are loaded after what they import; a missing one and a circle are named", () => {
  assert.deepEqual(importsOf('import {a} from "./a.js";\nimport {b} from "./b-c.js";\nimport x from "y";'), [
    "a.js",
    "b-c.js",
  ]);
  assert.deepEqual(inOrder({"app.js": 'from "./a.js" from "./b.js"', "a.js": 'from "./b.js"', "b.js": ""}, "app.js"), [
    "b.js",
    "a.js",
    "app.js",
  ]);
  assert.throws(() => inOrder({"app.js": 'from "./a.js"'}, "app.js"), /a\.js is missing/);
  assert.throws(
    () => inOrder({"app.js": 'from "./a.js"', "a.js": 'from "./app.js"'}, "app.js"),
    /app\.js imports a\.js imports app\.js/,
  );
});

test("every file of the panel is reached, imports in the one form that the loader knows, and writes no HTML", () => {
  const sources = Object.fromEntries(
    readdirSync(STATIC)
      .filter((name) => name.endsWith(".js") && name !== "panel.js")
      .map((name) => [name, readFileSync(new URL(name, STATIC), "utf8")]),
  );
  assert.deepEqual([...inOrder(sources, "app.js"), "pcm-worklet.js"].sort(), Object.keys(sources).sort());
  for (const [name, source] of Object.entries(sources)) {
    const imports = source.match(/^import .*$/gm) ?? [];
    assert.equal(imports.length, importsOf(source).length, `${name}: ${imports}`);
    assert.doesNotMatch(source, /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function/, name);
    assert.doesNotMatch(source, /https?:\/\/(?!www\.w3\.org)/, `${name} has an address`);
  }
});
