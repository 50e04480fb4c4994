// What a microphone's blocks mean before they are sent: which of them go out, and whether the device hears at all. Pure.

/** Blocks of 40 ms in a second. */
export const SECOND = 25;
const PREROLL = 5; // blocks of before the key was pressed that are sent too: 200 ms, a first syllable

/** Which blocks are sent: those while the key is held or hands-free is on, and none while muted. Pure. */
export class Gate {
  constructor(preroll = PREROLL) {
    this.preroll = preroll;
    this.handsFree = this.pressed = this.muted = false;
    this.tail = false; // the block in which the key was let go is still to come
    this.kept = [];
  }

  /** Press or release the key. */
  press(down) {
    this.tail = this.pressed && !down && !this.handsFree && !this.muted;
    this.pressed = down;
  }

  /** Mute or unmute; what was heard before is forgotten, so that it is not sent later. */
  mute(on) {
    this.muted = on;
    if (on) this.forget();
  }

  /** Forget what was kept. */
  forget() {
    this.kept = [];
    this.tail = false;
  }

  /** Take a block; return the blocks to send now, oldest first, often none. */
  take(block) {
    if (this.muted) return [];
    if (!this.handsFree && !this.pressed && !this.tail) {
      this.kept = [...this.kept, block].slice(-this.preroll);
      return [];
    }
    const all = [...this.kept, block];
    this.forget();
    return all;
  }
}

/** Notices a device that gives nothing but zeros: take(zeros) is "zeros" after a second, "sound-again" after that, or null. */
export class Silence {
  constructor(blocks = SECOND) {
    this.blocks = blocks;
    this.count = 0;
  }

  take(zeros) {
    const before = this.count;
    this.count = zeros ? before + 1 : 0;
    if (this.count === this.blocks) return "zeros";
    return !zeros && before >= this.blocks ? "sound-again" : null;
  }
}
