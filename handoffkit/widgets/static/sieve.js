// Which events the list shows: kinds, words and a pause that holds back what is newer. Pure.

/** The kinds of event in the order of their chips; those of the first row are always shown. */
export const KINDS = ["speech", "words", "tools", "handoff", "usage", "errors", "audio"];
export const OTHER_KINDS = ["session", "http", "marks"];

/** Kinds that are off until somebody asks for them. */
export const OFF = ["audio"];

const passes = (event, off, needle) =>
  !off.has(event.c) && (!needle || `${event.e} ${event.x}`.toLowerCase().includes(needle));

/**
 * Make a sieve.
 * @returns {{shown: Array, newer: number, off: Set<string>, paused: object|null, reset: function, add: function,
 *   toggle: function, find: function, pause: function}} `shown` are the events that are let through, oldest first;
 *   `newer` how many more there would be without the pause; `paused` the last event before the pause
 */
export function createSieve() {
  const sieve = {shown: [], newer: 0, off: new Set(OFF), needle: "", paused: null};
  let all = []; // every event that the page holds now
  let held = null; // those of the moment of the pause, which may outlive their place in the page

  const through = (list) => list.filter((event) => passes(event, sieve.off, sieve.needle));

  const sift = () => {
    sieve.shown = through(held ?? all);
    sieve.newer = held ? through(all).filter((event) => event.q > lastHeld()).length : 0;
  };
  const lastHeld = () => held?.at(-1)?.q ?? -Infinity;

  /** Take all events anew. */
  sieve.reset = (events) => {
    all = events;
    sift();
  };

  /** Take events that have come since; `events` is all that the page holds, `news` its end. */
  sieve.add = (events, news) => {
    all = events;
    const more = through(news);
    if (held) {
      sieve.newer += more.length;
      return;
    }
    const oldest = events[0]?.q ?? -Infinity;
    const gone = sieve.shown.findIndex((event) => event.q >= oldest);
    sieve.shown = [...(gone < 0 ? [] : sieve.shown.slice(gone)), ...more.filter((event) => event.q >= oldest)];
  };

  /** Show a kind or hide it. */
  sieve.toggle = (kind) => {
    if (!sieve.off.delete(kind)) sieve.off.add(kind);
    sift();
  };

  /** Show only events whose name or words contain a text, in any case. */
  sieve.find = (text) => {
    sieve.needle = text.trim().toLowerCase();
    sift();
  };

  /** Hold back what is newer, or let it in again. */
  sieve.pause = (on) => {
    held = on ? all.slice() : null;
    sieve.paused = on ? (held.at(-1) ?? null) : null;
    sift();
  };
  sieve.isPaused = () => held !== null;

  return sieve;
}

/** Events as JSON lines, one an event, as the list has them. */
export const jsonLines = (events) =>
  events
    .map(({q, at, dir, e, x, bad}) =>
      JSON.stringify({seq: q, at, from: dir, event: e, summary: x, ...(bad ? {bad} : {})}),
    )
    .join("\n");

/**
 * Cut JSON text into pieces, so that its keys can be shown quieter: [{key: boolean, text: string}].
 * @param {string} text pretty-printed JSON, one key a line
 * @param {number} [most] characters; what is beyond is left out
 */
export function jsonPieces(text, most = 20000) {
  const pieces = [];
  const put = (key, words) => {
    const last = pieces.at(-1);
    if (last && last.key === key) last.text += words;
    else pieces.push({key, text: words});
  };
  for (const line of text.slice(0, most).split(/(?<=\n)/)) {
    const [, indent, name, rest] = /^(\s*)("(?:[^"\\]|\\.)*":)?([^]*)$/.exec(line);
    put(false, indent);
    if (name) put(true, name);
    put(false, rest);
  }
  return pieces.filter((piece) => piece.text);
}
