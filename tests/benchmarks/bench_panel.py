"""The panel in JupyterLab and Chromium: how late sound, events and an interruption are, what a flood and idling cost.

Times of the page and of the kernel are put on one clock by an exchange of pings, the log's by marks. One notebook, one
kernel and one page for each measurement; everything on this machine, which also runs the browser.
"""

import asyncio
import itertools
import json
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import psutil
from measure import Row, ratios, run

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from lab import FAKE_MICROPHONE, Notebook, Opener, chromium, serve, spoken_wav
from panel_page import Panel, cells, opened

WHAT = "The panel in JupyterLab: sound, events, an interruption, a flood, and doing nothing"

SECONDS, FLOOD_SECONDS, IDLE_SECONDS, TICKS, STOPS, BURST = 600, 60, 30, 100, 20, 10_000
SMALL = (4, 3, 2, 5, 1, 300)
LONG = "Let me explain that in some detail, since it matters to everybody who owns one of these. " * 3
SPOKEN = f"speech=True, model={{'gpt-realtime': hk.ScriptedModel([{LONG!r}], repeat=True)}}"
TYPED = SPOKEN.replace("speech=True", "speech=False")

CLOCKS = """async (rounds) => {
  const {kernel} = window.jupyterapp.shell.currentWidget.sessionContext.session;
  let best = {trip: Infinity, ahead: 0};
  for (let n = 0; n < rounds; n += 1) {
    const began = performance.now();
    const future = kernel.requestExecute({code: "import time; print(time.time())", store_history: false});
    let text = "";
    future.onIOPub = ({header, content}) => { if (header.msg_type === "stream") text += content.text; };
    await future.done;
    const there = 1000 * Number(text);
    const trip = performance.now() - began;
    if (trip < best.trip) best = {trip, ahead: there - (began + trip / 2)};
  }
  return best.ahead;
}"""
"""Returns what has to be added to the page's clock (ms) for the kernel's; an error is half of a quick round trip."""
LEAVES = """() => {
  window.__blocks = [];
  const send = WebSocket.prototype.send;
  WebSocket.prototype.send = function (data) {
    if ((data.byteLength ?? data.length) > 1920) window.__blocks.push(performance.now());
    return send.call(this, data);
  };
}"""
"""Notes when a block of the microphone's, 1,920 bytes, leaves the page; nothing else that does is as long."""
SEEN = """() => {
  window.__seen = {};
  const look = () => {
    const now = performance.now();
    const {textContent} = document.querySelector(".hk-panel");
    for (const [, n] of textContent.matchAll(/tick <(\\d+)>/g)) window.__seen[n] ??= now;
  };
  new MutationObserver(() => requestAnimationFrame(look)).observe(
    document.querySelector(".hk-panel"), {subtree: true, childList: true, characterData: true});
}"""
HOOK = """
import time
arrived = []
take = panel._hands.take
def noting(content, buffers):
    if content.get("t") == "a" and buffers:
        arrived.append((content["s"], content["q"], 1000 * time.time()))
    take(content, buffers)
panel._hands.take = noting
"""
TICK = """
import asyncio, time
async def tick(first, count, every):
    for n in range(first, first + count):
        await panel._desk.subject.mark("bench", words=f"tick <{n}>")
        await asyncio.sleep(every)
async def log_began():
    before = time.time()
    await panel._desk.subject.mark("clock")
    frame = [f for f in panel.log if f.event.endswith("clock")][-1]
    return 1000 * (before - frame.at)
"""
SHOWS = """(wanted) => [...document.querySelectorAll(".hk-panel [role=tab]")].some((tab) =>
  Number(tab.textContent.replace(/\\D/g, "")) >= wanted)"""
