// The dock after the call: hand off or play, where playback stands, how fast, and a new call at the right end.

import {button, fill, h, icon, setAttr, setText} from "./dom.js";
import {clockShort} from "./format.js";

const RATES = [1, 1.5, 2];

/** What the first control of an ended call does: hand off while a result is due, play once it is there. Pure. */
export const mainAct = ({facts, ticket, controls}) =>
  facts.hands_to && !facts.watching && (!ticket?.ok || controls.handing_off) ? "handoff" : "play";

/** Build the dock of an ended call. */
export function createPlayDock({store, send, view, playback, onHandoff, guard}) {
  const main = h("button", {
    type: "button",
    class: "hk-btn hk-btn--primary hk-talk",
    on: {click: () => guard() && act()},
  });
  const play = button({label: "Play", icon: "play", onClick: () => playback.toggle()});
  const at = h("b");
  const total = h("span");
  const pos = h("div", {class: "hk-pos"}, at, " ", total);
  const rates = RATES.map((rate) =>
    h("button", {type: "button", text: `${rate}\u00d7`, on: {click: () => playback.rate(rate)}}),
  );
  const seg = h("div", {class: "hk-seg", role: "group", "aria-label": "Speed"}, rates);
  const skip = h(
    "button",
    {type: "button", class: "hk-switch", role: "switch", on: {click: () => playback.skip(!view.state.play.skip)}},
    h("i"),
    "Skip silence",
  );
  const words = h("span", {class: "hk-dock-hint", role: "status"});
  const again = button({
    label: "Hand off",
    icon: "over",
    onClick: () => (again.getAttribute("aria-disabled") ? null : onHandoff()),
  });
  const fresh = button({label: "New call", icon: "call", onClick: () => (store.set({asked: "new"}), send({t: "new"}))});
  const acts = h("div", {class: "hk-acts"}, again, fresh);
  const el = h("div", {class: "hk-dock hk-dock--play"}, main, play, pos, seg, skip, words, acts);
  let drawn = "";

  const act = () =>
    mainAct(store.state) === "handoff" ? store.state.controls.handing_off || onHandoff() : playback.toggle();

  const label = (el, name, text) => {
    fill(el, icon(name), h("span", {class: "hk-label", text}));
  };

  const drawMain = (s) => {
    const what = mainAct(s);
    const on = view.state.play.on;
    const busy = what === "handoff" && Boolean(s.controls.handing_off);
    const key = `${what} ${on} ${busy}`;
    if (key === drawn) return;
    drawn = key;
    if (what === "handoff") label(main, "over", busy ? "Handing off" : "Hand off");
    else label(main, on ? "pause" : "play", on ? "Pause" : "Play");
    setAttr(main, "aria-busy", busy ? "true" : null);
    setAttr(main, "aria-disabled", busy ? "true" : null);
    label(play, on ? "pause" : "play", on ? "Pause" : "Play");
  };

  const drawActs = (s) => {
    const first = mainAct(s) === "handoff";
    play.hidden = !first;
    again.hidden = first || s.facts.watching;
    fresh.hidden = Boolean(s.facts.watching);
    fresh.disabled = s.asked === "new";
    setText(again.querySelector("span"), s.facts.hands_to ? "Hand off again" : "Hand off");
    const off = !s.facts.hands_to;
    setAttr(again, "aria-disabled", off ? "true" : null);
    setAttr(
      again,
      "title",
      off
        ? "There is nobody to hand this call to: write call.panel(handoff_to=agent)"
        : `Hand this call to ${s.facts.hands_to} once more`,
    );
    setAttr(main, "title", first ? `Hand this call to ${s.facts.hands_to}` : null);
  };

  const drawPlay = () => {
    const {at: now, length, rate, skip: skips, words: said} = view.state.play;
    setText(at, clockShort(now));
    setText(total, `of ${clockShort(Math.max(length || 0, store.elapsed() ?? 0))}`);
    rates.forEach((one, n) => setAttr(one, "aria-pressed", RATES[n] === rate));
    setAttr(skip, "aria-checked", Boolean(skips));
    setText(words, said ?? "");
    words.hidden = !said;
  };

  return {
    el,
    update(s) {
      drawMain(s);
      drawActs(s);
      drawPlay();
    },
    focusMain: () => main.focus(),
    dispose() {},
  };
}
