"""States of the call panel as traits and messages: what a page test shows without a kernel."""

import copy
from typing import Any

Json = dict[str, Any]

SIMULATED = {
    "head": "Simulated on this machine",
    "says": "Follows a script of rules, not your instructions.",
    "cost": "Nothing leaves this machine. No cost.",
    "short": "Simulated on this machine",
}
LIVE = {
    "head": "Live: openai:gpt-realtime",
    "says": "Follows your instructions.",
    "cost": "Your voice is sent to the provider, who charges for it.",
    "short": "Live: openai:gpt-realtime",
}
TRAITS: Json = {
    "facts": {
        "title": "Support agent",
        "mode": "live",
        "who": LIVE,
        "agent": "Support agent",
        "hands_to": "Triage agent",
        "result": "Ticket, 4 fields",
        "watching": False,
        "hears": {"ok": True, "words": ""},
        "page_sound": {"ok": True, "words": ""},
        "card": [{"id": "card:0", "name": "USB headset"}],
        "beat_ms": 2000,
        "gone_s": 60,
    },
    "phase": "ready",
    "clock": {"began": None, "ended": None, "now": 0.0, "expires": None},
    "error": {},
    "controls": {
        "muted": False,
        "hands_free": False,
        "microphone": "page",
        "handing_off": False,
        "talking": False,
        "speaker": "page",
    },
    "approvals": [],
    "ticket": {},
    "counts": {"rows": 0, "events": 0, "rows_dropped": 0, "events_dropped": 0},
}
NAMES = {"c": "Caller", "a1": "Support agent", "a2": "Delivery form agent", "t": "Tool", "o": "Operator"}


def row(k: str, who: str, at: float, end: float, text: str = "", **more: Any) -> Json:
    """Return a row of the transcript; `more` replaces any of its fields."""
    lane = {"c": "caller", "t": "tools"}.get(who, "agent")
    base: Json = {"k": k, "kind": "turn", "who": who, "name": NAMES.get(who, who), "at": at, "end": end, "text": text}
    base |= {"tail": "", "unheard": "", "typed": False, "inaudible": False, "pending": False, "seeded": False}
    base |= {"interrupted": False, "heard_ms": None, "total_ms": int((end - at) * 1000), "gap_ms": None}
    base |= {"tokens": None, "clip": who != "t", "note": "", "bad": False, "call": "", "output": None, "ms": None}
    return base | {"lane": lane, "look": "plain"} | more


def event(q: int, at: float, name: str, c: str, w: str, x: str, **more: Any) -> Json:
    """Return one line of the event list."""
    return {"q": q, "at": at, "dir": "server", "e": name, "c": c, "w": w, "x": x, "bad": False} | more