TIMED = """
import time
from handoffkit.widgets.page_speaker import PageSpeaker
took, flush = [], PageSpeaker.flush
async def timed(self):
    began, playing = time.perf_counter(), self._known < self._sent
    position = await flush(self)
    if playing:
        took.append(1000 * (time.perf_counter() - began))
    return position
PageSpeaker.flush = timed
"""
FLOOD = """
import asyncio, json, sys, time, websockets
url, token, rate, seconds = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
async def main():
    address = url.replace("http", "ws") + "/realtime?model=gpt-realtime"
    async with websockets.connect(address, additional_headers={"Authorization": f"Bearer {token}"}) as socket:
        reading = asyncio.create_task(read(socket))
        clear = json.dumps({"type": "input_audio_buffer.clear"})
        began, sent = time.monotonic(), 0
        while sent < rate * seconds / 2:
            await socket.send(clear)
            sent += 1
            if (ahead := began + 2 * sent / rate - time.monotonic()) > 0:
                await asyncio.sleep(ahead)
        await asyncio.wait_for(socket.ping(), 10)
        reading.cancel()
async def read(socket):
    async for _ in socket:
        pass
asyncio.run(main())
"""
"""Sends events that the service answers with one each, *rate* events a second both ways."""


def measure(*, smallest: bool) -> list[Row]:
    """Return the rows; ten minutes of microphone and a minute of flood, or a few seconds of each."""
    return run(_rows(SMALL if smallest else (SECONDS, FLOOD_SECONDS, IDLE_SECONDS, TICKS, STOPS, BURST)))


async def _rows(sizes: tuple[int, int, int, int, int, int]) -> list[Row]:
    seconds, flood, idle, ticks, stops, burst = sizes
    rows = []
    async with _lab() as opener:
        for speech, connect in (("off", TYPED), ("on", SPOKEN)):
            rows += await _pixels(opener, connect, ticks, f"speech {speech}")
        rows += await _stops(opener, SPOKEN, stops)  # without speech nothing sounds that could be stopped
        rows += await _mouth(opener, seconds)
        rows += await _flood(opener, flood)
        rows += await _idle(opener, idle)
        rows += await _beside_output(opener, burst)
    return rows


@asynccontextmanager
async def _lab() -> AsyncIterator[Opener]:
    with tempfile.TemporaryDirectory() as folder:
        wav = spoken_wav(Path(folder) / "caller.wav")
        microphone = f"--use-file-for-fake-audio-capture={wav}"
        async with serve(Path(folder) / "lab") as lab, chromium(*FAKE_MICROPHONE, microphone) as browser:
            yield Opener(lab, browser)


@asynccontextmanager
async def _call(opener: Opener, connect: str) -> AsyncIterator[tuple[Notebook, Panel]]:
    notebook = await opener(*cells(connect), permissions=["microphone"])
    await notebook.page.add_init_script(f"({LEAVES})()")
    await notebook.reload()
    panel = await opened(notebook)
    await notebook.python(HOOK + TICK)
    try:
        yield notebook, panel
    finally:
        await opener.close()
        opener.opened.clear()
        opener.contexts.clear()


async def _pixels(opener: Opener, connect: str, ticks: int, how: str) -> list[Row]:
    """Measure from the frame's place in the log to the picture that shows it."""
    rows = []
    async with _call(opener, connect) as (notebook, panel):
        await panel.start()
        for tab, what in (("Transcript", "row"), ("Events", "event")):
            await panel.el.get_by_role("tab", name=tab).click()
            late = await _delays(notebook, ticks, 0.1)
            rows.append(Row.of(f"log to pixels, {what}, {how}", "ms", late))
    return rows


async def _delays(notebook: Notebook, ticks: int, every: float) -> list[float]:
    """Post marks and return how late each was seen, in ms."""
    await notebook.page.evaluate(SEEN)
    ahead = await notebook.page.evaluate(CLOCKS, 20)
    began = json.loads(await notebook.python("print(await log_began())"))
    seq = await notebook.value("panel.log[-1].seq")
    await notebook.python(f"await tick({seq}, {ticks}, {every})", timeout=ticks * every * 10 + 60)
    await notebook.page.wait_for_function(f"() => window.__seen[{seq + ticks - 1}]", timeout=60_000)
    seen = await notebook.page.evaluate("() => window.__seen")
    frames = await notebook.value(f"[f.at for f in panel.log if f.seq > {seq} and 'tick <' in str(f.data)]")
    written = [began + 1000 * at for at in frames]
    return [seen[str(seq + n)] + ahead - written[n] for n in range(ticks) if str(seq + n) in seen]


