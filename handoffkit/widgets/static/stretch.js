// Faster speech at the same pitch: overlapping grains, each placed where it fits best to what was written. Pure.
//
// The method is WSOLA (Verhelst and Roelands, ICASSP 1993): grains of 40 ms, half of which overlap, each taken from
// within 8 ms of where it belongs.

const GRAIN = 960; // samples at 24 kHz
const HOP = GRAIN / 2;
const REACH = 192;
const COARSE = 4; // only every fourth sample is compared: speech has little above 3 kHz

const window = Float32Array.from({length: GRAIN}, (_, n) => 0.5 - 0.5 * Math.cos((2 * Math.PI * n) / GRAIN));

/** How well the samples at `at` continue those at `after`, over one hop. */
function likeness(x, at, after) {
  let both = 0;
  let own = 1e-9;
  for (let n = 0; n < HOP; n += COARSE) {
    both += x[at + n] * x[after + n];
    own += x[at + n] * x[at + n];
  }
  return both / Math.sqrt(own);
}

function best(x, wanted, after) {
  const last = x.length - GRAIN;
  let found = Math.min(Math.max(0, wanted), last);
  let most = -Infinity;
  for (let at = Math.max(0, wanted - REACH); at <= Math.min(last, wanted + REACH); at += COARSE) {
    const fit = likeness(x, at, after);
    if (fit > most) [most, found] = [fit, at];
  }
  return found;
}

/**
 * Shorten sound by a factor without raising its pitch.
 * @param {Float32Array} x samples at 24 kHz
 * @param {number} speed 1.5 makes 3 s of 4.5 s; 1 gives the samples back
 * @returns {Float32Array} x.length / speed samples
 */
export function stretch(x, speed) {
  const length = Math.round(x.length / speed);
  if (speed === 1 || x.length < 2 * GRAIN) return speed === 1 ? x : x.slice(0, length);
  const out = new Float32Array(length + GRAIN);
  let taken = 0;
  for (let at = 0; at < length; at += HOP) {
    if (at > 0) taken = best(x, Math.round(at * speed), Math.min(taken + HOP, x.length - HOP));
    for (let n = 0; n < GRAIN; n += 1) out[at + n] += x[taken + n] * (at === 0 && n < HOP ? 1 : window[n]);
  }
  return out.slice(0, length);
}
