// The result of a handoff: its fields, every attempt with the validator's own words, and what it took.

import {copyFrom} from "./clipboard.js";
import {fill, h, icon} from "./dom.js";
import {plural} from "./format.js";

const WORDS = 4000; // characters of one value that are shown; the copied JSON has all of them
const ITEMS = 200; // items of one list that are shown

/** Make the ticket; empty until there is one, or a handoff is under way. */
export function createTicket({store, scope}) {
  const el = h("section", {class: "hk-ticket", "aria-label": "Ticket"});
  let drawn = "";

  function update(state) {
    const busy = Boolean(state.controls.handing_off);
    const key = JSON.stringify([state.ticket, busy, state.facts.result]);
    if (key === drawn) return;
    drawn = key;
    el.setAttribute("aria-busy", String(busy));
    fill(el, ...parts(state.ticket ?? {}, busy, state));
  }

  function parts(ticket, busy, state) {
    if (busy || ticket.ok === undefined)
      return [head(titleOf(ticket, state), busy ? working(state) : null), attempts(ticket.attempts)];
    if (!ticket.ok) return failure(ticket, state);
    return [
      head(ticket.title, valid(ticket), copyButton(ticket)),
      fields(ticket.fields ?? []),
      attempts(ticket.attempts),
      numbers(ticket),
    ];
  }

  const titleOf = (ticket, state) => ticket.title || (state.facts.result ?? "").split(",")[0] || "Ticket";

  const working = (state) =>
    h("span", {
      class: "hk-quiet",
      role: "status",
      text: `Handing off${state.facts.hands_to ? ` to ${state.facts.hands_to}` : ""}…`,
    });

  const failure = (ticket, state) => [
    head(titleOf(ticket, state), h("span", {class: "hk-invalid"}, icon("x", true), "not made")),
    h("p", {class: "hk-why", role: "status", text: ticket.error || "No valid ticket came of the attempts."}),
    attempts(ticket.attempts),
    numbers(ticket),
  ];

  function copyButton(ticket) {
    const label = h("span", {text: "Copy JSON"});
    const button = h(
      "button",
      {type: "button", class: "hk-btn hk-btn--small", data: {label: "Copy JSON"}},
      icon("copy", true),
      label,
    );
    button.addEventListener("click", () => copyFrom(button, label, ticket.json ?? "", scope));
    return button;
  }

  return {el, update, dispose() {}};
}

const head = (title, ...rest) => h("div", {class: "hk-ticket-h"}, h("h3", {text: title}), rest);

const valid = (ticket) => h("span", {class: "hk-valid"}, icon("check", true), ticket.valid || "valid");

const fields = (list) => h("table", {class: "hk-fields"}, h("tbody", {}, list.map(field)));

/** A name may break after each underscore, so that a long one does not push the values aside. */
const breakable = (name) => name.split(/(?<=_)/).flatMap((part, n) => (n ? [h("wbr"), part] : [part]));

function field(one) {
  const plain = one.kind !== "choice" && one.type;
  return h(
    "tr",
    {},
    h("th", {scope: "row"}, breakable(one.name), plain ? h("small", {text: one.type}) : null),
    h("td", {}, value(one)),
  );
}

const isEmpty = (v) => v === null || v === undefined || v === "" || (Array.isArray(v) && !v.length);

function value(one) {
  if (one.kind === "choice") return choice(one);
  if (isEmpty(one.value)) return h("span", {class: "hk-quiet", text: one.kind === "list" ? "none" : "empty"});
  if (one.kind === "list" && Array.isArray(one.value)) return listed(one.value);
  if (one.kind === "json") return h("pre", {class: "hk-field-json", text: shorten(asText(one.value, 2))});
  return h("div", {class: "hk-field-text", dir: "auto", text: shorten(asText(one.value))});
}

function listed(items) {
  const shown = items.slice(0, ITEMS).map((item) => h("li", {}, h("span", {dir: "auto", text: shorten(asText(item))})));
  const rest = items.length - shown.length;
  return [h("ol", {}, shown), rest > 0 ? h("span", {class: "hk-quiet", text: `and ${rest} more`}) : null];
}

/** The chosen value boxed among the others; a value that is none of them is boxed behind them. */
function choice({value: chosen, options = []}) {
  const all = options.includes(chosen) || chosen === null || chosen === undefined ? options : [...options, chosen];
  return h(
    "div",
    {class: "hk-opt"},
    all.map((one) =>
      one === chosen ? h("b", {text: asText(one)}) : h("span", {"aria-hidden": "true", text: asText(one)}),
    ),
  );
}

const asText = (v, indent) => (typeof v === "string" ? v : (JSON.stringify(v, null, indent) ?? String(v)));

const shorten = (text) =>
  text.length > WORDS ? `${text.slice(0, WORDS)}… (${text.length - WORDS} more characters)` : text;

function attempts(list = []) {
  if (!list.length) return [];
  return [h("h4", {text: "Attempts"}), h("ol", {class: "hk-tries"}, list.map(attempt))];
}

function attempt({n, ok, words, seconds, tokens}) {
  const took = [Number.isFinite(seconds) ? `${seconds.toFixed(1)} s` : "", tokens ? plural(tokens, "token") : ""]
    .filter(Boolean)
    .join(", ");
  return h(
    "li",
    {class: `hk-try hk-try--${ok ? "ok" : "bad"}`},
    icon(ok ? "check" : "x"),
    h("span", {text: `Attempt ${n} ${ok ? "ok" : "failed"}`}),
    h("span", {class: "hk-quiet", text: took}),
    !ok && words ? h("p", {dir: "auto", text: words}) : null,
  );
}

function numbers({from_last_word: wait, tokens, cost}) {
  const shown = [
    ["From last word", Number.isFinite(wait) ? `${wait.toFixed(1)} s` : null],
    ["Tokens", tokens ? String(tokens) : null],
    ["Cost", cost || null],
  ].filter(([, words]) => words !== null);
  if (!shown.length) return null;
  return h(
    "dl",
    {class: "hk-nums"},
    shown.map(([term, words]) => h("div", {}, h("dt", {text: term}), h("dd", {text: words}))),
  );
}
