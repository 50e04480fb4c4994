"""One JupyterLab and one Chromium for the tests of the panel, and a notebook in it as a learner has it.

Both are started when a test first asks for them and ended with the run. Nothing of the user's is read or written: Lab
has folders of its own for its settings, its data and its notebooks. Tests that use them are coroutines on the run's own
loop (`pytestmark = IN_LAB`), for there the browser lives.
"""

import asyncio
import base64
import contextlib
import json
import os
import secrets
import shutil
import sys
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pytest
import pytest_asyncio

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext, ElementHandle, Locator, Page

TAP = Path(__file__).with_name("lab_tap.js")
IN_LAB = pytest.mark.asyncio(loop_scope="session")
SLOW = 30.0
"""Seconds that anything in Lab may take on a busy machine; what fails takes them, what works does not."""
QUIET = {
    "apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
    "docmanager-extension/plugin": {"autosave": False},
}
"""Lab asks nobody for news, and writes a notebook when a test says so."""
FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"),
    *("--autoplay-policy=no-user-gesture-required", "--force-device-scale-factor=1"),
)
FAKE_MICROPHONE = ("--use-fake-ui-for-media-stream", "--use-fake-device-for-media-stream")

Theme = Literal["light", "dark"]


@dataclass
class Lab:
    """A running server: its address, and the folder that it shows."""

    url: str
    token: str
    root: Path
    process: asyncio.subprocess.Process
    numbers: Iterable[int] = field(default_factory=lambda: iter(range(1, 10_000)))

    def notebook(self, cells: Sequence[str], name: str | None = None) -> str:
        """Write a notebook of code cells; return its path in Lab."""
        name = name or f"call-{next(iter(self.numbers))}.ipynb"
        kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
        written = {"cells": [_cell(cell) for cell in cells], "metadata": {"kernelspec": kernel}}
        (self.root / name).write_text(json.dumps(written | {"nbformat": 4, "nbformat_minor": 5}))
        return name

    def address(self, path: str = "", host: str = "") -> str:
        """Return the address of a notebook in a workspace that nobody has used."""
        url = self.url.replace("127.0.0.1", host) if host else self.url
        return f"{url}/lab/workspaces/{secrets.token_hex(4)}/tree/{path}?token={self.token}"


def _cell(source: str) -> dict[str, Any]:
    kept: dict[str, Any] = {"execution_count": None, "outputs": [], "metadata": {}}
    return {"cell_type": "code", "id": secrets.token_hex(4), "source": source, **kept}


@contextlib.asynccontextmanager
async def serve(folder: Path) -> AsyncIterator[Lab]:
    """Start JupyterLab in *folder* and end it; it has found a port of its own."""
    for name in ("config", "data", "runtime", "settings", "workspaces", "root", "ipython"):
        (folder / name).mkdir(parents=True)
    for name, settings in QUIET.items():
        file = folder / "settings" / "@jupyterlab" / f"{name}.jupyterlab-settings"
        file.parent.mkdir(exist_ok=True, parents=True)
        file.write_text(json.dumps(settings))
    token = secrets.token_hex(8)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "jupyter", "lab", "--allow-root", "--no-browser", "--ip=127.0.0.1", "--port=0"),
        *(f"--IdentityProvider.token={token}", f"--ServerApp.root_dir={folder / 'root'}", "--expose-app-in-browser"),
        *("--LabApp.news_url=None", "--LabApp.extension_manager=readonly", "--ServerApp.allow_remote_access=True"),
        *("--ServerApp.terminals_enabled=False", "--ServerApp.shutdown_no_activity_timeout=3600"),
        env=_environment(folder),
        stdout=asyncio.subprocess.DEVNULL,
        stderr=(folder / "lab.log").open("wb"),
    )
    try:
        url = await _served(process, folder)
        yield Lab(url, token, folder / "root", process)
    finally:
        await _end(process)


