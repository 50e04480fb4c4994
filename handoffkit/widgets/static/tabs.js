// Transcript and events as tabs, the call's sums at their right, and a copy of the transcript.

import {button, fill, h, setAttr, setText} from "./dom.js";
import {ms, plural} from "./format.js";

const COPIED_MS = 1500;

/** The sums of the call as short texts, the cost last. Pure. */
export function sumsOf(totals) {
  if (!totals) return [];
  const gap = totals.gap_ms === null || totals.gap_ms === undefined ? null : `median gap ${ms(totals.gap_ms)}`;
  const tokens = totals.simulated
    ? "simulated, no tokens"
    : totals.tokens === null || totals.tokens === undefined
      ? null
      : plural(totals.tokens, "token");
  return [gap, tokens, totals.simulated ? "no cost" : totals.cost].filter(Boolean);
}

let made = 0;

/** Build the tabs around two components; only the visible one is updated. */
export function createTabs({view, transcript, events, copy, scope}) {
  const id = `hk-tabs-${++made}`;
  const count = h("span");
  const names = ["transcript", "events"];
  const tabs = [h("button", {}, "Transcript"), h("button", {}, "Events ", count)];
  const panes = [transcript, events].map((part, n) =>
    h("div", {class: "hk-pane", id: `${id}-p${n}`, role: "tabpanel", "aria-labelledby": `${id}-t${n}`}, part.el),
  );
  const sums = h("div", {class: "hk-sum"});
  const save = button({label: "Copy transcript", icon: "copy", kind: "bare", small: true, onClick: () => copyWords()});
  setAttr(save, "aria-label", "Copy transcript"); // narrow, its words are hidden
  const label = save.querySelector("span");
  label.className = "hk-txt";
  const row = h(
    "div",
    {class: "hk-tabrow"},
    h("div", {class: "hk-tablist", role: "tablist", "aria-label": "Views of the call"}, tabs),
    sums,
    save,
  );
  row.classList.add("hk-tabs");
  const el = h("div", {class: "hk-main"}, row, panes);
  let shown = "";

  tabs.forEach((tab, n) => {
    tab.className = "hk-tab";
    tab.type = "button";
    tab.id = `${id}-t${n}`;
    setAttr(tab, "role", "tab");
    setAttr(tab, "aria-controls", `${id}-p${n}`);
    tab.addEventListener("click", () => view.set({tab: names[n]}));
    tab.addEventListener("keydown", (event) => {
      if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
      event.preventDefault();
      view.set({tab: names[1 - n]});
      tabs[1 - n].focus();
    });
  });

  const copyWords = async () => {
    await copy(transcript.copy?.() ?? "");
    setText(label, "Copied");
    scope.later(COPIED_MS, () => setText(label, "Copy"));
  };
  setText(label, "Copy");

  return {
    el,
    update(s, changed) {
      const now = names.indexOf(view.state.tab);
      const fresh = view.state.tab !== shown;
      shown = view.state.tab;
      tabs.forEach((tab, n) => {
        setAttr(tab, "aria-selected", n === now);
        setAttr(tab, "tabindex", n === now ? 0 : -1);
        panes[n].hidden = n !== now;
      });
      save.hidden = now !== 0;
      if (changed.has("all") || changed.has("events") || changed.has("counts"))
        setText(count, String(s.counts.events ?? s.events.length));
      if (changed.has("all") || changed.has("totals"))
        fill(
          sums,
          sumsOf(s.totals).map((text) => h("span", {text})),
        );
      [transcript, events][now].update(s, fresh ? new Set([...changed, "all"]) : changed);
    },
    dispose() {},
  };
}
