"""The page's microphone and speaker in a real browser: a WAV for the microphone, a tap before the loudspeaker."""

import base64
import contextlib
import http.server
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import pytest_asyncio
from conftest import ROOT
from heard import heard
from lab import chromium, room

from handoffkit import audio

if TYPE_CHECKING:
    from playwright.async_api import Browser, Page

pytestmark = pytest.mark.asyncio(loop_scope="module")

STATIC = ROOT / "handoffkit" / "widgets" / "static"
RATE = audio.SAMPLE_RATE
SLOW = 30_000
"""Milliseconds that anything may take on a busy machine; what fails takes them, what works does not."""
SPEECH = audio.load(ROOT / "audio" / "laptop-will-not-charge" / "turn-2.wav").pcm[: 2500 * audio.BYTES_PER_MS]
HEARD = bytes(
    (np.frombuffer(SPEECH, "<i2") // 2 + np.frombuffer(room(len(SPEECH) / 2 / RATE), "<i2")).astype("<i2").tobytes()
)
"""What the microphone hears first: speech in a room, for digital silence within it would be trouble."""

LOAD = """async (names) => {
  const {load} = await import("/panel.js");
  const texts = await Promise.all(names.map(async (name) => [name, await (await fetch(`/${name}`)).text()]));
  const sources = Object.fromEntries(texts);
  const {PageSound} = await load(sources, "sound.js");
  const media = navigator.mediaDevices;
  if (media) {
    const ask = media.getUserMedia.bind(media);
    media.getUserMedia = async (asked) => {
      const stream = await ask(asked);
      window.tracks.push(...stream.getTracks());
      return stream;
    };
  }
  Object.assign(window, {sent: [], troubles: [], levels: [], devices: [], tracks: [], tapped: []});
  window.make = (more = {}) => {
    window.sound = new PageSound({
      worklet: sources["pcm-worklet.js"],
      send: (message, buffers = []) => window.sent.push({...message, pcm: buffers.map((buffer) => buffer.slice())}),
      onLevel: (level) => window.levels.push(level),
      onTrouble: (kind, detail) => window.troubles.push([kind, detail]),
      onDevices: (found) => (window.devices = found),
      ...more,
    });
  };
  window.text = (buffers) => {
    let bytes = "";
    for (const buffer of buffers) for (const byte of new Uint8Array(buffer)) bytes += String.fromCharCode(byte);
    return btoa(bytes);
  };
  window.said = (t) => window.sent.filter((message) => message.t === t);
  window.play = (text, g) => {
    const all = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer;
    for (let at = 0, q = 0; at < all.byteLength; at += 9600, q += 1) {
      window.sound.message({t: "s", g, q, at: at / 2}, [new DataView(all, at, Math.min(9600, all.byteLength - at))]);
    }
  };
  window.tap = async () => {
    await window.sound.resume();
    const node = new AudioWorkletNode(window.sound.context(), "handoffkit-capture", {numberOfOutputs: 0});
    node.port.onmessage = ({data}) => window.tapped.push(data.samples.buffer);
    window.sound.output().connect(node);
  };
}"""
RAW = "{constraints: {echoCancellation: false, noiseSuppression: false, autoGainControl: false, channelCount: 1}}"


@dataclass
class Site:
    """Where the page's files are served."""

    port: int

    def url(self, host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.port}/"


class Files(http.server.SimpleHTTPRequestHandler):
    """The widget's files, and an empty page."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args, directory=str(STATIC))

    def do_GET(self) -> None:
        if self.path != "/":
            return super().do_GET()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b'<!doctype html><link rel="icon" href="data:,"><title>sound</title>')

    def log_message(self, *args: Any) -> None:
        pass


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Files)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield Site(server.server_address[1])
    server.shutdown()
    server.server_close()
    thread.join(10)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser(tmp_path_factory: pytest.TempPathFactory) -> "AsyncIterator[Browser]":
    """Chromium whose microphone hears the room, speech, then 2 s of zeros, then the room."""
    file: Path = tmp_path_factory.mktemp("microphone") / "caller.wav"
    audio.write_wav(file, [room(0.6), HEARD, bytes(2000 * audio.BYTES_PER_MS), room(30.0)])
    async with chromium(
        "--use-fake-device-for-media-stream",
        f"--use-file-for-fake-audio-capture={file}%noloop",
        "--deny-permission-prompts",
        "--host-resolver-rules=MAP insecure.test 127.0.0.1",
    ) as running:
        yield running


Opener = Callable[..., Awaitable["Page"]]


@pytest_asyncio.fixture(loop_scope="module")
async def page_of(browser: "Browser", site: Site) -> AsyncIterator[Opener]:
    """Open a page with the engine loaded, as the panel loads it: `make()` makes one."""
    async with contextlib.AsyncExitStack() as stack:

        async def opened(host: str = "127.0.0.1", *, allowed: bool = True) -> "Page":
            context = await browser.new_context(permissions=["microphone"] if allowed else [])
            stack.push_async_callback(context.close)
            page = await context.new_page()
            page.set_default_timeout(SLOW)
            await page.goto(site.url(host))
            await page.evaluate(LOAD, sorted(path.name for path in STATIC.glob("*.js")))
            return page

        yield opened


async def until(page: "Page", expression: str) -> None:
    await page.wait_for_function(expression, timeout=SLOW)


async def sound_of(page: "Page", expression: str) -> bytes:
    return base64.b64decode(await page.evaluate(f"() => window.text({expression})"))


# The microphone


async def test_what_the_microphone_hears_arrives_whole_and_in_order(page_of: Opener) -> None:
    page = await page_of()
    await page.evaluate(f"() => make({RAW})")
    await page.evaluate("() => sound.handsFree(true)")
    assert await page.evaluate("() => sound.open()")
    await until(page, "() => said('a').length >= 100")
    await page.evaluate("() => sound.close()")
    begin, end = await page.evaluate("() => [said('mic'), said('mic_end')]")
    assert (len(begin), len(end)) == (1, 1)
    blocks = await page.evaluate("() => said('a').map(({s, q, n, pcm}) => [s, q, n, pcm[0].byteLength])")
    assert blocks == [[begin[0]["s"], number, 960, 1920] for number in range(len(blocks))]
    assert end[0]["last"] == len(blocks) - 1
    assert begin[0]["rate"] in {44100, 48000}
    assert begin[0]["label"]
    assert heard(await sound_of(page, "said('a').flatMap(({pcm}) => pcm)"), HEARD).whole >= 0.9
    assert await page.evaluate("() => tracks.map(({readyState}) => readyState)") == ["ended"]
    levels = await page.evaluate("() => levels.map(({rms, peak}) => [rms, peak])")
    assert len(levels) >= 100
    assert all(-120 <= rms <= peak <= 0 for rms, peak in levels)
    assert max(peak for _, peak in levels) > -30


async def test_only_zeros_are_named_and_so_is_the_sound_that_comes_back(page_of: Opener) -> None:
    page = await page_of()
    await page.evaluate(f"() => make({RAW})")
    assert await page.evaluate("() => sound.open()")
    await until(page, "() => troubles.length >= 2")
    assert [kind for kind, _ in await page.evaluate("() => troubles")] == ["zeros", "sound-again"]
    blocks = await page.evaluate("() => said('a').map(({q, n}) => [q, n])")
    assert blocks == [[0, 0]] * len(blocks)
    assert len(blocks) >= 3


async def test_the_browser_is_asked_for_its_voice_processing(page_of: Opener) -> None:
    page = await page_of()
    await page.evaluate("() => make()")
    assert await page.evaluate("() => sound.open()")
    settings = await page.evaluate("() => tracks[0].getSettings()")
    assert (settings["echoCancellation"], settings["noiseSuppression"], settings["autoGainControl"]) == (True,) * 3
    await until(page, "() => levels.length > 5")
    devices = await page.evaluate("() => devices")
    assert devices
    assert all(device["id"] and device["label"] for device in devices)
    assert await page.evaluate(f"() => sound.open({devices[-1]['id']!r})")
    first, second = await page.evaluate("() => said('mic')")
    assert first["s"] != second["s"]
    assert second["name"] == devices[-1]["id"]


async def test_push_to_talk_sends_what_was_said_just_before_and_no_more(page_of: Opener) -> None:
    page = await page_of()
    await page.evaluate("() => make()")
    assert await page.evaluate("() => sound.open()")
    await until(page, "() => levels.length > 10")
    await page.evaluate("() => void sound.talk(true)")
    await until(page, "() => said('a').filter(({n}) => n).length >= 10")
    await page.evaluate("() => sound.talk(false)")
    count = await page.evaluate("() => (window.count = levels.length, said('a').filter(({n}) => n).length)")
    await until(page, "() => levels.length > count + 10")
    assert await page.evaluate("() => said('a').filter(({n}) => n).length") == count
    numbers = await page.evaluate("() => said('a').filter(({n}) => n).map(({q}) => q)")
    assert numbers == list(range(count))


async def test_a_permission_that_comes_after_stop_opens_nothing(page_of: Opener) -> None:
    page = await page_of()
    await page.evaluate("() => make()")
    assert await page.evaluate("() => { const opening = sound.open(); sound.close(); return opening; }") is False
    assert [kind for kind, _ in await page.evaluate("() => troubles")] == ["late"]
    assert await page.evaluate("() => tracks.map(({readyState}) => readyState)") == ["ended"]
    assert await page.evaluate("() => sent") == []


async def test_a_refused_permission_is_named(page_of: Opener) -> None:
    page = await page_of(allowed=False)
    await page.evaluate("() => make()")
    assert await page.evaluate("() => sound.open()") is False
    assert [kind for kind, _ in await page.evaluate("() => troubles")] == ["denied"]


async def test_a_device_that_is_not_there_is_named(page_of: Opener) -> None:
    page = await page_of()
    await page.evaluate("() => make()")
    assert await page.evaluate("() => sound.open('a device of yesterday')") is False
    assert [kind for kind, _ in await page.evaluate("() => troubles")] == ["no-device"]


async def test_a_page_on_plain_http_says_so_and_still_plays(page_of: Opener) -> None:
    page = await page_of("insecure.test")
    assert await page.evaluate("() => [isSecureContext, typeof navigator.mediaDevices]") == [False, "undefined"]
    await page.evaluate("() => make()")
    assert await page.evaluate("() => sound.open()") is False
    assert [kind for kind, _ in await page.evaluate("() => troubles")] == ["insecure"]
    await page.evaluate("(text) => { play(text, 0); }", base64.b64encode(SPEECH[: 2 * RATE]).decode())
    await until(page, f"() => said('played').at(-1)?.n === {RATE}")
    assert len(await page.evaluate("() => troubles")) == 1


# The speaker


async def test_what_is_played_is_what_was_sent(page_of: Opener) -> None:
    page = await page_of()
    await page.evaluate("() => { make(); return tap(); }")
    await page.evaluate("(text) => play(text, 0)", base64.b64encode(SPEECH).decode())
    await until(page, f"() => said('played').at(-1)?.n === {len(SPEECH) // 2}")
    await page.evaluate("() => (window.count = tapped.length)")
    await until(page, "() => tapped.length > count + 5")
    assert heard(await sound_of(page, "tapped"), SPEECH).whole >= 0.9
    reports = await page.evaluate("() => said('played').map(({n}) => n)")
    assert reports == sorted(reports)
    assert abs(len(reports) - len(SPEECH) / 2 / RATE * 10) <= 5
    assert await page.evaluate("() => troubles") == []


async def test_a_flush_stops_at_once_and_counts_exactly(page_of: Opener) -> None:
    page = await page_of()
    await page.evaluate("() => { make(); return tap(); }")
    steady = np.full(5 * RATE, 8000, "<i2").tobytes()
    await page.evaluate("(text) => play(text, 3)", base64.b64encode(steady).decode())
    await until(page, "() => (said('played').at(-1)?.n ?? 0) > 12000")
    await page.evaluate("() => sound.message({t: 'flush', g: 3})")
    await until(page, "() => said('flushed').length")
    await page.evaluate("() => (window.count = tapped.length)")
    await until(page, "() => tapped.length > count + 5")
    (flushed,) = await page.evaluate("() => said('flushed').map(({g, n}) => [g, n])")
    assert flushed[0] == 3
    assert 12000 < flushed[1] < 5 * RATE
    captured = np.abs(np.frombuffer(await sound_of(page, "tapped"), "<i2").astype(int))
    assert abs(int(np.count_nonzero(captured > 20)) - flushed[1]) < 0.004 * RATE
    assert captured[-2 * 960 :].max() == 0
    assert int(np.abs(np.diff(captured[captured.argmax() :])).max()) < 4000, "a click"
    await page.evaluate("(text) => play(text, 3)", base64.b64encode(steady).decode())
    await page.evaluate("(text) => play(text, 4)", base64.b64encode(steady[: 2 * 4800]).decode())
    await until(page, "() => said('played').at(-1)?.g === 4 && said('played').at(-1)?.n === 4800")


async def test_the_end_leaves_nothing_open(page_of: Opener) -> None:
    page = await page_of()
    await page.evaluate("() => { make(); return sound.open(); }")
    await page.evaluate("(text) => play(text, 0)", base64.b64encode(SPEECH).decode())
    await until(page, "() => said('played').length")
    await page.evaluate("() => { window.context = sound.context(); sound.dispose(); }")
    await until(page, "() => context.state === 'closed'")
    assert await page.evaluate("() => tracks.map(({readyState}) => readyState)") == ["ended"]
    assert (await page.evaluate("() => sent.at(-1).t")) == "mic_end"
