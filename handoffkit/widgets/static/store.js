// One state out of traits and messages, bounded, told to its listeners at most once a frame. No DOM.

/** What the page keeps: the oldest go first, and `state.dropped` says how many went. */
export const LIMITS = {rows: 1000, events: 5000};

const TRAITS = ["facts", "phase", "clock", "error", "controls", "approvals", "ticket", "counts"];
const REQUEST_MS = 10000;

const fresh = () => ({
  facts: {},
  phase: "ready",
  clock: {began: null, ended: null, now: 0, expires: null},
  error: {},
  controls: {},
  approvals: [],
  ticket: {},
  counts: {},
  rows: [],
  rowOf: new Map(),
  touched: new Set(),
  gone: new Set(),
  reordered: false,
  events: [],
  newEvents: [],
  eventsReset: true,
  eventCounts: {},
  dropped: {rows: 0, events: 0},
  earlier: 0,
  totals: null,
  kernel: "ok",
  snapshot: false,
  asked: "",
  mic: {id: "none", live: false, opening: false, device: "", db: null, peak: null, devices: []},
  trouble: {},
});

/**
 * Make the state of one model.
 * @param {{now?: function(): number, schedule?: function(function)}} [options] now: a steady clock in ms; schedule:
 *   runs a function before the next frame
 */
