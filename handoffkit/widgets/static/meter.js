// The level meter: segments from −60 dB to 0 dB, a mark at the peak, a dashed empty frame when nothing is heard.

import {h, setAttr} from "./dom.js";
import {share} from "./format.js";

const CALM_MS = 250;

/** Build a meter; show({live, db, peak}) draws a level in dB below full scale. */
export function createMeter() {
  const bar = h("i");
  const peak = h("b");
  const el = h("span", {class: "hk-meter", role: "meter", "aria-valuemin": -60, "aria-valuemax": 0}, bar, peak);
  const calm = globalThis.matchMedia?.("(prefers-reduced-motion: reduce)");
  let drawn = -Infinity;

  return {
    el,
    show({live, db, peak: top}) {
      const off = !live || db === null || db === undefined;
      const now = performance.now();
      if (calm?.matches && now - drawn < CALM_MS && !off) return;
      drawn = now;
      el.classList.toggle("hk-meter--off", off);
      bar.hidden = peak.hidden = off;
      bar.style.setProperty("--v", share(db).toFixed(3));
      peak.style.setProperty("--p", Math.min(0.97, share(top ?? db)).toFixed(3));
      setAttr(el, "aria-label", off ? "Microphone level: no signal" : "Microphone level");
      setAttr(el, "aria-valuenow", off ? -60 : Math.max(-60, Math.min(0, Math.round(db))));
    },
  };
}
