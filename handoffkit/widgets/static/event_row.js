// One event in the list: a line to open, and its raw JSON under it while it is open.

import {copyFrom} from "./clipboard.js";
import {fill, h, icon, setAttr, setText} from "./dom.js";
import {clockMs} from "./format.js";
import {jsonPieces} from "./sieve.js";

const parts = new WeakMap();

const MOST = 20000; // characters of one event that are shown; Copy takes all of them

/** Build the <li> of an event, empty. */
export function makeEvent() {
  const time = h("span", {class: "hk-ev-t"});
  const kind = h("span", {class: "hk-ev-name"});
  const last = h("span", {class: "hk-ev-last"});
  const words = h("span", {class: "hk-ev-x"});
  const line = h(
    "button",
    {type: "button", tabindex: "-1", "aria-expanded": "false"},
    icon("right", true),
    time,
    h("span", {class: "hk-ev-k"}, h("i", {class: "hk-sw"}), h("span", {class: "hk-ev-n"}, kind, last)),
    words,
  );
  const el = h("li", {class: "hk-ev"}, line);
  parts.set(el, {line, time, kind, last, words, json: null});
  return el;
}

/** The button of an event's line. */
export const lineOf = (el) => parts.get(el).line;

/**
 * Write an event into its <li>.
 * @param {HTMLLIElement} el
 * @param {object} event of the contract
 * @param {{open: boolean, raw: string|null, fault: string, active: boolean}} how `raw` is its JSON once it has come
 */
export function drawEvent(el, event, {open, raw, fault, active}, {since, scope}) {
  const has = parts.get(el);
  if (el.dataset.who !== event.w) el.dataset.who = event.w;
  el.classList.toggle("hk-ev--bad", Boolean(event.bad));
  setText(has.time, clockMs(since(event.at)));
  drawName(has, event.e);
  setText(has.words, event.x);
  setAttr(has.line, "aria-expanded", String(open));
  setAttr(has.line, "tabindex", active ? "0" : "-1");
  drawJson(el, has, open ? fault || raw || "Asking the kernel for it" : null, raw, scope);
}

/** Names differ at their end, so a long one is cut before its last word: "conversation.item.input….completed". */
function drawName(has, name) {
  const cutAt = Math.max(0, name.lastIndexOf("."));
  setText(has.kind, name.slice(0, cutAt));
  setText(has.last, name.slice(cutAt));
  setAttr(has.line, "title", name.length > 20 ? name : null);
}

function drawJson(el, has, text, raw, scope) {
  if (has.json && has.json.dataset.text === text) return;
  has.json?.remove();
  has.json = text === null ? null : el.appendChild(jsonBox(text, raw, scope));
}

function jsonBox(text, raw, scope) {
  const pre = h("pre", {tabindex: "0", "aria-label": "Raw JSON"});
  fill(pre, raw === null ? text : [...jsonPieces(text, MOST).map(piece), cut(text)]);
  const box = h("div", {class: "hk-json"}, raw === null ? null : copyButton(raw, scope), pre);
  box.dataset.text = text;
  return box;
}

const piece = ({key, text}) => (key ? h("i", {text}) : text);
const cut = (text) => (text.length > MOST ? `\n… ${text.length - MOST} more characters: Copy takes all of them` : null);

function copyButton(raw, scope) {
  const label = h("span", {text: "Copy"});
  const button = h(
    "button",
    {type: "button", class: "hk-btn hk-btn--small", data: {label: "Copy"}},
    icon("copy", true),
    label,
  );
  button.addEventListener("click", () => copyFrom(button, label, raw, scope));
  return button;
}
