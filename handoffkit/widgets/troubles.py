"""What can be wrong in a panel, in words: one fact, then what to do, and at most one action.

The page names its own troubles by kind, as the microphone's ends do; verbs of a call raise errors, whose first sentence
is the fact. Pure.
"""

import re
from dataclasses import dataclass
from typing import Any, Literal

Tone = Literal["warn", "bad"]
Action = Literal["microphone", "details", "push"]

_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z`'\"(\[])")
_LONGEST = 2_000  # characters of an error that are shown: a validator can write pages


@dataclass(frozen=True, slots=True)
class Trouble:
    """One thing that is wrong."""

    kind: str
    """By which it is cleared again, and found in the log."""
    tone: Tone
    """`warn`: the call goes on; `bad`: it does not, or what was asked for was not done."""
    fact: str
    advice: str
    action: Action | None = None
    """The one button that helps."""

    def shown(self, number: int) -> dict[str, Any]:
        """Return it as the page has it; *number* tells one appearance from the next."""
        return {
            "id": f"{self.kind}-{number}",
            "tone": self.tone,
            "fact": self.fact,
            "advice": self.advice,
            "action": self.action,
        }


_PLAIN: tuple[Trouble, ...] = (
    Trouble(
        "insecure",
        "warn",
        "This page may not use a microphone.",
        "Browsers allow it on https and on localhost only. Open the notebook there, choose the kernel's microphone, or "
        "type your turns.",
        "microphone",
    ),
    Trouble(
        "denied",
        "warn",
        "The browser was not allowed to use the microphone.",
        "Allow it in the address bar of this page, then choose the microphone again. Typed turns work meanwhile.",
        "microphone",
    ),
    Trouble(
        "no-device",
        "warn",
        "The browser found no microphone.",
        "Plug one in and choose it again, choose the kernel's microphone, or type your turns.",
        "microphone",
    ),
    Trouble(
        "in-use",
        "warn",
        "The microphone could not be opened.",
        "Another program may be using it. Close that, then choose the microphone again.",
        "microphone",
    ),
    Trouble(
        "ended",
        "warn",
        "The microphone has stopped.",
        "It was unplugged or taken away. What was said is kept: choose a microphone to go on, or type.",
        "microphone",
    ),
    Trouble(
        "zeros",
        "warn",
        "No sound is arriving.",
        "The microphone sends only silence. See whether it is muted on the device or in the system's settings, or "
        "choose another one.",
        "microphone",
    ),
    Trouble(
        "no-worklet",
        "warn",
        "This browser cannot record sound here.",
        "It has no audio worklets on this page. Use a current browser on https or localhost, or type your turns.",
    ),
    Trouble(
        "late",
        "warn",
        "The microphone was allowed only after it was no longer wanted.",
        "It was switched off again at once. Choose it once more to speak.",
        "microphone",
    ),
    Trouble(
        "reloaded",
        "warn",
        "The microphone stopped, since the page was loaded again.",
        "The call goes on. Choose the microphone again to speak.",
        "microphone",
    ),
    Trouble(
        "stopped",
        "warn",
        "The microphone's sound no longer reaches the kernel.",
        "The page was loaded again or closed, or its device or network is gone. Choose the microphone again, or type "
        "your turns.",
        "microphone",
    ),
    Trouble(
        "echo",
        "warn",
        "The agent seems to hear itself.",
        "Its own words come back through the microphone. Use headphones, or hold a key to talk instead.",
        "push",
    ),
    Trouble(
        "muted",
        "warn",
        "The microphone is muted.",
        "Nothing was sent. Unmute it, then speak.",
    ),
    Trouble(
        "no-microphone",
        "warn",
        "No microphone is on.",
        "Choose one first, or type your turn.",
        "microphone",
    ),
)

TROUBLES: dict[str, Trouble] = {trouble.kind: trouble for trouble in _PLAIN}
"""By kind: what the page, or a microphone's end here, can report."""

SILENT = frozenset({"underrun", "sound-again"})
"""What the page reports for the log alone."""

PASSING = frozenset({"asked", "blocked", "dropped", "late", "muted", "microphone-dropped", "speaker-dropped"})
"""What is over when it is said: it stands for a while, and goes."""

MICROPHONE = frozenset(
    {"insecure", "denied", "no-device", "in-use", "ended", "zeros", "no-worklet", "late", "reloaded", "stopped"}
    | {"no-microphone", "muted", "card"}
)
"""What is over once sound arrives."""


def of_error(error: BaseException, kind: str = "verb", tone: Tone = "bad", action: Action | None = None) -> Trouble:
    """Return the trouble that an error tells of: its first sentence is the fact, the rest what to do."""
    words = str(error).strip() or f"Something raised {type(error).__name__}."
    words = words if len(words) <= _LONGEST else words[:_LONGEST] + "…"
    fact, _, advice = "\0".join(_SENTENCE.split(words, maxsplit=1)).partition("\0")
    if not advice and "\n" in fact:
        fact, _, advice = fact.partition("\n")
    return Trouble(kind, tone, fact, advice or _ADVICE, action)


_ADVICE = "Try again; `panel.call.log` has what passed."


def blocked(seconds: float, dropped: int) -> Trouble:
    """Return the trouble of a kernel that was busy with something else for *seconds*; *dropped* is lost sound in ms."""
    lost = f" {dropped / 1000:.1f} s of sound were dropped." if dropped else ""
    return Trouble(
        "blocked",
        "warn",
        f"The kernel was busy for {seconds:.0f} s, and the call stood still.{lost}",
        "A cell ran without `await`. The call goes on; say again what was lost.",
    )


def expiring(left: float) -> Trouble:
    """Return the trouble of a session that the service will end in *left* seconds."""
    tens = max(10, -(-int(left) // 10) * 10)
    when = f"{left / 60:.0f} min" if left >= 90 else f"{tens} s"
    return Trouble(
        "expiry",
        "warn",
        f"The service ends this call in about {when}.",
        "Sessions last only so long. Say what is left, or hang up and hand off; a new call can go on from here.",
    )


def expired() -> Trouble:
    """Return the trouble of a session that the service has ended when its time was over."""
    return Trouble(
        "expired",
        "bad",
        "The service ended the call, since its time was over.",
        "What was said is kept and can be handed off. Start a new call to go on.",
    )


def ended_early(how: str) -> Trouble:
    """Return the trouble of a call that ended, and nobody had hung up."""
    return Trouble(
        "early",
        "bad",
        f"The call ended early: {how.rstrip('. ')}.",
        "What was said is kept. Start a new call to go on.",
        "details",
    )


def gone(seconds: float) -> Trouble:
    """Return the trouble of a call that was hung up since its page was gone for *seconds*."""
    return Trouble(
        "gone",
        "warn",
        f"The call was hung up: its page was gone for {seconds:.0f} s.",
        "What was said is kept and can be handed off. Start a new call to go on.",
    )


def too_long(found: int, limit: int) -> Trouble:
    """Return the trouble of a typed turn that is too long."""
    return Trouble(
        "asked",
        "bad",
        f"A typed turn has {limit:,} characters at most; this one has {found:,}.",
        "Nothing was sent. Shorten it, or send it from a cell with `await panel.call.send(text)`.",
    )


def too_many(what: str) -> Trouble:
    """Return the trouble of a page that asks faster than the call can do it."""
    return Trouble(
        "asked", "warn", f"Too much was asked at once: {what} was not done.", "Wait a moment, and try again."
    )


def dropped(what: str, lost_ms: int) -> Trouble:
    """Return the trouble of sound that came faster than it could be sent."""
    return Trouble(
        "dropped",
        "warn",
        f"{lost_ms / 1000:.1f} s of {what} were dropped, since the kernel could not take them in time.",
        "The call goes on; say again what was lost.",
    )
