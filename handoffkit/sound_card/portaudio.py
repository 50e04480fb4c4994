"""The only door to sounddevice, and so to PortAudio: which devices there are, and an open stream of one of them."""

import atexit
import contextlib
import threading
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from ..audio import SAMPLE_RATE, SAMPLE_WIDTH
from ..errors import DeviceBusy, DeviceRefused, DeviceUnknown, NoDevice, NoPortAudio

Kind = Literal["input", "output"]
_WHAT: dict[Kind, Literal["microphone", "speaker"]] = {"input": "microphone", "output": "speaker"}

_ENDS = 3.0  # seconds in which a stream ends; it takes 25 ms where all is well
_LATENCY = 0.1  # seconds that the callback may be late, in a kernel that does something else
_OTHER_RATES = (48_000, 44_100, SAMPLE_RATE, 16_000)  # Hz that are tried where a device refuses its own
_BUSY = -9985  # PortAudio's paDeviceUnavailable: another program has it
_WRONG_RATE, _WRONG_CHANNELS = -9997, -9998  # paInvalidSampleRate, paInvalidChannelCount

_in_use: "weakref.WeakSet[Stream]" = weakref.WeakSet()


@dataclass(frozen=True, slots=True)
class Device:
    """One microphone or speaker of the kernel's machine."""

    id: int
    """PortAudio's number; `"card:3"` names it."""
    name: str
    kind: Kind
    default: bool
    """Whether the system prefers it."""
    rate: int
    """Hz at which it is opened."""
    channels: int
    """How many it has at most."""


def devices(kind: Kind | None = None, *, refresh: bool = False) -> list[Device]:
    """Return the microphones and speakers of the kernel's machine; a device that does both is there twice.

    Args:
        kind: `"input"` for microphones only, `"output"` for speakers only.
        refresh: Look again for what was plugged in meanwhile, unless one of them is in use here. It ends the streams
            that other code in this kernel has opened with sounddevice.

    Raises:
        NoPortAudio: The library that reaches sound cards is not installed.
    """
    sound = portaudio()
    if refresh:
        _look_again()
    kinds: tuple[Kind, ...] = (kind,) if kind else ("input", "output")
    return [device for each in kinds for device in _devices(sound, each)]


class Stream:
    """One open stream of PortAudio's, PCM16.

    Raises:
        DeviceBusy, DeviceRefused: The system does not hand the device out.
    """

    def __init__(self, device: Device, callback: Callable[..., None], finished: Callable[[], None]) -> None:
        sound = portaudio()
        self._error, self._name = sound.PortAudioError, device.name
        make = sound.RawInputStream if device.kind == "input" else sound.RawOutputStream
        self._stream, self.rate, self.channels = self._opened(make, device, callback, finished)
        self.bytes_per_second = self.rate * self.channels * SAMPLE_WIDTH
        _in_use.add(self)

    @property
    def active(self) -> bool:
        """Whether PortAudio takes it for alive."""
        return not self._stream.closed and bool(self._stream.active)

    @property
    def latency(self) -> float:
        """Seconds between the callback and what is heard, as the system says."""
        return float(self._stream.latency)

    def start(self) -> None:
        """Let sound flow."""
        try:
            self._stream.start()
        except self._error as error:
            self.close()
            raise refused(self._name, error) from error

    def close(self) -> None:
        """End it; called again, it does nothing. One that cannot be ended counts as in use as long as we live."""
        if _within(_ENDS, self._end):
            _in_use.discard(self)
        else:
            _leave_open()

    def _end(self) -> None:
        with contextlib.suppress(self._error):  # the device is gone already
            self._stream.abort(ignore_errors=True)
            self._stream.close(ignore_errors=True)

    def _opened(
        self, make: Callable[..., Any], device: Device, callback: Callable[..., None], finished: Callable[[], None]
    ) -> tuple[Any, int, int]:
        """Open it at the rate and with the channels that it takes."""
        rates = list(dict.fromkeys((device.rate, *_OTHER_RATES)))
        ways = [(rate, channels) for rate in rates for channels in (1, 2) if channels <= max(device.channels, 1)]
        for rate, channels in ways:
            try:
                stream = make(
                    device=device.id,
                    samplerate=rate,
                    channels=channels,
                    dtype="int16",
                    latency=_LATENCY,
                    callback=callback,
                    finished_callback=finished,
                )
            except self._error as error:
                if _code(error) not in (_WRONG_RATE, _WRONG_CHANNELS) or (rate, channels) == ways[-1]:
                    raise refused(device.name, error) from error
            else:
                return stream, rate, channels
        raise AssertionError("the last way either opens or raises")