async def _stops(opener: Opener, connect: str, stops: int) -> list[Row]:
    """Measure from the kernel's order to be silent to the page's exact answer."""
    async with _call(opener, connect) as (notebook, panel):
        await panel.start()
        await notebook.python(TIMED)
        for number in range(stops):
            await panel.say(f"Tell me about number {number}.")
            await panel.el.locator("button", has_text="Stop").click()
            await notebook.until("not call._wire.outstanding")
        took = await notebook.value("took")
    return [Row.of("flush, order to the page's answer", "ms", took)] if took else []


async def _mouth(opener: Opener, seconds: int) -> list[Row]:
    """Measure the microphone's blocks from the page to the kernel, and count those that are missing or out of order."""
    async with _call(opener, SPOKEN) as (notebook, panel):
        await panel.start()
        await notebook.page.evaluate("() => { window.__blocks = []; }")
        await panel.el.get_by_role("switch", name="Hands-free").click()
        await notebook.until("arrived")
        before = await notebook.page.evaluate(CLOCKS, 20)
        await asyncio.sleep(seconds)
        after = await notebook.page.evaluate(CLOCKS, 20)
        arrived = await notebook.value("arrived")
        left: list[float] = await notebook.page.evaluate("() => window.__blocks")
    numbers = [number for _, number, _ in arrived]
    missing = numbers[-1] - numbers[0] + 1 - len(set(numbers))
    swapped = sum(b != a + 1 for a, b in itertools.pairwise(numbers)) - missing
    ahead = (before + after) / 2
    late = [at - left[number] - ahead for _, number, at in arrived if number < len(left)]
    return [
        Row.of("microphone, page to kernel", "ms", late),
        Row(f"blocks missing in {seconds} s", "", missing, None, None, None, len(numbers), "0"),
        Row(f"blocks out of order in {seconds} s", "", max(swapped, 0), None, None, None, len(numbers), "0"),
    ]


WATCH = ["import handoffkit as hk\nhk.connect(speech=False)", "panel = hk.panel()\npanel"]


@asynccontextmanager
async def _watching(opener: Opener, *more: str) -> AsyncIterator[tuple[Notebook, Panel]]:
    notebook = await opener(*WATCH, *more)
    panel = await opened(notebook)
    await notebook.python(TICK)
    try:
        yield notebook, panel
    finally:
        await opener.close()
        opener.opened.clear()
        opener.contexts.clear()


async def _pour(notebook: Notebook, rate: int, seconds: float) -> None:
    """Begin to send *rate* events a second through the endpoint, from a process of its own."""
    await notebook.python(
        "import subprocess, sys\nfrom handoffkit.connect import current\n"
        f"flood = subprocess.Popen([sys.executable, '-c', {FLOOD!r}, current().base_url, current().token, "
        f"'{rate}', '{seconds}'])"
    )