ROWS = [
    row(
        "r1",
        "c",
        1.2,
        5.6,
        "Hi, my laptop stopped charging last night. The light next to the plug stays off.",
        tokens=None,
    ),
    row(
        "r2",
        "a1",
        6.24,
        8.04,
        "Sorry to hear that. Is it the original",
        unheard="charger, and does it work from another socket?",
        interrupted=True,
        heard_ms=1800,
        total_ms=4200,
        gap_ms=640,
        tokens=214,
        look="cut",
    ),
    row("r3", "c", 7.9, 12.6, "Yes, the original one. I tried two sockets. It gets warm, but no light."),
    row(
        "r4",
        "t",
        13.0,
        13.41,
        kind="tool",
        call='find_known_faults(product="laptop", symptom="not charging")',
        output="2 articles",
        ms=410,
        look="tool",
    ),
    row(
        "r5",
        "a1",
        14.42,
        21.0,
        "That points to the charging port or the battery board. I'll open a repair ticket. "
        "Has any liquid been near it?",
        gap_ms=1820,
        tokens=611,
    ),
    row(
        "r6",
        "c",
        21.9,
        23.3,
        inaudible=True,
        note="1.4 s of speech, no words recognised",
        look="inaudible",
    ),
    row("r7", "a1", 23.88, 26.6, "Sorry, I did not catch that. Was there any liquid?", gap_ms=580, tokens=388),
    row(
        "r8",
        "c",
        27.3,
        33.9,
        "No, nothing. And while I have you: there is an old desk and a broken monitor to collect. "
        "Can you book a junk pickup?",
    ),
    row("r9", "a1", 34.61, 37.6, "Yes. I'll pass you to the delivery form, it takes a minute.", gap_ms=710, tokens=452),
    row(
        "r10",
        "a2",
        38.1,
        38.1,
        "handed over: Support → Delivery form",
        kind="over",
        gap_ms=5020,
        look="flag",
        clip=False,
    ),
    row(
        "r11",
        "a2",
        38.92,
        43.0,
        "Two items, a desk and a monitor. Which day suits you, Thursday or Friday?",
        gap_ms=820,
        tokens=520,
    ),
    row(
        "r12",
        "c",
        43.9,
        47.2,
        "Friday morning would be best.",
        tail="The lift is out of order on",
        pending=True,
    ),
]
AFTER = [
    *ROWS[:-1],
    row("r12", "c", 43.9, 49.8, "Friday morning would be best. The lift is out of order on that day."),
    row("r13", "a2", 50.49, 57.3, "Noted, no lift. Anything else?", gap_ms=690, tokens=480),
    row("r14", "c", 58.2, 59.5, "No, that is all."),
    row("r15", "t", 60.0, 60.7, kind="tool", call='book(day="Friday")', output="ok", ms=700, look="tool"),
    row("r16", "a2", 61.2, 66.1, "Booked for Friday morning. Goodbye.", gap_ms=1690, tokens=690),
    row("r17", "c", 66.9, 67.6, "Thanks."),
    row("r18", "t", 67.9, 68.88, kind="mark", look="fail", bad=True),
    row("r19", "t", 68.95, 70.0, kind="mark", look="ok"),
]
EVENTS = [
    event(n, 30 + n * 0.4, name, c, w, x)
    for n, (name, c, w, x) in enumerate(
        [
            ("input_audio_buffer.speech_started", "speech", "c", "Caller"),
            ("conversation.item.input_audio_transcription.delta", "words", "c", "No, nothing."),
            ("response.output_audio.delta", "audio", "a1", "200 ms"),
            ("response.output_audio_transcript.done", "words", "a1", "Yes. I'll pass you to the delivery form."),
            ("response.done", "usage", "a1", "398 in, 54 out, $0.004"),
            ("handoff", "handoff", "a2", "Support → Delivery form, 8 turns carried along"),
            ("response.function_call_arguments.done", "tools", "t", "find_known_faults"),
            ("session.updated", "session", "", "voice marin"),
        ]
        * 12
    )
]
EVENTS.append(event(200, 70.0, "error", "errors", "", "One late audio packet dropped, 20 ms", bad=True))
TICKET: Json = {
    "ok": True,
    "title": "Ticket",
    "valid": "valid on attempt 2",
    "fields": [
        {
            "name": "summary",
            "type": "str",
            "kind": "text",
            "value": "Laptop stopped charging overnight; charge light stays off with the original charger on two "
            "sockets. Also booked a junk pickup of a desk and a monitor for Friday morning.",
        },
        {"name": "category", "type": "", "kind": "choice", "value": "hardware", "options": ["hardware", "delivery"]},
        {"name": "priority", "type": "", "kind": "choice", "value": "high", "options": ["low", "medium", "high"]},
        {
            "name": "follow_up_questions",
            "type": "list[str]",
            "kind": "list",
            "value": ["How long does it run on battery alone?", "Is the laptop still under warranty?"],
        },
    ],
    "attempts": [
        {
            "n": 1,
            "ok": False,
            "words": "priority: 'urgent' is not one of low, medium, high",
            "seconds": 1.0,
            "tokens": 1108,
        },
        {"n": 2, "ok": True, "words": "", "seconds": 1.1, "tokens": 1187},
    ],
    "json": '{"category": "hardware"}',
    "from_last_word": 2.4,
    "tokens": 2295,
    "cost": "$0.006",
    "error": "",
}
NO_SOUND = {
    "id": "zeros",
    "tone": "warn",
    "fact": "No sound is arriving from the microphone.",
    "advice": "Check the input device or the browser's permission. You can go on by typing.",
    "action": "microphone",
}
CLOSED = {
    "id": "closed",
    "tone": "bad",
    "fact": "The call ended early: the connection closed during the agent's reply.",
    "advice": "No ticket was made; 3 turns were kept.",
    "action": "details",
}