def portaudio() -> Any:
    """Return sounddevice, which loads PortAudio and asks it for the devices.

    Raises:
        NoPortAudio: It cannot be loaded.
    """
    try:
        import sounddevice
    except (ImportError, OSError) as error:
        raise NoPortAudio(error) from error
    return sounddevice


def _look_again() -> bool:
    """Have PortAudio look for devices once more: it does so only when it is loaded. Return whether it could."""
    sound = portaudio()
    if len(_in_use):
        return False

    def again() -> None:
        sound._terminate()
        sound._initialize()

    return _within(_ENDS, again)


def _leave_open() -> None:
    """Have Python end without PortAudio, which would wait for a stream that does not end.

    Seen with PulseAudio 16.1, whose server had died: its client waits for a piece of memory while it holds the lock
    that PortAudio's thread waits for, and sounddevice ends PortAudio when Python ends.
    """
    atexit.unregister(portaudio()._exit_handler)


def _within(seconds: float, work: Callable[[], None]) -> bool:
    """Do *work* in a thread of its own; return whether it was done in time.

    PortAudio waits for its own thread, which may wait for ever for a sound server that has died.
    """
    thread = threading.Thread(target=work, name="handoffkit sound card", daemon=True)
    thread.start()
    thread.join(seconds)
    return not thread.is_alive()


def _devices(sound: Any, kind: Kind) -> list[Device]:
    """Return the devices of the system's usual interface; on Windows the others name the same ones again."""
    interfaces = sound.query_hostapis()
    usual = max(int(sound.default.hostapi), 0)
    if usual >= len(interfaces):
        return []
    preferred = interfaces[usual][f"default_{kind}_device"]
    found = [each for each in sound.query_devices() if each["hostapi"] == usual and each[f"max_{kind}_channels"] > 0]
    return [
        Device(
            id=each["index"],
            name=each["name"],
            kind=kind,
            default=each["index"] == preferred,
            rate=int(each["default_samplerate"]),
            channels=each[f"max_{kind}_channels"],
        )
        for each in found
    ]


def find(kind: Kind, wanted: int | str | None) -> Device:
    """Return the device that is asked for, also if it was plugged in a moment ago.

    Raises:
        NoPortAudio, NoDevice, DeviceUnknown: There is no such device.
    """
    found = _chosen(devices(kind), wanted)
    if found is None and _look_again():
        found = _chosen(devices(kind), wanted)
    if found is not None:
        return found
    if there := devices(kind):
        raise DeviceUnknown(_WHAT[kind], wanted, [f"{each.id} {each.name!r}" for each in there])
    raise NoDevice(_WHAT[kind], [each.name for each in devices()])


def _chosen(found: list[Device], wanted: int | str | None) -> Device | None:
    """Return the preferred device, the one with a number, or the one that has a name or alone has it in its own."""
    if wanted is None:
        return next((each for each in found if each.default), found[0] if found else None)
    exact = [each for each in found if wanted in (each.id, each.name)]
    if exact or isinstance(wanted, int):
        return exact[0] if exact else None
    near = [each for each in found if wanted.casefold() in each.name.casefold()]
    return near[0] if len(near) == 1 else None


def open_stream(device: Device, callback: Callable[..., None], finished: Callable[[], None]) -> Stream:
    """Open a device; where that is refused, look once more for what is there now."""
    try:
        return Stream(device, callback, finished)
    except DeviceRefused:
        if not _look_again():
            raise
        return Stream(find(device.kind, device.name), callback, finished)


def refused(name: str, error: Exception) -> DeviceRefused:
    """Return the error of ours for one of PortAudio's."""
    kind = DeviceBusy if _code(error) == _BUSY else DeviceRefused
    return kind(name, str(error.args[0] if error.args else error).rstrip("."))


def _code(error: Exception) -> int:
    """Return PortAudio's number for an error."""
    return error.args[1] if len(error.args) > 1 and isinstance(error.args[1], int) else 0
