"""A virtual sound card for the tests: a PulseAudio daemon of their own, with a microphone and a speaker that are files.

What is played into `Card.speak` comes out of the kernel's microphone; what the kernel's speaker plays is in `heard`.
"""

import asyncio
import contextlib
import ctypes.util
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from conftest import Needs

from handoffkit import audio
from handoffkit.sound_card import devices

Pcm = bytes | bytearray
DEVICE = "pulse"
"""What ALSA calls the daemon, whatever else is there."""
RATE = audio.SAMPLE_RATE
_BOUND = 30.0  # seconds in which the daemon does anything


class Card:
    """One daemon, with the sink `vmic`, whose monitor is the microphone, and the sink `vspk`, which is the speaker.

    `norewinds` matters: without it the beginning of what is spoken is cut off.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.env = {
            "XDG_RUNTIME_DIR": str(folder),
            "XDG_CONFIG_HOME": str(folder),
            "PULSE_COOKIE": str(folder / "cookie"),
            "PULSE_SERVER": f"unix:{folder}/pulse/native",
        }
        self._run(
            *("pulseaudio", "-n", "--daemonize=yes", "--use-pid-file=yes", "--exit-idle-time=600", "--log-target=null"),
            *("-L", "module-native-protocol-unix"),
        )

    @property
    def pid(self) -> int:
        return int((self.folder / "pulse" / "pid").read_text())

    @property
    def alive(self) -> bool:
        try:
            return subprocess.run(["pactl", "info"], env=self._env, capture_output=True, timeout=_BOUND).returncode == 0
        except subprocess.TimeoutExpired:
            return False

    def plug_in(self, rate: int = RATE, channels: int = 1) -> None:
        """Have a new microphone and a new speaker, and nothing else."""
        self.unplug()
        for name in ("vmic", "vspk"):
            form = (f"rate={rate}", f"channels={channels}", "format=s16le", "norewinds=1")
            self._run("pactl", "load-module", "module-null-sink", f"sink_name={name}", *form)
        self._run("pactl", "set-default-source", "vmic.monitor")
        self._run("pactl", "set-default-sink", "vspk")

    def unplug(self, name: str = "") -> None:
        """Take the devices away, or the one that has a *name*."""
        for line in self._run("pactl", "list", "short", "modules").splitlines():
            if "module-null-sink" in line and name in line:
                self._run("pactl", "unload-module", line.split()[0])

    @property
    def recorders(self) -> int:
        """How many record at the moment."""
        return len(self._run("pactl", "list", "short", "source-outputs").splitlines())

    @contextlib.asynccontextmanager
    async def speaking(self, path: Path) -> AsyncIterator[asyncio.subprocess.Process]:
        """Play a WAV file into the microphone meanwhile; the process ends with the file."""
        command = ("paplay", "--device=vmic", str(path))
        process = await asyncio.create_subprocess_exec(*command, env=self._env)
        try:
            yield process
        finally:
            await _end(process)

    @contextlib.asynccontextmanager
    async def hearing(self) -> AsyncIterator["Heard"]:
        """Record what the speaker plays meanwhile."""
        form = ("--format=s16le", f"--rate={RATE}", "--channels=1", "--raw", "--latency-msec=20")
        command = ("parec", "--device=vspk.monitor", *form)
        process = await asyncio.create_subprocess_exec(*command, env=self._env, stdout=asyncio.subprocess.PIPE)
        heard = Heard(process)
        try:
            await heard.until(1)  # it has begun
            yield heard
        finally:
            await _end(process)
            await heard.over()

    def end(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            os.kill(self.pid, signal.SIGTERM)
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def _env(self) -> dict[str, str]:
        return os.environ | self.env

    def _run(self, *command: str) -> str:
        done = subprocess.run(command, env=self._env, capture_output=True, text=True, timeout=_BOUND, check=False)
        assert done.returncode == 0, f"{' '.join(command)}: {done.stderr}"
        return done.stdout


class Heard:
    """What a recorder has recorded so far, PCM16, mono, 24000 Hz."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.pcm = bytearray()
        self._grew = asyncio.Condition()
        self._reader = asyncio.create_task(self._read(process))

    async def until(self, size: int) -> None:
        """Wait until there are *size* bytes."""
        async with asyncio.timeout(_BOUND), self._grew:
            await self._grew.wait_for(lambda: len(self.pcm) >= size)

    async def more(self, ms: int) -> None:
        """Wait until so much more has been recorded."""
        await self.until(len(self.pcm) + ms * audio.BYTES_PER_MS)

    async def over(self) -> None:
        await asyncio.wait_for(self._reader, _BOUND)

    async def _read(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdout
        while piece := await process.stdout.read(4096):
            async with self._grew:
                self.pcm += piece
                self._grew.notify_all()


async def _end(process: asyncio.subprocess.Process) -> None:
    with contextlib.suppress(ProcessLookupError):
        process.terminate()
    await asyncio.wait_for(process.wait(), _BOUND)


async def until(true: Callable[[], bool]) -> None:
    """Wait until something is true of what a thread of PortAudio's does."""
    async with asyncio.timeout(_BOUND):
        while not true():  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.01)


_running: list[Card] = []


@pytest.fixture
def card(needs: Needs, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Card]:
    """Have a virtual sound card with a new microphone and a new speaker, and let this process use no other."""
    needs("pulseaudio", "pulseaudio")
    needs("pactl", "pulseaudio-utils")
    if ctypes.util.find_library("portaudio") is None:
        pytest.skip("PortAudio is not installed. On Debian: apt-get install libportaudio2 (see apt.txt).")
    if not _running or not _running[-1].alive:
        _running.append(Card(Path(tempfile.mkdtemp(prefix="card-"))))
        request.config.add_cleanup(_running[-1].end)
    found = _running[-1]
    for name, value in found.env.items():
        monkeypatch.setenv(name, value)
    found.plug_in()
    if DEVICE not in {device.name for device in devices(refresh=True)}:
        pytest.skip("ALSA does not know PulseAudio. On Debian: apt-get install libasound2-plugins (see apt.txt).")
    yield found
    if found.alive:
        found.unplug()


def extent(pcm: Pcm, least: float = 0.01) -> int:
    """Return the samples from the first one to the last that is louder than *least*; 0 for silence."""
    loud = np.flatnonzero(np.abs(np.frombuffer(pcm, "<i2") / 32768) > least)
    return int(loud[-1] - loud[0]) if loud.size else 0
