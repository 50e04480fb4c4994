// When which turn sounds in a playback: silence left out or not, at any speed. Pure.

const REST = 0.4; // s of silence that stay when silence is skipped

/**
 * Say which rows have sound, when and for how long (s since the call began); of a reply that was cut, what was heard.
 * @param {Array<object>} rows
 * @param {function(number): number} since log clock to seconds of the call
 * @returns {Array<{k: string, from: number, to: number, who: string, name: string}>} in order of `from`
 */
export function pieces(rows, since) {
  return rows
    .filter((row) => row.kind === "turn" && row.clip && !row.seeded)
    .map((row) => ({k: row.k, who: row.who, name: row.name, from: since(row.at), to: since(row.at) + seconds(row)}))
    .filter((piece) => piece.to > piece.from)
    .sort((a, b) => a.from - b.from);
}

function seconds(row) {
  if (row.interrupted && Number.isFinite(row.heard_ms)) return row.heard_ms / 1000;
  return row.total_ms ? row.total_ms / 1000 : Math.max(0, row.end - row.at);
}

/** Join pieces that overlap or follow each other within `rest` seconds: the stretches that are not silent. */
function stretches(list, rest) {
  const joined = [];
  for (const {from, to} of list) {
    const last = joined.at(-1);
    if (last && from <= last.to + rest) last.to = Math.max(last.to, to);
    else joined.push({from, to});
  }
  return joined;
}

/**
 * Lay out a playback.
 * @param {Array<{from: number, to: number}>} list what `pieces` gave
 * @param {{length: number, skip: boolean}} options length of the call (s); skip silence between what sounds
 * @returns {{played: number, toPlayed: function(number): number, toCall: function(number): number}} seconds of playback
 *   at speed 1, and both ways between seconds of the call and seconds of playback
 */
export function plan(list, {length, skip}) {
  if (!skip || !list.length)
    return {played: length, toPlayed: (at) => clamp(at, 0, length), toCall: (at) => clamp(at, 0, length)};
  const parts = [];
  let played = 0;
  for (const {from, to} of stretches(list, REST)) {
    const begin = Math.max(parts.at(-1)?.to ?? 0, from - REST / 2);
    const end = to + REST / 2;
    parts.push({from: begin, to: end, played});
    played += end - begin;
  }
  return {
    played,
    toPlayed(at) {
      const part = parts.findLast((one) => one.from <= at);
      return part ? part.played + Math.min(at, part.to) - part.from : 0;
    },
    toCall(at) {
      const part = parts.findLast((one) => one.played <= at) ?? parts[0];
      return Math.min(part.from + Math.max(0, at - part.played), part.to);
    },
  };
}

const clamp = (x, low, high) => Math.min(high, Math.max(low, x));

/** Keys of the rows that sound at a moment of the call. */
export const sounding = (list, at) => list.filter((piece) => piece.from <= at && at < piece.to).map((piece) => piece.k);

/** What sounds from a moment on: the piece under it and those that begin after it, nearest first. */
export const ahead = (list, at) => list.filter((piece) => piece.to > at);

/**
 * Say when one clip starts on an audio clock, and how much of it is left out because the cursor is past its begin.
 * @param {{from: number, to: number}} piece
 * @param {{toPlayed: function(number): number}} layout
 * @param {{at: number, clock: number, rate: number}} start the moment of the call at which playback began, the audio
 *   clock then (s) and the speed
 * @returns {{when: number, offset: number, seconds: number}} audio clock (s); seconds into the clip at speed 1; how many
 *   of the clip's seconds sound
 */
export function cue(piece, layout, {at, clock, rate}) {
  const offset = Math.max(0, at - piece.from);
  const when = clock + Math.max(0, layout.toPlayed(Math.max(at, piece.from)) - layout.toPlayed(at)) / rate;
  return {when, offset, seconds: Math.max(0, piece.to - piece.from - offset)};
}
