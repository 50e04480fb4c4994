// PCM16 at 24 kHz mono as a WAV file, and the names under which turns are saved. Pure.

/** The rate of all sound between page and kernel (Hz). */
export const RATE = 24000;

const HEADER = 44; // bytes: RIFF, fmt and the head of data

/**
 * Take samples out of what came with a message: an ArrayBuffer or a view at any offset.
 * @param {ArrayBuffer|ArrayBufferView|undefined} buffer little-endian PCM16; a byte too many is left out
 * @returns {Int16Array} a copy
 */
export function samplesOf(buffer) {
  if (!buffer) return new Int16Array(0);
  const bytes = ArrayBuffer.isView(buffer)
    ? new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength)
    : new Uint8Array(buffer);
  const view = new DataView(bytes.slice(0, bytes.length & ~1).buffer);
  return Int16Array.from({length: view.byteLength >> 1}, (_, n) => view.getInt16(n * 2, true));
}

/**
 * Write samples as a WAV file.
 * @param {Int16Array} samples mono
 * @param {number} [rate] Hz
 * @returns {ArrayBuffer} 44 bytes of header and 2 bytes a sample
 */
export function wav(samples, rate = RATE) {
  const view = new DataView(new ArrayBuffer(HEADER + samples.length * 2));
  const text = (at, letters) => [...letters].forEach((letter, n) => view.setUint8(at + n, letter.charCodeAt(0)));
  const size = samples.length * 2;
  text(0, "RIFF");
  view.setUint32(4, HEADER - 8 + size, true);
  text(8, "WAVEfmt ");
  view.setUint32(16, 16, true);
  [
    [20, 1],
    [22, 1],
    [32, 2],
    [34, 16],
  ].forEach(([at, value]) => view.setUint16(at, value, true)); // PCM, mono, 2 bytes a frame
  view.setUint32(24, rate, true);
  view.setUint32(28, rate * 2, true);
  text(36, "data");
  view.setUint32(40, size, true);
  samples.forEach((sample, n) => view.setInt16(HEADER + n * 2, sample, true));
  return view.buffer;
}

/**
 * Name the file of one turn: the caller's are turn-1.wav, turn-2.wav, …, which in one folder are a call to send again;
 * an agent's is named after the turn that it answers (reply-2.wav, then reply-2b.wav; reply-0.wav is its greeting).
 * @param {Array<object>} rows the rows that the page holds, in order
 * @param {string} key of the row to save
 * @param {number} earlier rows before them that the page does not hold: then turns cannot be counted, and the name has
 *   the time instead (turn-at-00127.4.wav, in the order of speaking as well)
 * @param {number} at seconds since the call began
 */
export function clipName(rows, key, earlier, at) {
  const row = rows.find((one) => one.k === key);
  const noun = row?.who === "c" ? "turn" : "reply";
  if (earlier > 0) return `${noun}-at-${Math.max(0, at).toFixed(1).padStart(7, "0")}.wav`;
  let turns = 0;
  let replies = 0;
  for (const one of rows) {
    if (one.kind !== "turn" || !one.clip) continue;
    if (one.who === "c") [turns, replies] = [turns + 1, 0];
    else replies += 1;
    if (one.k === key) break;
  }
  const again = noun === "reply" && replies > 1 ? String.fromCharCode(96 + Math.min(replies, 26)) : "";
  return `${noun}-${turns}${again}.wav`;
}
