// Before the call: who answers, which agents, which microphone. The microphone alone can be asked for during the call.

import {button, fill, h, icon, setAttr, setText} from "./dom.js";
import {createMeter} from "./meter.js";

/** Choices of the microphone's list: [{id, name}] of the page, the kernel's card, and none. Pure. */
export function choicesOf({facts, mic}) {
  const named = (mic.devices ?? []).map(({id, name}) => ({id: `page:${id}`, name}));
  const page =
    facts.page_sound?.ok === false ? [] : named.length ? named : [{id: "page", name: "Browser's default microphone"}];
  const card = (facts.card ?? []).map(({id, name}) => ({id, name: `${name} (kernel's sound card)`}));
  return [...page, ...card, {id: "none", name: "No microphone, typing only"}];
}

/** What stands under the microphone's list when there is no level to show, "" if there is. Pure. */
export function hintOf({facts, mic, phase}) {
  if (facts.hears?.ok === false) return facts.hears.words;
  if (mic.id.startsWith("page") && facts.page_sound?.ok === false) return facts.page_sound.words;
  if (mic.id === "none") return "Turns are typed. The replies are still heard.";
  if (mic.id.startsWith("card")) return "The microphone of the machine that the kernel runs on; no level shows here.";
  if (mic.live) return "";
  if (mic.opening) return "Waiting for the browser's permission.";
  if (phase !== "ready") return "The microphone is off.";
  return mic.devices.length ? "" : "Names appear after the browser's permission is given; Start asks for it.";
}

let made = 0;

/** Build the setup row. */
export function createSetup({store, listening, view}) {
  const answer = h("div", {class: "hk-answer"});
  const rows = h("dl", {class: "hk-rows"});
  const id = `hk-mic-${++made}`;
  const select = h("select", {class: "hk-select", id, on: {change: () => listening.choose(select.value)}});
  const meter = createMeter();
  const line = h("div", {class: "hk-meterline"}, meter.el, h("span", {text: "Speak to check"}));
  const check = button({label: "Check the microphone", small: true, onClick: () => listening.resume()});
  const hint = h("p", {class: "hk-quiet hk-mic-hint"});
  const done = button({label: "Done", small: true, onClick: () => view.set({picking: false})});
  const microphone = h(
    "section",
    {class: "hk-mic"},
    h("label", {class: "hk-lab", for: id, text: "Microphone"}),
    h("div", {class: "hk-pick"}, select, icon("down")),
    line,
    hint,
    h("div", {class: "hk-mic-acts"}, check, done),
  );
  const who = h("section", {}, h("span", {class: "hk-lab", text: "Who answers"}), answer);
  const agents = h("section", {}, h("span", {class: "hk-lab", text: "Agent"}), rows);
  const el = h("div", {class: "hk-setup"}, who, agents, microphone);

  const drawFacts = ({facts}) => {
    const {head = "", says = "", cost = ""} = facts.who ?? {};
    fill(
      answer,
      icon(facts.mode === "live" ? "cloud" : "local"),
      h("div", {}, h("b", {text: head}), says && h("p", {text: says}), cost && h("p", {class: "hk-quiet", text: cost})),
    );
    const row = (term, value) => h("div", {}, h("dt", {text: term}), h("dd", {}, value));
    fill(
      rows,
      facts.agent && row("Starts with", h("b", {text: facts.agent})),
      facts.hands_to && row("Hands over to", facts.hands_to),
      facts.result && row("Result", facts.result),
    );
  };

  const drawMic = (s) => {
    const choices = choicesOf(s);
    const now =
      [`page:${s.mic.device}`, s.mic.id].find((id) => choices.some((one) => one.id === id)) ??
      choices.find((one) => one.id.startsWith(s.mic.id))?.id ??
      "none";
    const key = JSON.stringify(choices);
    if (select.dataset.key !== key) {
      select.dataset.key = key;
      fill(
        select,
        choices.map((one) => h("option", {value: one.id, text: one.name})),
      );
    }
    select.value = now;
    const words = hintOf(s);
    setText(hint, words);
    hint.hidden = !words;
    line.hidden = !s.mic.live;
    check.hidden =
      s.mic.live || !s.mic.id.startsWith("page") || s.facts.page_sound?.ok === false || s.phase !== "ready";
    if (s.mic.live) meter.show(s.mic);
  };

  return {
    el,
    update(s, changed) {
      const any = (...wanted) => changed.has("all") || wanted.some((one) => changed.has(one));
      const before = s.phase === "ready" || s.phase === "starting";
      const picking = Boolean(view.state.picking) && s.phase === "on";
      el.hidden = s.facts.watching || !(before || picking);
      who.hidden = agents.hidden = !before;
      done.hidden = !picking;
      setAttr(el, "data-alone", picking ? "yes" : null);
      if (any("facts")) drawFacts(s);
      if (any("facts", "mic", "phase", "controls", "view.picking")) drawMic(s);
    },
    focus: () => select.focus(),
    dispose() {},
  };
}