def _environment(folder: Path) -> dict[str, str]:
    own = {name: str(folder / name.split("_")[-2].lower()) for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR")}
    own |= {"JUPYTER_RUNTIME_DIR": str(folder / "runtime"), "IPYTHONDIR": str(folder / "ipython")}
    own |= {"JUPYTERLAB_SETTINGS_DIR": str(folder / "settings")}
    own |= {"JUPYTERLAB_WORKSPACES_DIR": str(folder / "workspaces"), "TMPDIR": str(folder)}
    return os.environ | own


async def _served(process: asyncio.subprocess.Process, folder: Path) -> str:
    """Return the server's address, which it writes into a file once it listens."""
    async with asyncio.timeout(4 * SLOW):
        while process.returncode is None:
            for file in (folder / "runtime").glob("jpserver-*.json"):
                with contextlib.suppress(ValueError):  # it is being written
                    return str(json.loads(file.read_text())["url"]).rstrip("/")
            await asyncio.sleep(0.05)
    pytest.fail(f"Lab ended before it served anything:\n{(folder / 'lab.log').read_text()}")


async def _end(process: asyncio.subprocess.Process) -> None:
    """Stop Lab, which ends its kernels first."""
    if process.returncode is None:
        process.terminate()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), SLOW)
    if process.returncode is None:
        process.kill()
        await process.wait()


@contextlib.asynccontextmanager
async def chromium(*flags: str) -> "AsyncIterator[Browser]":
    """Start Debian's Chromium and end it; where it is not installed, the test is skipped."""
    from playwright.async_api import async_playwright

    if shutil.which("chromium") is None:
        pytest.skip("`chromium` is not installed. On Debian: apt-get install chromium (apt.txt lists such packages).")

    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=[*FLAGS, *flags], timeout=2e3 * SLOW
        )
        try:
            yield browser
        finally:
            await browser.close()