async def _flood(opener: Opener, seconds: int) -> list[Row]:
    """Measure a thousand events a second: how late marks are and how much memory is used, at both ends."""
    async with _watching(opener) as (notebook, panel):
        await panel.el.get_by_role("tab", name="Events").click()
        await panel.el.locator(".hk-find").fill("tick")  # else a mark is off the list again before it is painted
        heap, memory = [await notebook.heap()], [await _memory(notebook)]
        await _pour(notebook, 1000, seconds)
        count = max(seconds, 1)
        late = await _delays(notebook, count, 1.0)
        await notebook.python("flood.wait(30)")
        heap.append(await notebook.heap())
        memory.append(await _memory(notebook))
        passed = await notebook.value("len(panel.log)")
    part = max(count // 4, 1)
    return [
        Row.of("1,000 events/s, log to pixels, first quarter", "ms", late[:part]),
        Row.of("1,000 events/s, log to pixels, last quarter", "ms", late[-part:]),
        Row("1,000 events/s, events in all", "", passed, None, None, None, 1),
        *(_one(f"1,000 events/s, page's heap, {when}", "MB", each) for when, each in zip(ENDS, heap, strict=True)),
        *(
            _one(f"1,000 events/s, kernel's memory, {when}", "MB", each)
            for when, each in zip(ENDS, memory, strict=True)
        ),
    ]


ENDS = ("at the start", "at the end")


def _one(what: str, unit: str, value: float, note: str = "") -> Row:
    return Row(what, unit, value, None, None, None, 1, note=note)


async def _memory(notebook: Notebook) -> float:
    return float(await notebook.value("__import__('psutil').Process().memory_info().rss / 2**20"))


async def _idle(opener: Opener, seconds: int) -> list[Row]:
    """Measure what kernel and browser use while nothing happens, with a panel and without."""
    rows = []
    for what, given in (("no panel", ["import handoffkit as hk\nhk.connect(speech=False)"]), ("an idle panel", WATCH)):
        notebook = await opener(*given)
        for cell in range(len(given)):
            await notebook.run(cell)
        await asyncio.sleep(min(5, seconds))  # what opening has begun goes on for a while
        kernel = psutil.Process(int(await notebook.value("__import__('os').getpid()")))
        before = _used(kernel), _used(*_renderers())
        await asyncio.sleep(seconds)
        used = _used(kernel) - before[0], _used(*_renderers()) - before[1]
        rows.append(_one(f"kernel's CPU with {what}", "ms/s", 1e3 * used[0] / seconds))
        rows.append(_one(f"pages' CPU with {what}", "ms/s", 1e3 * used[1] / seconds))
        await opener.close()
        opener.opened.clear()
        opener.contexts.clear()
    return rows


def _renderers() -> list[psutil.Process]:
    """Return this run's processes that draw pages."""
    found = []
    for process in psutil.Process().children(recursive=True):
        try:
            if any(part.startswith("--type=renderer") for part in process.cmdline()):
                found.append(process)
        except psutil.Error:
            continue
    return found


def _used(*processes: psutil.Process) -> float:
    return sum(sum(process.cpu_times()[:2]) for process in processes)


async def _beside_output(opener: Opener, burst: int) -> list[Row]:
    """Measure the same events in the panel and as lines in an `ipywidgets.Output`, in one run."""
    output = "import ipywidgets\nout = ipywidgets.Output()\nout"
    async with _watching(opener, output) as (notebook, panel):
        await panel.el.get_by_role("tab", name="Events").click()
        heap = [await notebook.heap()]
        log_began = json.loads(await notebook.python("print(await log_began())"))
        seq = await notebook.value("panel.log[-1].seq")
        await _pour(notebook, 100_000, burst / 100_000)
        await notebook.page.wait_for_function(SHOWS, arg=burst, timeout=180_000)
        shown_at = 1000 * time.time()
        await notebook.python("flood.wait(60)", timeout=90)
        first = await notebook.value(f"[frame.at for frame in panel.log if frame.seq > {seq}][0]")
        total = await notebook.value("len(panel.log)")
        panel_took = (shown_at - log_began) / 1000 - first
        heap.append(await notebook.heap())
        began = time.perf_counter()
        shows = (
            f"with out:\n    for n, f in enumerate(list(panel.log)[:{burst}]):\n        print(n, f.event, flush=True)"
        )
        await notebook.python(shows, timeout=300)
        lines = notebook.page.locator(".jp-OutputArea-output .widget-output, .jupyter-widgets-output-area").last
        shown, since = await _settles(lines)
        output_took = since - began
        heap.append(await notebook.heap())
        counts = await notebook.value("dict(panel.counts)")
    return [
        _one(f"{burst} events, shown in the panel after", "s", panel_took),
        _one(f"{burst} events, shown in an Output after", "s", output_took),
        Row.of(f"{burst} events, panel / Output, time", "×", ratios([panel_took], [output_took])),
        _one(f"{burst} events, page's heap for the panel", "MB", max(heap[1] - heap[0], 0.01)),
        _one(f"{burst} events, page's heap for the Output", "MB", max(heap[2] - heap[1], 0.01)),
        Row.share(f"{burst} events, lost lines in the Output", max(burst - shown, 0), burst),
        Row.share(
            f"{burst} events, left out of the panel's list",
            counts["events_dropped"],
            total,
            "the page says how many; the log has them all",
        ),
    ]


async def _settles(lines: Any) -> tuple[int, float]:
    """Return how many lines an Output shows once nothing has been added for two seconds, and when the last one was."""
    last, since = -1, time.perf_counter()
    while time.perf_counter() - since < 2:
        found = (await lines.inner_text()).count("\n")
        if found != last:
            last, since = found, time.perf_counter()
        await asyncio.sleep(0.1)
    return last, since
