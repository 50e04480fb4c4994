// The text box: Enter sends, and the words stay until the kernel has them as a turn.

import {button, h, setAttr, setText} from "./dom.js";
import {createScope} from "./dom.js";

const LATE_MS = 5000;

const same = (a, b) => a.trim().replace(/\s+/g, " ") === b.trim().replace(/\s+/g, " ");

let made = 0;

/** Build the form; `sent` becomes a turn of the caller's when a typed row with its words arrives. */
export function createTyped({store, send}) {
  const scope = createScope();
  const id = `hk-say-${++made}`;
  const input = h("input", {class: "hk-input", id, autocomplete: "off", enterkeyhint: "send"});
  const go = button({label: "Send"});
  go.type = "submit";
  const note = h("span", {class: "hk-typed-note", role: "status"});
  const el = h(
    "form",
    {class: "hk-typed"},
    h("label", {class: "hk-sr", for: id, text: "Type as the caller"}),
    input,
    go,
    note,
  );
  let sent = null;
  let endLate = () => {};

  el.addEventListener("submit", (event) => {
    event.preventDefault();
    const text = input.value.trim();
    if (!text || sent !== null || input.disabled) return;
    if (!send({t: "say", text}))
      return setText(note, "Not sent: the line to the kernel is closed. Your words are kept.");
    sent = {text, known: new Set(store.state.rows.map((row) => row.k))};
    setText(note, "");
    setAttr(go, "aria-busy", "true");
    endLate = scope.later(LATE_MS, () => setText(note, "The kernel has not taken this turn yet. Your words are kept."));
  });

  // JupyterLab (4.6) cancels the line break of Enter in a cell, and with it the browser's own submitting of a form.
  input.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.isComposing || event.repeat) return;
    event.preventDefault();
    el.requestSubmit();
  });

  const settle = (taken) => {
    if (sent === null) return;
    if (taken && input.value.startsWith(sent.text)) input.value = input.value.slice(sent.text.length).trimStart();
    else if (taken && same(input.value, sent.text)) input.value = "";
    sent = null;
    endLate();
    setText(note, "");
    setAttr(go, "aria-busy", null);
  };

  const arrived = (s) =>
    s.rows.some((row) => row.who === "c" && row.typed && !sent.known.has(row.k) && same(row.text ?? "", sent.text));

  return {
    el,
    update(s, changed) {
      const on = s.phase === "on";
      input.disabled = go.disabled = !on;
      setAttr(input, "placeholder", on ? "Type as the caller" : "Type here once the call starts");
      if (sent === null) return;
      if (changed.has("rows") && arrived(s)) settle(true);
      else if (!on || (changed.has("error") && s.error?.id)) settle(false);
    },
    dispose: () => scope.dispose(),
  };
}
