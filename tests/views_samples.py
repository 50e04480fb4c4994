"""Turns, marks and frames for the tests of the views."""

from typing import Any

from handoffkit.marks import CallEnded, Extraction, LiveHandoff, Mark
from handoffkit.wire.conversation import ToolUse, Turn
from handoffkit.wire.frames import AudioRef, Frame

HOSTILE = [
    "<img src=x onerror=alert(1)>",
    "</script><script>alert(1)</script>",
    "</td></tr></table><h1>owned</h1>",
    "&lt;b&gt; & \"quotes\" 'too'",
    "# not a heading, **not bold**, [no](link), `no code`",
    "$5 and $10, \\frac{1}{2}, \\(x\\)",
    "\x1b[31mred\x00\x07 and \r alone",
    "safe \u202egnp.exe\u202c \u2066x\u2069",
    "half a pair \ud83d and a tag \U000e0041",
    "one\nCaller    two",
]


def caller(text: str, start: float, end: float | None = None, **more: Any) -> Turn:
    return Turn("c1", "caller", text, start, start if end is None else end, 1, "item_1", **more)


def agent(text: str, start: float, end: float, **more: Any) -> Turn:
    return Turn("c1", "agent", text, start, end, 2, "item_2", **({"generated": text} | more))


def typed_call() -> list[Turn]:
    return [
        caller("My laptop does not charge. The light stays off.", 0.012),
        agent("Sorry to hear that. Have you tried another outlet?", 0.016, 0.048, audio_ms=2600),
        caller("Another outlet changed nothing, and I present tomorrow.", 8.412),
        agent("I will look up what helps.", 8.415, 8.44, audio_ms=2600, tools=(lookup(8.42, 8.43),)),
    ]


def lookup(start: float, end: float | None, output: str | None = "2 articles") -> ToolUse:
    return ToolUse("find_faults", '{"product": "laptop", "light": false}', output, start, end)


def spoken_call(turns: int, *, words: str = "It gets warm, but there is no light.") -> list[Turn]:
    """Return a call in which caller and agent speak in turn, about 8 s for both."""
    said, at = [], 0.5
    for number in range(turns // 2):
        said.append(caller(words, at, at + 3.0, spoken=True, audio_ms=3000))
        cut = number % 5 == 2
        said.append(
            agent(
                "That points to the charging port.", at + 3.7, at + 4.0, spoken=True, audio_ms=4000,
                interrupted=cut, heard_ms=1200 if cut else None,
            )
        )  # fmt: skip
        at += 8.5
    return said


FRONT, BILLING, ORDERS = "You are the front desk.", "You are billing. Be brief.", "You look up orders."


def transfer(to: str, start: float, end: float) -> ToolUse:
    return ToolUse(f"transfer_to_{to.lower()}", "{}", f'{{"assistant": "{to}"}}', start, end)


def handed_over(first: str = "Front", second: str = "Billing") -> tuple[list[Turn], list[Mark]]:
    """Return a spoken call that goes to a second agent and back; at first the old agent says goodbye in its place."""
    front = {"agent": first, "instructions": FRONT, "spoken": True}
    billing = {"agent": second, "instructions": BILLING, "spoken": True}
    turns = [
        agent("Front desk, good morning.", 0.5, 0.9, audio_ms=1800, **front),
        caller("I was charged twice for my last order.", 3.0, 5.6, spoken=True, audio_ms=2600),
        agent(
            "I'll pass you to billing.", 6.2, 6.5, audio_ms=1700, tools=(transfer(second, 6.52, 6.55),), **front
        ),
        agent("Goodbye, and have a nice day!", 8.0, 8.3, audio_ms=1800, **front),
        agent("Billing here. Which order is it?", 10.4, 10.9, audio_ms=2400, **billing),
        caller("Order seven.", 13.6, 14.8, spoken=True, audio_ms=1200),
        agent("It is paid back.", 15.3, 15.6, audio_ms=1500, **billing),
        caller("Thank you. Back to the front desk, please.", 17.5, 20.2, spoken=True, audio_ms=2700),
        agent("Front desk again.", 21.0, 21.3, audio_ms=1500, tools=(transfer(first, 20.5, 20.55),), **front),
    ]  # fmt: skip
    marks: list[Mark] = [
        LiveHandoff(6.55, "c1", second, BILLING, first, FRONT),
        LiveHandoff(20.55, "c1", first, FRONT, second, BILLING),
    ]
    return turns, marks


def ended(at: float, *, clean: bool = True) -> Mark:
    return CallEnded(at, "c1", how="the client hung up" if clean else "the connection dropped", clean=clean)


def extraction(start: float, seconds: float, attempt: int = 1, status: str = "ok") -> Mark:
    return Extraction(start + seconds, "c2", "call-1/handoff-1", attempt, status, start, seconds)


def frame(seq: int, event: str, data: dict[str, Any] | None = None, **more: Any) -> Frame:
    given: dict[str, Any] = {"conn": "c1", "channel": "realtime", "dir": "server"} | more
    return Frame(seq=seq, at=seq / 100, event=event, data=data or {}, **given)


def sound(seq: int, event: str = "response.output_audio.delta", **more: Any) -> Frame:
    return frame(seq, event, {"delta": ""}, audio=AudioRef("c1-agent.pcm", 0, 4800), **more)