class Notebook:
    """A notebook in a page of its own, with its kernel."""

    def __init__(self, page: "Page", lab: Lab, path: str, host: str = "") -> None:
        self.page, self.lab, self.path, self.host = page, lab, path, host
        self.errors: list[str] = []
        self.dialogs: list[str] = []
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", lambda line: self.errors.append(line.text) if line.type == "error" else None)
        page.on("dialog", self._dialog)

    async def _dialog(self, dialog: Any) -> None:
        """Keep what a dialog of the page says, and let the page go on; leaving a page is nothing to keep."""
        if dialog.type != "beforeunload":
            self.dialogs.append(dialog.message)
        await dialog.accept()

    async def open(self, *, kernel: bool = True) -> None:
        """Load the page, and wait for the notebook and its kernel."""
        await self.page.goto(self.lab.address(self.path, self.host), timeout=2e3 * SLOW)
        await self.ready(kernel=kernel)

    async def ready(self, *, kernel: bool = True) -> None:
        """Wait until the notebook can run a cell."""
        await self.page.wait_for_function(READY, arg=kernel, timeout=2e3 * SLOW)

    async def reload(self) -> None:
        """Load the page again, as the browser's button does."""
        await self.page.reload(timeout=2e3 * SLOW)
        await self.ready()

    async def run(self, cell: int, timeout: float = 2 * SLOW) -> list[dict[str, Any]]:
        """Run a cell and return its outputs, as they stand in the notebook.

        Raises:
            AssertionError: The cell raised an error.
        """
        async with asyncio.timeout(timeout):
            outputs: list[dict[str, Any]] = await self.page.evaluate(RUN, cell)
        if failed := [each for each in outputs if each["output_type"] == "error"]:
            raise AssertionError("\n".join([f"cell {cell}: {failed[0]['ename']}", *failed[0]["traceback"]]))
        return outputs

    async def start(self, cell: int) -> None:
        """Begin to run a cell, and go on."""
        await self.page.evaluate(START, cell)

    async def python(self, code: str, timeout: float = SLOW) -> str:
        """Run *code* in the notebook's kernel, outside its cells; return what it printed.

        Raises:
            AssertionError: It raised an error.
        """
        async with asyncio.timeout(timeout):
            printed, error = await self.page.evaluate(PYTHON, code)
        assert not error, f"{code}\n{error}"
        return str(printed)

    async def value(self, expression: str, timeout: float = SLOW) -> Any:
        """Return what a Python expression is in the kernel, by way of JSON."""
        return json.loads(await self.python(f"import json as _j; print(_j.dumps({expression}))", timeout))

    async def until(self, expression: str, timeout: float = SLOW) -> Any:
        """Wait until a Python expression is true in the kernel; return it."""
        async with asyncio.timeout(timeout):
            while True:
                if found := await self.value(expression):
                    return found
                await asyncio.sleep(0.1)

    async def attach(self, path: str) -> None:
        """Have `python` and `value` ask the kernel of another notebook, whose page may be gone."""
        await self.page.evaluate(ATTACH, path)

    async def restart(self) -> None:
        """Restart the kernel, as the button does once the question was answered."""
        await self.page.evaluate("() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart()")
        await self.ready()

    async def save(self) -> dict[str, Any]:
        """Save the notebook; return what is in the file."""
        await self.page.evaluate("() => window.jupyterapp.commands.execute('docmanager:save')")
        saved: dict[str, Any] = json.loads((self.lab.root / self.path).read_text())
        return saved

    async def theme(self, theme: Theme) -> None:
        """Switch JupyterLab's theme and wait until it shows."""
        await self.page.evaluate(THEME, f"JupyterLab {theme.title()}")
        shown = f"body[data-jp-theme-light={json.dumps(str(theme == 'light').lower())}]"
        await self.page.wait_for_selector(shown, state="attached", timeout=1e3 * SLOW)

    async def width(self, wanted: int, panel: "Locator") -> None:
        """Make the window such that the panel is *wanted* pixels wide."""
        await self.page.evaluate("() => window.jupyterapp.shell.collapseLeft()")
        found = 0.0
        for _ in range(4):
            box, size = await panel.bounding_box(), self.page.viewport_size
            assert box
            assert size
            found = box["width"]
            if abs(found - wanted) < 1:
                return
            width = round(size["width"] + wanted - found)
            await self.page.set_viewport_size({"width": width, "height": size["height"]})
            await self.settled()
        raise AssertionError(f"the panel is {found} pixels wide, not {wanted}")

    async def settled(self) -> None:
        """Wait until the page has been drawn twice."""
        await self.page.evaluate(
            "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
        )

    async def tapped(self) -> "list[Tapped]":
        """Return what the page has sent to its loudspeaker so far, one for each audio context."""
        found = await self.page.evaluate("() => window.__tap()")
        return [Tapped(each["rate"], each["zero"] or 0.0, base64.b64decode(each["pcm"])) for each in found]

    async def heap(self) -> float:
        """Return the page's JavaScript heap in MB, after garbage has been collected."""
        session = await self.page.context.new_cdp_session(self.page)
        await session.send("HeapProfiler.collectGarbage")
        await session.send("Performance.enable")
        metrics = {each["name"]: each["value"] for each in (await session.send("Performance.getMetrics"))["metrics"]}
        await session.detach()
        return float(metrics["JSHeapUsedSize"]) / 2**20

    async def tell(self) -> None:
        """Print what stands in the page, for the report of a test that failed."""
        print(f"{self.path}: the page's errors: {self.errors}; its dialogs: {self.dialogs}")
        with contextlib.suppress(Exception):
            for output in await self.page.locator(".jp-OutputArea-output").all_inner_texts():
                print("----", output, sep="\n")
            if folder := os.environ.get("HANDOFFKIT_SHOTS"):
                await self.page.screenshot(path=Path(folder) / "last.png")

    async def close(self) -> None:
        """End the kernel and close the page."""
        with contextlib.suppress(Exception):
            async with asyncio.timeout(SLOW):
                await self.page.evaluate(SHUT_DOWN)
        await self.page.close(run_before_unload=False)


@dataclass(frozen=True)
class Tapped:
    """Sound that left the page."""

    rate: float
    """Hz of the page's audio context."""
    zero: float
    """The page's clock at the first sample, in ms."""
    pcm: bytes = field(repr=False)
    """PCM16, mono, at that rate."""

    @property
    def inside(self) -> bytes:
        """The same as PCM16, mono, 24,000 Hz."""
        import numpy as np
        import soxr

        samples = np.frombuffer(self.pcm, "<i2")
        return bytes(soxr.resample(samples, self.rate, 24_000).astype("<i2").tobytes())


