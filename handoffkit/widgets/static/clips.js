// The sound of single turns, asked from the kernel when it is needed and kept for the last few.

import {samplesOf} from "./wav.js";

/** How many turns' sound the page keeps. */
export const KEPT = 20;

/**
 * Make a store of clips.
 * @param {function(string): Promise<{message: object, buffers: Array}>} ask asks the kernel for one row's sound
 * @param {number} [kept] the least recently used goes when there are more
 * @returns {{get: function(string): Promise<{k: string, ms: number, samples: Int16Array}>, size: function(): number,
 *   clear: function()}} `get` rejects with an Error whose message says why there is no sound
 */
export function createClips(ask, kept = KEPT) {
  const held = new Map();

  async function load(k) {
    const {message, buffers} = await ask(k);
    const samples = samplesOf(buffers?.[0]);
    if (!message.ok || !samples.length) throw new Error("The kernel keeps no sound of this turn any more.");
    return {k, ms: samples.length / 24, samples};
  }

  function get(k) {
    const clip = held.get(k) ?? load(k).catch((error) => (held.delete(k), Promise.reject(error)));
    held.delete(k);
    held.set(k, clip);
    while (held.size > kept) held.delete(held.keys().next().value);
    return clip;
  }

  return {get, size: () => held.size, clear: () => held.clear()};
}
