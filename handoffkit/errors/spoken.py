"""What can go wrong with spoken turns in a call."""

from typing import Any

from .call import CallError


class SpeechMissing(CallError):
    """A spoken turn was sent where nothing can hear it."""

    def __init__(self, problem: str) -> None:
        said = problem or "Speech is turned off in this session: call `hk.connect(speech=True)`."
        super().__init__(f"This call cannot hear. {said} Nothing was sent; typed turns work: `await call.send('...')`.")


class AudioBusy(CallError):
    """A second source of sound was started while one was being sent."""

    def __init__(self, sending: str, found: str) -> None:
        super().__init__(
            f"A call listens to one source of sound at a time; {sending!r} is still being sent, so {found!r} was not. "
            "Wait for that call of `send_audio` or `listen` to return first."
        )


class NothingHeard(CallError):
    """A recording was sent, and nobody speaks in it as far as turn detection can tell."""

    def __init__(self, name: str, level: float, detection: dict[str, Any]) -> None:
        threshold = detection.get("threshold", 0.5)
        loud = f"its level is {level:.0f} dBFS" if level > -90 else "it is silent"
        super().__init__(
            f"Nobody was heard to speak in {name!r} ({loud}; the threshold of turn detection is {threshold}). It is no "
            "turn, and the call goes on. Play it with `hk.audio.load(...)`; if there is speech in it, make it louder "
            "with `.louder(12)`, lower the threshold, or turn detection off (push-to-talk)."
        )
