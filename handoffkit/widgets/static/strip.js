// The strips under the header: the one thing that is wrong now and what to do, and tool calls that wait for a yes.

import {button, fill, h, icon} from "./dom.js";

const ACTS = {
  microphone: "Change microphone",
  details: "Copy details",
  push: "Use push-to-talk",
  resume: "Start it again",
  play: "Play sound",
};

const GONE = {
  id: "kernel",
  tone: "warn",
  fact: "The kernel does not answer.",
  advice:
    "It is busy with a cell, or it was restarted or stopped. If it is busy, this goes away by itself. If it was " +
    "restarted, run the notebook again. What you have typed is kept.",
  action: null,
};

/** The one thing to show: no answer from the kernel, what ended the call, this page's own trouble, the rest. Pure. */
export function worst({error, trouble, kernel}) {
  if (kernel === "silent") return GONE;
  if (error?.tone === "bad") return error;
  if (trouble?.id) return trouble;
  return error?.id ? error : null;
}

/** Build the strips. */
export function createStrip({store, send, act}) {
  const trouble = h("div", {class: "hk-alert", role: "alert"});
  const asks = h("div", {class: "hk-asks", "aria-live": "polite"});
  const el = h("div", {class: "hk-strips"}, trouble, asks);
  const asked = new Map();
  let shown = "";

  const draw = (wrong) => {
    const key = wrong ? JSON.stringify(wrong) : "";
    if (key === shown) return;
    shown = key;
    fill(trouble, wrong && strip(wrong));
  };

  const strip = (wrong) => {
    const label = ACTS[wrong.action];
    const words = h("div", {}, h("b", {text: wrong.fact}), wrong.advice ? ` ${wrong.advice}` : "");
    const go =
      label && button({label, icon: wrong.action === "details" ? "copy" : "", onClick: () => act(wrong.action, wrong)});
    return h(
      "div",
      {class: `hk-strip hk-strip--${wrong.tone === "bad" ? "bad" : "warn"}`},
      icon(wrong.tone === "bad" ? "bad" : "warn"),
      words,
      go ? h("div", {class: "hk-acts"}, go) : null,
    );
  };

  const ask = ({id, name, arguments: given}) => {
    const answer = (yes) => {
      box.querySelectorAll("button").forEach((one) => (one.disabled = true));
      send({t: "approve", id, yes});
    };
    const acts = h(
      "div",
      {class: "hk-acts"},
      button({label: "Approve", kind: "primary", onClick: () => answer(true)}),
      button({label: "Reject", onClick: () => answer(false)}),
    );
    const words = h(
      "div",
      {},
      h("b", {text: "The agent wants to call a tool."}),
      h("code", {class: "hk-call", text: `${name}(${given ?? ""})`}),
    );
    const box = h(
      "div",
      {class: "hk-strip hk-strip--ask", role: "group", "aria-label": `Tool call that waits: ${name}`},
      icon("warn"),
      words,
      acts,
    );
    return box;
  };

  const drawAsks = (approvals) => {
    const ids = new Set(approvals.map((one) => one.id));
    for (const [id, box] of asked) if (!ids.has(id)) (box.remove(), asked.delete(id));
    for (const one of approvals) {
      if (asked.has(one.id)) continue;
      asked.set(one.id, ask(one));
      asks.append(asked.get(one.id));
    }
  };

  return {
    el,
    update(s, changed) {
      const any = (...wanted) => changed.has("all") || wanted.some((one) => changed.has(one));
      if (any("error", "trouble", "kernel")) draw(worst(s));
      if (any("approvals")) drawAsks(store.state.facts.watching ? [] : (s.approvals ?? []));
    },
    dispose() {},
  };
}
