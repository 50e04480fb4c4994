// What can be done with the sound of one turn: play it, or save it as a WAV file that can go into a folder of turns.

import {h, icon, setAttr} from "./dom.js";
import {clipName, wav} from "./wav.js";

const SHOWN_MS = 4000; // how long the reason for a failure stays on the button
const KEPT_MS = 60000; // how long a file's address is kept for the browser to fetch it

/**
 * Make the buttons of rows that have sound.
 * @param {object} parts
 * @param {object} parts.playback playback with `clip(k)` and `one(k)`; null where there is none: no buttons
 * @returns {{put: function(HTMLElement, object), reachable: function(HTMLElement, boolean)}}
 */
export function rowActions({store, playback, scope}) {
  const held = new WeakMap();

  function put(li, row) {
    const wanted = Boolean(playback && row.kind === "turn" && row.clip && !row.pending);
    const had = held.get(li);
    if (wanted === Boolean(had)) return;
    if (had) {
      had.remove();
      held.delete(li);
    } else held.set(li, add(li, row.k));
  }

  function add(li, k) {
    const noun = "this turn";
    const play = small("play", `Play ${noun}`, () => playback.one(k));
    play.classList.add("hk-row-play"); // not shown while the call is on: the microphone would hear it
    const save = small("save", `Save ${noun} as WAV`, () => saveTurn(k));
    const box = h("span", {class: "hk-row-acts"}, play, save);
    li.querySelector(".hk-t").after(box);
    return box;
  }

  const small = (name, label, act) => {
    const button = h("button", {
      class: "hk-btn hk-btn--row",
      type: "button",
      tabindex: "-1",
      title: label,
      "aria-label": label,
    });
    button.append(icon(name, true));
    button.addEventListener("click", () => act().catch((error) => tell(button, label, error.message)));
    return button;
  };

  /** Say on the button itself why it did nothing. */
  function tell(button, label, words) {
    const say = (text) => (setAttr(button, "title", text), setAttr(button, "aria-label", text));
    button.classList.add("hk-btn--failed");
    say(words);
    scope.later(SHOWN_MS, () => (button.classList.remove("hk-btn--failed"), say(label)));
  }

  async function saveTurn(k) {
    const {samples} = await playback.clip(k);
    const {rows, rowOf, earlier} = store.state;
    const name = clipName(rows, k, earlier, store.since(rowOf.get(k)?.at));
    const address = URL.createObjectURL(new Blob([wav(samples)], {type: "audio/wav"}));
    h("a", {href: address, download: name}).click();
    scope.later(KEPT_MS, () => URL.revokeObjectURL(address));
  }

  /** Only the buttons of the selected row are stops of the Tab key. */
  function reachable(li, yes) {
    held
      .get(li)
      ?.querySelectorAll("button")
      .forEach((button) => setAttr(button, "tabindex", yes ? "0" : "-1"));
  }

  return {put, reachable};
}
