// Push-to-talk: held with the pointer or with Space, and let go by anything that could take the hold away.

/** Whether Space belongs to the element itself: it takes text, or it is a control that Space works. Pure. */
export function takesSpace(el, talk) {
  if (!el || el === talk) return false;
  return Boolean(
    el.closest("input, textarea, select, button, a[href], summary, [contenteditable], [role=slider], [role=option]"),
  );
}

/**
 * Tie push-to-talk to a panel.
 * @param {{panel: HTMLElement, talk: HTMLElement, scope: object, allowed: function(): boolean,
 *   press: function(boolean)}} parts press(true) once when the hold begins, press(false) once when it ends
 */
export function createTalk({panel, talk, scope, allowed, press}) {
  let held = null;

  const begin = (by) => {
    if (held || !allowed()) return;
    held = by;
    press(true);
  };
  const end = (by) => {
    if (!held || (by && held !== by)) return;
    held = null;
    press(false);
  };

  const down = (event) => {
    if (event.key !== " " || event.ctrlKey || event.altKey || event.metaKey || takesSpace(event.target, talk)) return;
    if (!allowed() && !held) return;
    event.preventDefault();
    event.stopPropagation();
    if (!event.repeat) begin("space");
  };
  const up = (event) => {
    if (event.key !== " " || (held !== "space" && event.target !== talk)) return;
    event.preventDefault();
    event.stopPropagation();
    end("space");
  };

  scope.on(panel, "keydown", down);
  scope.on(panel, "keyup", up);
  scope.on(talk, "pointerdown", (event) => {
    if (event.button !== 0) return;
    talk.setPointerCapture?.(event.pointerId);
    begin("pointer");
  });
  for (const type of ["pointerup", "pointercancel", "lostpointercapture"]) scope.on(talk, type, () => end("pointer"));
  scope.on(talk, "contextmenu", (event) => held && event.preventDefault());
  scope.on(panel, "focusout", (event) => !panel.contains(event.relatedTarget) && end("space"));
  scope.on(window, "blur", () => end());
  scope.on(document, "visibilitychange", () => document.hidden && end());

  return {release: () => end(), held: () => held !== null, dispose: () => end()};
}
