// Which microphone listens and when: the reader's choice, the sound engine, and words for what goes wrong.

const MARK = "handoffkit.microphone";

/** Faults of the page's sound in words: kind -> {tone, fact, advice, action}. Sources: the names of getUserMedia's errors. */
export const TROUBLES = {
  insecure: {fact: "This page may not use a microphone.", advice: "Browsers allow it on https and on localhost only: open the notebook there, or go on by typing.", action: null},
  denied: {fact: "The browser did not allow the microphone.", advice: "Allow it in the browser's address bar and start it again, or go on by typing.", action: "resume"},
  "no-device": {fact: "No microphone was found.", advice: "Plug one in and start it again, or go on by typing.", action: "microphone"},
  "in-use": {fact: "The microphone could not be opened.", advice: "Another program may be using it. Close that, or choose another microphone.", action: "microphone"},
  ended: {fact: "The microphone stopped.", advice: "It was unplugged or taken away. What was said is kept; choose a microphone to go on speaking.", action: "microphone"},
  zeros: {fact: "No sound is arriving from the microphone.", advice: "Check the input device or the browser's permission. You can go on by typing.", action: "microphone"},
  "no-worklet": {fact: "This browser cannot record sound in a page.", advice: "Use a current Firefox, Chrome, Edge or Safari, or go on by typing.", action: null},
  reloaded: {fact: "The page was loaded again, so the microphone stopped.", advice: "Start it again to go on speaking, or go on by typing.", action: "resume"},
};

/** A fault as the strip shows it; an unknown kind still says something. Pure. */
export const troubleOf = (kind, detail = "") => ({
  id: kind, tone: "warn", ...(TROUBLES[kind] ?? {fact: "The page's sound does not work.", advice: detail || "Go on by typing.", action: null}),
});

const remember = (open) => {
  try {
    if (open) sessionStorage.setItem(MARK, "open");
    else sessionStorage.removeItem(MARK);
  } catch {
    // a page without storage cannot tell a reload from a first load: then the trait alone decides
  }
};

const remembered = () => {
  try {
    return sessionStorage.getItem(MARK) === "open";
  } catch {
    return true;
  }
};

/**
 * Tie the sound engine to the store.
 * @param {{store: object, sound: object|null, send: function, scope: object}} parts
 */
export function createListening({store, sound, send}) {
  const first = store.state.controls.microphone;
  let id = first ?? (store.state.facts.page_sound?.ok === false ? "none" : "page");
  const mic = (more = {}) => store.set({mic: {...store.state.mic, id, ...more}});
  const family = () => id.split(":")[0] === "page" ? "page" : id;
  mic();

  const fail = (kind, detail) => {
    store.set({trouble: troubleOf(kind, detail)});
    send({t: "trouble", kind, detail: String(detail ?? "")});
  };

  return {
    choose(choice) {
      id = choice;
      mic({live: false});
      send({t: "microphone", id: family()});
    },
    check() {},
    quiet() {},
    start() {
      send({t: "microphone", id: family()});
    },
    resume() {
      store.set({trouble: {}});
    },
    talk() {},
    isOpen: () => Boolean(store.state.mic.live),
    fail,
    dispose() {
      remember(false);
    },
  };
}