export function createStore({now = () => performance.now(), schedule = (fn) => requestAnimationFrame(fn)} = {}) {
  const state = fresh();
  const listeners = new Set();
  const waiting = new Set();
  let changed = new Set();
  let due = false;
  let clockAt = now();
  let guesses = {};
  let told = {};
  let seqs = new Set();

  const mark = (...names) => {
    names.forEach((name) => changed.add(name));
    if (due || !changed.size) return;
    due = true;
    schedule(flush);
  };

  function flush() {
    due = false;
    const names = changed;
    changed = new Set();
    for (const listener of [...listeners]) listener(state, names);
    state.touched = new Set();
    state.gone = new Set();
    Object.assign(state, {reordered: false, newEvents: [], eventsReset: false});
  }

  const store = {
    state,
    subscribe: (listener) => (listeners.add(listener), () => listeners.delete(listener)),
    mark,

    /** Take one trait as the kernel has it now. */
    trait(name, value) {
      if (!TRAITS.includes(name) || value === undefined || value === null) return;
      if (name === "clock") clockAt = now();
      if (name === "phase" || name === "error") store.set({asked: ""});
      if (name === "controls") guesses = {};
      state[name] = name === "controls" ? {...(told = value)} : value;
      if (name === "counts") count();
      mark(name);
    },

    /** Show a control as the reader has just set it, until the kernel says how it stands. */
    guess(controls) {
      guesses = {...guesses, ...controls};
      state.controls = {...told, ...guesses};
      mark("controls");
    },

    /** Set what only this page knows: mic, kernel, trouble, asked (a verb on its way). Equal values change nothing. */
    set(parts) {
      for (const [name, value] of Object.entries(parts)) {
        if (JSON.stringify(state[name]) === JSON.stringify(value)) continue;
        state[name] = value;
        mark(name);
      }
    },

    /** Take one message of the kernel's; answers that somebody waits for go to them as well. */
    message(message, buffers = []) {
      for (const one of [...waiting]) if (one.match(message)) one.settle({message, buffers});
      if (message.t === "snapshot") takeSnapshot(message);
      else if (message.t === "rows") message.older ? takeOlder(message.rows ?? []) : takeRows(message);
      else if (message.t === "events") takeEvents(message.list ?? []);
      else if (message.t === "totals") {
        state.totals = message;
        mark("totals");
      }
    },

    /** Wait for the first message that fits; the answer is {message, buffers}. Rejects after 10 s. */
    wait(match, limit = REQUEST_MS) {
      return new Promise((resolve, reject) => {
        const one = {match};
        const timer = setTimeout(() => one.settle(null), limit);
        one.settle = (answer) => {
          clearTimeout(timer);
          waiting.delete(one);
          if (answer) resolve(answer);
          else reject(new Error("The kernel did not answer within 10 seconds. It may be busy with a cell."));
        };
        waiting.add(one);
      });
    },

    /** Seconds on the log's clock, running on between the kernel's own words while the call is on. */
    now() {
      const {ended, now: at} = state.clock;
      if (ended !== null && ended !== undefined) return ended;
      const ran = state.phase === "on" || state.phase === "ending" ? (now() - clockAt) / 1000 : 0;
      return Math.max((at ?? 0) + ran, lastAt());
    },

    /** Seconds since the call began, null before it did. */
    elapsed: () => (began() === null ? null : Math.max(0, store.now() - began())),

    /** A time of the log as seconds since the call began. */
    since: (at) => (at ?? 0) - (began() ?? 0),

    /** Forget who waits and who listens. */
    dispose() {
      for (const one of [...waiting]) one.settle(null);
      listeners.clear();
    },
  };

  const began = () => state.clock.began ?? null;
  const lastAt = () => (state.rows.length ? (state.rows[state.rows.length - 1].at ?? 0) : 0);

  function count() {
    const {rows = 0, rows_dropped: rowsGone = 0, events_dropped: eventsGone = 0} = state.counts;
    state.earlier = Math.max(0, rows - state.rows.length);
    state.dropped = {rows: rowsGone + ownDrops.rows, events: eventsGone + ownDrops.events};
  }
  const ownDrops = {rows: 0, events: 0};

  function takeSnapshot(message) {
    Object.assign(state, {rows: [], rowOf: new Map(), events: [], newEvents: [], eventCounts: {}, eventsReset: true});
    Object.assign(ownDrops, {rows: 0, events: 0});
    seqs = new Set();
    Object.assign(state, {snapshot: true, reordered: true, totals: message.totals ?? null});
    if (message.counts) state.counts = message.counts;
    takeRows({rows: message.rows ?? []});
    takeEvents(message.events ?? []);
    Object.assign(state, {newEvents: [], eventsReset: true});
    mark("snapshot", "rows", "events", "totals", "counts");
  }

  function takeRows({rows = [], gone = [], order = []}) {
    for (const row of rows) putRow(row);
    for (const key of gone) if (state.rowOf.delete(key)) state.gone.add(key);
    if (gone.length) state.rows = state.rows.filter((row) => state.rowOf.has(row.k));
    if (order.length) putInOrder(order);
    while (state.rows.length > LIMITS.rows) dropRow();
    count();
    mark("rows");
  }

  function putRow(row) {
    const old = state.rowOf.get(row.k);
    if (old) state.rows[state.rows.lastIndexOf(old)] = row;
    else state.rows.push(row);
    state.rowOf.set(row.k, row);
    state.touched.add(row.k);
    state.gone.delete(row.k);
  }

  function putInOrder(order) {
    const last = order.map((key) => state.rowOf.get(key)).filter(Boolean);
    const moved = new Set(last);
    state.rows = [...state.rows.filter((row) => !moved.has(row)), ...last];
    state.reordered = true;
  }

  function dropRow() {
    const row = state.rows.shift();
    state.rowOf.delete(row.k);
    state.gone.add(row.k);
    state.touched.delete(row.k);
    ownDrops.rows++;
  }

  function takeOlder(rows) {
    const news = rows.filter((row) => !state.rowOf.has(row.k));
    const room = Math.max(0, LIMITS.rows - state.rows.length);
    const kept = room ? news.slice(-room) : [];
    kept.forEach((row) => (state.rowOf.set(row.k, row), state.touched.add(row.k)));
    state.rows = [...kept, ...state.rows];
    state.reordered ||= kept.length > 0;
    count();
    mark("rows");
  }

  function takeEvents(list) {
    for (const event of list) {
      if (seqs.has(event.q)) continue;
      seqs.add(event.q);
      state.events.push(event);
      state.newEvents.push(event);
      state.eventCounts[event.c] = (state.eventCounts[event.c] ?? 0) + 1;
    }
    const over = state.events.length - LIMITS.events;
    if (over > 0) {
      for (const event of state.events.splice(0, over)) seqs.delete(event.q);
      ownDrops.events += over;
    }
    if (state.newEvents.length > LIMITS.events) state.newEvents.splice(0, state.newEvents.length - LIMITS.events);
    count();
    mark("events");
  }

  return store;
}

/**
 * Make what one view of the panel knows for itself: which tab, what is selected, how wide it is.
 * @param {function(string)} tell called with the name of each value that changed, as "view.name"
 */
export function createView(tell) {
  const state = {
    tab: "transcript",
    selected: null,
    hovered: null,
    seen: null,
    width: 980,
    narrow: false,
    play: {on: false, at: 0, length: 0, rate: 1, skip: false, ready: false, words: ""},
  };
  return {
    state,
    set(parts) {
      for (const [name, value] of Object.entries(parts)) {
        if (JSON.stringify(state[name]) === JSON.stringify(value)) continue;
        state[name] = value;
        tell(`view.${name}`);
      }
    },
  };
}