def traits(**changes: Any) -> Json:
    """Return the traits of a call that is ready, with parts of them replaced: dicts are merged, one level deep."""
    out = copy.deepcopy(TRAITS)
    for name, value in changes.items():
        out[name] = out[name] | value if isinstance(value, dict) and name != "ticket" else value
    return out


def snapshot(rows: list[Json], events: list[Json] = EVENTS, *, simulated: bool = False, **totals: Any) -> Json:
    """Return the message that a page gets when it says hello."""
    sums = {"gap_ms": 710, "tokens": 2185, "cost": "$0.019", "simulated": simulated} | totals
    counts = {"rows": len(rows), "events": 214, "rows_dropped": 0, "events_dropped": 0}
    return {"t": "snapshot", "for": "", "rows": rows, "events": events, "totals": sums, "counts": counts}


def on(now: float, began: float = 0.0) -> Json:
    return {"began": began, "ended": None, "now": now, "expires": None}


def over(ended: float) -> Json:
    return {"began": 0.0, "ended": ended, "now": ended, "expires": None}


def states() -> dict[str, Json]:
    """Return every state by name: {traits, snapshot}."""
    quiet = [
        row("q1", "a1", 0.6, 3.4, "Support desk. What is not working?"),
        row("q2", "c", 11.2, 11.4, "My laptop does not charge.", typed=True),
        row("q3", "a1", 11.6, 15.1, "Since when, and is the charge light on?", gap_ms=400),
    ]
    cut = [
        *ROWS[:1],
        row("s2", "a1", 6.92, 11.3, "I can help with that. Is it the charger that came with it?", gap_ms=720),
    ]
    closed = row("s3", "o", 21.5, 21.5, "connection closed", kind="over", bad=True, look="bad", clip=False)
    simulated = {"mode": "simulated", "who": SIMULATED}
    approvals = [{"id": "call_1", "name": "refund", "arguments": 'order="A-17", euros=40'}]
    return {
        "before": {"traits": traits(facts=simulated), "snapshot": snapshot([], [], simulated=True)},
        "before-live": {"traits": traits(), "snapshot": snapshot([], [])},
        "starting": {"traits": traits(phase="starting"), "snapshot": snapshot([], [])},
        "during": {"traits": traits(phase="on", clock=on(47.2)), "snapshot": snapshot(ROWS)},
        "ending": {"traits": traits(phase="ending", clock=on(47.2)), "snapshot": snapshot(ROWS)},
        "ended": {"traits": traits(phase="ended", clock=over(70.0)), "snapshot": snapshot(AFTER)},
        "after": {"traits": traits(phase="ended", clock=over(70.0), ticket=TICKET), "snapshot": snapshot(AFTER)},
        "trouble-mic": {
            "traits": traits(phase="on", clock=on(19.0), facts=simulated, error=NO_SOUND),
            "snapshot": snapshot(quiet, simulated=True, gap_ms=None),
        },
        "trouble-ended": {
            "traits": traits(phase="ended", clock=over(22.0), error=CLOSED, facts={"hands_to": None}),
            "snapshot": snapshot([*cut, closed], tokens=604, cost="$0.006"),
        },
        "approval": {"traits": traits(phase="on", clock=on(47.2), approvals=approvals), "snapshot": snapshot(ROWS)},
        "watching": {
            "traits": traits(phase="on", clock=on(47.2), facts={"watching": True, "hands_to": None}),
            "snapshot": snapshot(ROWS),
        },
    }
