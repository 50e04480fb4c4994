// Text to the clipboard, also where the browser gives none to a page (http that is not localhost).

import {h} from "./dom.js";

/**
 * Copy a text.
 * @param {string} text
 * @param {HTMLElement} near an element in the page, beside which the older way puts its field for a moment
 * @returns {Promise<boolean>} whether it is on the clipboard
 */
export async function copyText(text, near) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text, near);
  }
}

function copyBySelection(text, near) {
  const focused = near.getRootNode().activeElement;
  const field = h("textarea", {class: "hk-sr", "aria-hidden": "true", tabindex: "-1"});
  field.value = text;
  near.append(field);
  field.select();
  const done = document.execCommand("copy");
  field.remove();
  focused?.focus({preventScroll: true});
  return done;
}

/** Copy and say so on the button for two seconds. */
export async function copyFrom(button, label, text, scope) {
  const done = await copyText(text, button.parentElement);
  label.textContent = done ? "Copied" : "Not allowed";
  scope.later(2000, () => (label.textContent = button.dataset.label));
}
