// The page's end of the line to the kernel: traits and messages in, messages out, and whether anybody answers.

const TRAITS = ["facts", "phase", "clock", "error", "controls", "approvals", "ticket", "counts"];
const MISSED = 3;
const TICKER = "let id; onmessage = (e) => { clearInterval(id); id = setInterval(() => postMessage(0), e.data); };";

const randomId = () => Array.from(crypto.getRandomValues(new Uint32Array(2)), (n) => n.toString(36)).join("");

/**
 * Tie a model to a store.
 * @param {{model: object, store: object, scope: object, onMessage?: function(object, DataView[])}} parts onMessage sees
 *   every message of the kernel's before the store does
 * @returns {{page: string, send: function(object, ArrayBuffer[]=): boolean, beat: function(function(): boolean),
 *   request: function, dispose: function}} send is false if nothing could be sent
 */
export function createLink({model, store, scope, onMessage = () => {}}) {
  const page = randomId();
  let heard = performance.now();

  const answered = () => {
    heard = performance.now();
    store.set({kernel: "ok"});
  };

  const send = (message, buffers = []) => {
    try {
      model.send(message.t === "a" ? message : {...message, page}, undefined, buffers);
      return true;
    } catch {
      return false; // a comm that is closed throws: the silence that follows is judged by the beats
    }
  };

  const listen = (name, fn) => {
    model.on(name, fn);
    return () => model.off(name, fn);
  };

  const ends = TRAITS.map((name) => {
    store.trait(name, model.get(name));
    return listen(`change:${name}`, () => (answered(), store.trait(name, model.get(name))));
  });
  ends.push(
    listen("msg:custom", (message, buffers) => {
      answered();
      const others = message.t === "snapshot" && message.for && message.for !== page;
      if (others && store.state.snapshot) return; // another page asked; this one has its own, and perhaps older rows
      onMessage(message, buffers ?? []);
      store.message(message, buffers ?? []);
    }),
  );

  /** Tell the kernel every `facts.beat_ms` that this page lives; three beats without an answer: nobody is there. */
  const beat = (microphone) => {
    const every = store.state.facts.beat_ms || 2000;
    ticker(scope, every, () => {
      if (performance.now() - heard > MISSED * every) store.set({kernel: "silent"});
      send({t: "beat", mic: microphone()});
    });
  };

  scope.on(window, "pagehide", () => send({t: "bye"}));
  scope.on(window, "pageshow", (event) => event.persisted && send({t: "hello"}));
  send({t: "hello"});

  /** Ask the kernel for something; the first message that fits is the answer. Rejects if none comes in 10 s. */
  const request = (message, match) => {
    const answer = store.wait(match);
    send(message);
    return answer;
  };

  return {page, send, beat, request, dispose: () => ends.forEach((end) => end())};
}

/** Tick in a worker, since a tab in the background slows the page's own timers down to one a minute. */
function ticker(scope, every, fn) {
  try {
    const url = URL.createObjectURL(new Blob([TICKER], {type: "text/javascript"}));
    const worker = new Worker(url);
    URL.revokeObjectURL(url);
    worker.onmessage = fn;
    worker.postMessage(every);
    scope.observe({disconnect: () => worker.terminate()});
  } catch {
    scope.every(every, fn);
  }
}
