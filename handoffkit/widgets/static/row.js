// One row of the transcript: built once for its turn, written again in place whenever its words change.

import {LONG_MS} from "./bars.js";
import {h, icon, fill, setAttr, setText} from "./dom.js";
import {clock, ms} from "./format.js";
import {heardShare, interruption, remark, toolResult} from "./words.js";

const parts = new WeakMap();

const isTurn = (row) => row.kind === "turn" || row.kind === "tool";

/**
 * Build the <li> of a row, empty: `drawRow` writes it.
 * @param {object} row of the contract
 * @returns {HTMLLIElement}
 */
export function makeRow(row) {
  return isTurn(row) ? makeTurn() : makeOver();
}

function makeTurn() {
  const time = h("span", {class: "hk-t"});
  const name = h("span", {class: "hk-name"});
  const tag = h("span", {class: "hk-tag", hidden: true});
  const say = h("div", {class: "hk-say", dir: "auto"});
  const gap = h("span", {class: "hk-gap"});
  const tok = h("span", {class: "hk-tok"});
  const who = h("span", {class: "hk-who"}, h("i", {class: "hk-sw"}), name, tag);
  const el = h("li", {class: "hk-turn"}, time, who, say, gap, tok);
  parts.set(el, {time, name, tag, say, gap, tok, said: ""});
  return el;
}

function makeOver() {
  const time = h("span", {class: "hk-t"});
  const text = h("b");
  const note = h("span");
  const el = h("li", {class: "hk-over"}, time, text, note);
  parts.set(el, {time, text, note, said: ""});
  return el;
}

/**
 * Write a row into its <li>.
 * @param {HTMLLIElement} el made by `makeRow`
 * @param {object} row
 * @param {function(number): number} since log clock to seconds of the call
 * @param {boolean} tokens show token counts (a simulated call has none)
 */
export function drawRow(el, row, since, tokens) {
  const has = parts.get(el);
  setText(has.time, row.seeded ? "" : clock(since(row.at)));
  if (isTurn(row)) drawTurn(el, has, row, tokens);
  else drawOver(el, has, row);
}

function drawTurn(el, has, row, tokens) {
  if (el.dataset.who !== row.who) el.dataset.who = row.who;
  el.classList.toggle("hk-tool", row.kind === "tool");
  setText(has.name, row.name);
  setAttr(has.name, "title", row.name.length > 18 ? row.name : null);
  const tag = row.typed ? "typed" : row.seeded ? "before" : "";
  setText(has.tag, tag);
  has.tag.hidden = !tag;
  labelled(has.gap, Number.isFinite(row.gap_ms) ? ["gap ", ms(row.gap_ms), ""] : null);
  has.gap.classList.toggle("is-long", row.gap_ms >= LONG_MS);
  labelled(has.tok, tokens && Number.isFinite(row.tokens) ? ["", String(row.tokens), " tokens"] : null);
  drawWords(has, row);
}

function drawWords(has, row) {
  const said = JSON.stringify([
    row.text,
    row.tail,
    row.unheard,
    row.note,
    row.pending,
    row.interrupted,
    row.heard_ms,
    row.total_ms,
    row.inaudible,
    row.call,
    row.output,
    row.ms,
    row.bad,
  ]);
  if (said === has.said) return;
  has.said = said;
  fill(has.say, row.kind === "tool" ? tool(row) : words(row));
}

function labelled(el, words) {
  if (!words) return fill(el);
  const [before, value, after] = words;
  if (el.textContent === before + value + after) return undefined;
  return fill(
    el,
    before && h("span", {class: "hk-lbl", text: before}),
    value,
    after && h("span", {class: "hk-lbl", text: after}),
  );
}

const tool = (row) => [row.call, " ", h("span", {class: row.bad ? "hk-bad" : "", text: toolResult(row)})];

function words(row) {
  if (row.inaudible) {
    return [h("span", {class: "hk-inaud", text: "[inaudible]"}), " ", h("span", {class: "hk-quiet", text: row.note})];
  }
  const nodes = [row.text];
  if (row.tail) nodes.push(row.text && " ", h("span", {class: "hk-prov", text: row.tail}));
  if (row.pending) nodes.push(h("span", {class: "hk-caret", "aria-hidden": "true"}));
  if (row.interrupted)
    nodes.push(h("span", {class: "hk-cutmark"}), " ", h("span", {class: "hk-unheard", text: row.unheard}));
  if (row.interrupted) nodes.push(note(row));
  if (row.note) nodes.push(h("div", {class: row.bad ? "hk-note hk-bad" : "hk-note", text: row.note}));
  return nodes;
}

function note(row) {
  const share = heardShare(row);
  const bar =
    share === null
      ? null
      : h("span", {class: "hk-heard", "aria-hidden": "true"}, h("i", {vars: {"--v": share.toFixed(3)}}));
  return h("div", {class: "hk-note"}, bar, interruption(row));
}

const OVER_ICONS = {bad: "x", good: "check", flag: "over"};

function drawOver(el, has, row) {
  const said = JSON.stringify([row.text, row.note, row.look, row.bad, row.gap_ms]);
  if (said === has.said) return;
  has.said = said;
  const bad = row.bad || row.look === "bad";
  const quiet = row.kind === "mark" && !bad;
  el.classList.toggle("hk-over--bad", bad);
  el.classList.toggle("hk-over--quiet", quiet);
  fill(
    has.text,
    quiet ? null : icon(bad ? "x" : (OVER_ICONS[row.look] ?? "over")),
    h("span", {dir: "auto", text: row.text}),
  );
  setText(has.note, remark(row));
  has.note.classList.toggle("is-long", row.gap_ms >= LONG_MS);
}
