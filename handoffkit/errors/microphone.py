"""What can go wrong with a microphone, and with the sound card of the machine that the kernel runs on.

Errors are raised before sound flows. Warnings are for what happens while it does: each says its sentence, and the one
who records decides where it is shown.
"""

from collections.abc import Sequence
from typing import ClassVar, Literal

from .base import HandoffkitError

_PAGE = "The browser's microphone and speaker work wherever the kernel runs: `call.panel()`"
_INSTALL = (
    "on Debian and Ubuntu `apt-get install libportaudio2`, with conda `conda install -c conda-forge portaudio`, on "
    "macOS `brew install portaudio`; on Windows it comes with sounddevice"
)


class MicrophoneError(HandoffkitError):
    """There is no sound to be had, or nowhere to play it. Catch it to catch all of them."""


class NoPortAudio(MicrophoneError):
    """The library that reaches the sound card is not installed.

    Attributes:
        found: What was found instead, in a few words.
    """

    def __init__(self, found: object) -> None:
        self.found = str(found)
        super().__init__(
            f"The kernel's sound card is reached through PortAudio, which cannot be loaded ({found}). Install it: "
            f"{_INSTALL}. Then run this cell again. {_PAGE}."
        )


class NoDevice(MicrophoneError):
    """The machine has no microphone, or no speaker."""

    def __init__(self, what: Literal["microphone", "speaker"], others: Sequence[str]) -> None:
        there = f"it has only {', '.join(map(repr, others))}" if others else "it has no sound card at all"
        super().__init__(
            f"The machine that the kernel runs on has no {what}: {there}, which is usual in a container or far away. "
            f"{_PAGE}. {_INSTEAD[what]}"
        )


class DeviceUnknown(MicrophoneError):
    """A device was asked for that is not there."""

    def __init__(self, what: Literal["microphone", "speaker"], asked: object, names: Sequence[str]) -> None:
        super().__init__(
            f"There is no {what} {asked!r}; there is {', '.join(names)}. Give one of these, by its name or as the "
            'number in front of it ("card:3"), or "card" for the one that the system prefers.'
        )


class DeviceRefused(MicrophoneError):
    """The system does not hand out a device."""

    advice = "Try another device, or unplug this one and plug it in again"

    def __init__(self, name: str, words: str) -> None:
        super().__init__(f"{name!r} cannot be opened. The system says: {words}. {self.advice}. {_PAGE}.")


class DeviceBusy(DeviceRefused):
    """Another program has the device for itself."""

    advice = "Close the program that uses it, often a video call or a browser's tab, and run this cell again"


class NoPanel(MicrophoneError):
    """The page's microphone was asked for where no page shows the call."""

    def __init__(self) -> None:
        super().__init__(
            'The microphone "page" is the browser\'s, and no panel shows this call. Run `call.panel()` in a cell of '
            'its own first, and keep it in sight; "card" is the microphone of the machine that the kernel runs on.'
        )


class PageMicrophoneOff(MicrophoneError):
    """The page's microphone was asked for, and it is not open."""

    def __init__(self) -> None:
        super().__init__(
            'The microphone "page" is open only while it is on in the panel. Choose it there and press "Start '
            'microphone" (the browser may ask whether it may), then run this cell again; "card" is the microphone of '
            "the machine that the kernel runs on."
        )


class NotAMicrophone(MicrophoneError):
    """Something that gives no sound was handed in as a microphone."""

    def __init__(self, found: object) -> None:
        super().__init__(
            'A call listens to "page" (the browser\'s microphone), "card" or "card:3" (the kernel\'s sound card), the '
            "name of such a device, a recording (the path of a WAV file, a `Sound`, an array), or an async iterator "
            f"over blocks of PCM16, mono, 24000 Hz; found {found!r}."
        )


class MicrophoneTrouble(UserWarning):
    """Something about a microphone while it records, or about a speaker while it plays.

    Its first sentence is the fact, the rest is what to do.

    Attributes:
        kind: One word for what it is, by which it is found in the log.
    """

    kind: ClassVar[str]


class NoSoundArrives(MicrophoneTrouble):
    """Nothing but zeros."""

    kind = "zeros"

    def __init__(self, name: str) -> None:
        super().__init__(
            f"No sound is arriving from {name!r}: for a second it has given nothing but zeros, not even noise, which "
            "no open microphone does. Is it muted, by a key or a switch? On macOS, allow the program that runs the "
            "kernel to use the microphone (System Settings, Privacy & Security, Microphone), and start it again."
        )


class NothingArrives(MicrophoneTrouble):
    """Not even zeros."""

    kind = "stalled"

    def __init__(self, name: str) -> None:
        super().__init__(
            f"Nothing arrives from {name!r} any more. If it does not go on by itself in a few seconds, choose the "
            "microphone again."
        )


class SoundAgain(MicrophoneTrouble):
    """After a second of none there is sound."""

    kind = "sound-again"

    def __init__(self, name: str) -> None:
        super().__init__(f"Sound is arriving from {name!r} again.")


class SoundTooLoud(MicrophoneTrouble):
    """The peaks are cut off."""

    kind = "clipping"

    def __init__(self, name: str) -> None:
        super().__init__(
            f"The sound from {name!r} is too loud: its peaks are cut off, and words are recognised worse. Turn the "
            "microphone down, or move away from it."
        )


class SoundDropped(MicrophoneTrouble):
    """Sound was recorded and nobody took it in time."""

    kind = "dropped"

    def __init__(self, name: str, ms: int, limit: float) -> None:
        super().__init__(
            f"{ms / 1000:.1f} s of sound from {name!r} were dropped, the oldest first: {limit:g} s are kept while the "
            "kernel is busy with something else. Say again what was lost; a cell that blocks for long is the usual "
            "reason (`await asyncio.to_thread(...)` keeps the kernel free)."
        )


class SoundLost(MicrophoneTrouble):
    """The system had to throw sound away before it could be fetched."""

    kind = "overflow"

    def __init__(self, name: str) -> None:
        super().__init__(
            f"The system has thrown away some sound from {name!r}, since this machine was too busy to fetch it. Words "
            "may be missing; end what else is running."
        )


class MicrophoneEnded(MicrophoneTrouble):
    """A device stopped giving sound."""

    kind = "ended"

    def __init__(self, name: str) -> None:
        super().__init__(
            f"{name!r} gives no sound any more: it was unplugged, or the system took it away. What was said before is "
            "kept. Plug it in again or choose another microphone, and start listening anew."
        )


class SpeakerEnded(MicrophoneTrouble):
    """A device stopped playing."""

    kind = "speaker-ended"

    def __init__(self, name: str) -> None:
        super().__init__(
            f"{name!r} plays no sound any more: it was unplugged, or the system took it away. The call goes on; choose "
            "another speaker to hear it."
        )


_INSTEAD = {
    "microphone": "A recording can stand in for one: `await call.listen(source='turn-1.wav')`.",
    "speaker": "Without one the call goes on, and is not heard.",
}
"""What else can be done without the device."""


class NothingToHear(MicrophoneTrouble):
    """Whichever microphone there is was asked for, and there is none."""

    kind = "none"

    def __init__(self, why: str) -> None:
        super().__init__(f"Nobody was listened to, and the call goes on: there is no microphone here. {why}")
