// What can go wrong with the page's sound, in words: the fact, what to do, and at most one button. Pure.

/** Kinds of the sound engine's that are for the log alone. */
export const FOR_THE_LOG = new Set(["underrun", "dropped", "late", "sound-again"]);

/** Kinds that mean that the caller cannot be heard, the kernel's among them. */
export const OF_THE_MICROPHONE = new Set([
  "insecure",
  "denied",
  "no-device",
  "in-use",
  "ended",
  "zeros",
  "no-worklet",
  "reloaded",
  "stalled",
  "stopped",
  "card",
]);

const FAULTS = {
  insecure: [
    "This page may not use a microphone.",
    "Browsers allow it on https and on localhost only: open the notebook there, or go on by typing.",
    "microphone",
  ],
  denied: [
    "The browser did not allow the microphone.",
    "Allow it in the browser's address bar and start it again, or go on by typing.",
    "resume",
  ],
  "no-device": ["The browser found no microphone.", "Plug one in and start it again, or go on by typing.", "resume"],
  "in-use": [
    "The microphone could not be opened.",
    "Another program may be using it. Close that and start it again, or choose another microphone.",
    "microphone",
  ],
  ended: [
    "The microphone stopped.",
    "It was unplugged or taken away. What was said is kept; choose a microphone to go on speaking.",
    "microphone",
  ],
  zeros: [
    "No sound is arriving from the microphone.",
    "Check the input device or the browser's permission. You can go on by typing.",
    "microphone",
  ],
  "no-worklet": [
    "This browser cannot record sound in a page.",
    "Use a current Firefox, Chrome, Edge or Safari on https or localhost, or go on by typing.",
    "microphone",
  ],
  reloaded: [
    "The page was loaded again, so the microphone stopped.",
    "Start it again to go on speaking, or go on by typing.",
    "resume",
  ],
  blocked: ["The browser plays no sound before this page is clicked.", "Press the button to hear the agent.", "play"],
};

/**
 * A fault as the strip shows it; an unknown kind still says something.
 * @returns {{id: string, tone: string, fact: string, advice: string, action: string|null}}
 */
export function faultOf(kind, detail = "") {
  const [fact, advice, action] = FAULTS[kind] ?? [
    "The page's sound does not work.",
    detail || "Go on by typing.",
    null,
  ];
  return {id: kind, tone: "warn", fact, advice, action};
}

/** The kind of a fault: its id without the number that tells one appearance from the next. */
export const kindOf = (fault) => (fault?.id ?? "").replace(/-\d+$/, "");