READY = """(kernel) => {
  const shown = window.jupyterapp?.shell?.currentWidget;
  if (!shown?.content?.widgets || !shown.context?.isReady) return false;
  return !kernel || shown.sessionContext?.session?.kernel?.status === "idle";
}"""
START = """(cell) => {
  window.jupyterapp.shell.currentWidget.content.activeCellIndex = cell;
  void window.jupyterapp.commands.execute("notebook:run-cell");
}"""
RUN = """async (cell) => {
  const {content} = window.jupyterapp.shell.currentWidget;
  content.activeCellIndex = cell;
  await window.jupyterapp.commands.execute("notebook:run-cell");
  return content.model.cells.get(cell).toJSON().outputs;
}"""
PYTHON = """async (code) => {
  const {kernel} = window.__session ?? window.jupyterapp.shell.currentWidget.sessionContext.session;
  const future = kernel.requestExecute({code, store_history: false, stop_on_error: false});
  let printed = "";
  let error = "";
  future.onIOPub = ({header, content}) => {
    if (header.msg_type === "stream") printed += content.text;
    if (header.msg_type === "error") error = content.traceback.join("\\n");
  };
  await future.done;
  return [printed, error];
}"""
ATTACH = """async (path) => {
  const {sessions} = window.jupyterapp.serviceManager;
  await sessions.refreshRunning();
  const model = [...sessions.running()].find((session) => session.path === path);
  window.__session = sessions.connectTo({model});
}"""
THEME = """(theme) => window.jupyterapp.commands.execute("apputils:change-theme", {theme})"""
DRAWN = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
SHUT_DOWN = "() => window.jupyterapp.shell.currentWidget.sessionContext.shutdown()"


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def lab(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Lab]:
    """Serve JupyterLab for the whole run."""
    async with serve(tmp_path_factory.mktemp("lab")) as served:
        yield served


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser(tmp_path_factory: pytest.TempPathFactory) -> "AsyncIterator[Browser]":
    """Run Chromium for the whole run; its microphone hears `spoken_wav`, from the beginning each time it is opened."""
    file = spoken_wav(tmp_path_factory.mktemp("microphone") / "caller.wav")
    async with chromium(*FAKE_MICROPHONE, f"--use-file-for-fake-audio-capture={file}%noloop") as running:
        yield running


def spoken_wav(path: Path) -> Path:
    """Write what the fake microphone hears: a turn, one over the reply to it, and a third later."""
    from conftest import ROOT

    from handoffkit import audio

    first, second, third = (audio.load(ROOT / f"audio/laptop-will-not-charge/turn-{n}.wav").pcm for n in (1, 2, 3))
    audio.write_wav(path, [room(1.5), first, room(3.0), second, room(20), third, room(90)])
    return path


def room(seconds: float) -> bytes:
    """Return the sound of a quiet room: no microphone gives digital zeros, and those would mean that none is there."""
    import numpy as np

    noise = np.random.default_rng(1).normal(0, 12, round(24_000 * seconds))
    return bytes(noise.astype("<i2").tobytes())


class Opener:
    """Opens notebooks in one browser, and closes them after the test."""

    def __init__(self, lab: Lab, browser: "Browser", host: str = "") -> None:
        self.lab, self.browser, self.host = lab, browser, host
        self.opened: list[Notebook] = []
        self.contexts: list[BrowserContext] = []

    async def __call__(self, *cells: str, path: str | None = None, kernel: bool = True, **options: Any) -> Notebook:
        """Open a notebook of *cells*, or the one at *path*, in a page of its own."""
        context = await self.browser.new_context(viewport={"width": 1180, "height": 1400}, **options)
        self.contexts.append(context)
        await context.add_init_script(path=TAP)
        notebook = Notebook(await context.new_page(), self.lab, path or self.lab.notebook(cells), self.host)
        self.opened.append(notebook)
        await notebook.open(kernel=kernel)
        return notebook

    async def close(self) -> None:
        """Close them all."""
        for notebook in self.opened:
            await notebook.close()
        for context in self.contexts:
            await context.close()


@pytest_asyncio.fixture(loop_scope="session")
async def notebooks(lab: Lab, browser: "Browser") -> AsyncIterator[Opener]:
    """Return what opens notebooks: `notebook = await notebooks("1 + 1")`."""
    opener = Opener(lab, browser)
    yield opener
    for notebook in opener.opened:
        await notebook.tell()
    await opener.close()


async def text_of(element: "Locator | ElementHandle") -> str:
    """Return the words that an element shows."""
    return (await element.inner_text()).strip()
