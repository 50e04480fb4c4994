// Numbers as words: clocks, durations, levels, counts. Pure.

const MINUS = "\u2212";

const pad = (n, width) => String(n).padStart(width, "0");

function split(seconds, digits) {
  const unit = 10 ** digits;
  const all = Math.max(0, Math.round((Number.isFinite(seconds) ? seconds : 0) * unit));
  return {minutes: Math.floor(all / unit / 60), rest: Math.floor(all / unit) % 60, part: all % unit};
}

/** Seconds as the transcript shows them: 6.2 is "0:06.2". */
export function clock(seconds) {
  const {minutes, rest, part} = split(seconds, 1);
  return `${minutes}:${pad(rest, 2)}.${part}`;
}

/** Seconds as a running clock shows them, rounded down: 47.9 is "0:47". */
export function clockShort(seconds) {
  const {minutes, rest} = split(Math.floor(Math.max(0, seconds || 0)), 0);
  return `${minutes}:${pad(rest, 2)}`;
}

/** Seconds to the millisecond: 34.61 is "0:34.610". */
export function clockMs(seconds) {
  const {minutes, rest, part} = split(seconds, 3);
  return `${minutes}:${pad(rest, 2)}.${pad(part, 3)}`;
}

/** Milliseconds as a gap: 640 is "640 ms". Nothing for null. */
export const ms = (n) => (n === null || n === undefined ? "" : `${Math.round(n)} ms`);

/** Milliseconds as seconds: 1840 is "1.8 s". */
export const secs = (n) => `${(Math.max(0, n || 0) / 1000).toFixed(1)} s`;

/** A level in dB below full scale: -18.2 is "−18 dB"; under −60 it is silence. */
export function db(level) {
  if (level === null || level === undefined || Number.isNaN(level) || level <= -60) return "silence";
  return level < 0 && Math.round(level) !== 0
    ? `${MINUS}${Math.abs(Math.round(level))} dB`
    : `${Math.abs(Math.round(level))} dB`;
}

/** A level in dB as a share of the meter, −60 dB to 0 dB: 0 to 1. */
export const share = (level) => (Number.isFinite(level) ? Math.min(1, Math.max(0, (level + 60) / 60)) : 0);

/** A count with its noun: (1, "turn") is "1 turn", (3, "turn") is "3 turns". */
export const plural = (n, noun, many = `${noun}s`) => `${n} ${n === 1 ? noun : many}`;

/** The middle of a list of numbers (the mean of the two middle ones), null for none. */
export function median(numbers) {
  const sorted = numbers.filter(Number.isFinite).sort((a, b) => a - b);
  if (!sorted.length) return null;
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** Names as a list in words: ["a", "b", "c"] is "a, b, c"; past `most` "a, b and 3 more". */
export function names(list, most = 3) {
  if (list.length <= most) return list.join(", ");
  return `${list.slice(0, most - 1).join(", ")} and ${list.length - most + 1} more`;
}
