"""One row of the transcript, as the page has it, made of a turn, a use of a tool, or a mark. Pure.

The timeline is drawn from the same rows, so each says in which lane it stands and how it looks there.
"""

from collections.abc import Iterator
from typing import Any, Literal, TypedDict, cast

from ...marks import AGENT, CallEnded, Extraction, ForgottenAwait, LiveHandoff, Mark, OtherMark, Silence, TurnFailed
from ...views.lanes import heard_until
from ...views.scale import duration
from ...views.summary import call
from ...views.voices import LATE
from ...wire.dialogue import ToolUse, Turn
from ..troubles import TROUBLES, blocked, gone
from .safe import line, name, seconds, shown, stable

Kind = Literal["turn", "tool", "over", "mark"]
Lane = Literal["caller", "agent", "tools"]
Look = Literal["plain", "late", "cut", "inaudible", "tool", "fail", "ok", "flag", "good", "bad"]

UNHEARD_LIMIT = 2_000
"""Characters shown of the words that nobody heard."""


class Row(TypedDict):
    """A row, ready for JSON. Times are seconds on the log's clock, all texts safe to set as text."""

    k: str
    """The key: stays the same while the row changes."""
    kind: Kind
    who: str
    """`c` the caller, `a1`, `a2`, … the agents, `t` a tool, `o` the operator and the call itself."""
    name: str
    at: float
    end: float
    """When it ended for those who listened."""
    text: str
    """The words, or the stable ones of those that are still arriving."""
    tail: str
    """The last word so far, to which more may come; a space stands between it and `text`."""
    unheard: str
    """Words that the model made and nobody heard."""
    typed: bool
    inaudible: bool
    pending: bool
    seeded: bool
    interrupted: bool
    heard_ms: int | None
    total_ms: int
    """Milliseconds of sound."""
    gap_ms: int | None
    """From the caller's last word to the first of this reply; of a handoff, to the first of the new agent's."""
    tokens: int | None
    """Of a turn that has ended; None in a simulation."""
    clip: bool
    """Whether there is sound to play or to save."""
    note: str
    """What there is to say besides, in our own words."""
    bad: bool
    call: str
    """A tool's call as code would write it."""
    output: str | None
    """What the tool gave, in one line; None while nothing has come back."""
    ms: int | None
    """How long the tool took."""
    lane: Lane | None
    look: Look


def _row(k: str, kind: Kind, who: str, at: float, **more: Any) -> Row:
    plain: dict[str, Any] = {
        "k": k, "kind": kind, "who": who, "name": "", "at": seconds(at), "end": seconds(at), "text": "", "tail": "",
        "unheard": "", "typed": False, "inaudible": False, "pending": False, "seeded": False, "interrupted": False,
        "heard_ms": None, "total_ms": 0, "gap_ms": None, "tokens": None, "clip": False, "note": "", "bad": False,
        "call": "", "output": None, "ms": None, "lane": None, "look": "plain",
    }  # fmt: skip
    return cast(Row, plain | more)


class Setting(TypedDict):
    """What a turn's rows depend on besides the turn."""

    who: str
    name: str
    following: float | None
    """When the next turn began (s)."""
    gap_ms: int | None
    spoken: bool
    """Whether anybody has spoken in the connection."""
    closed: bool
    """Whether the connection is closed."""
    simulated: bool
    sound: bool
    """Whether the log has its sound."""
    late: bool
    """Whether it came after a handoff, and was made under the instructions before it."""


def turn_rows(turn: Turn, conn: str, setting: Setting) -> list[Row]:
    """Return the rows of a turn in order of time: its words, and each use of a tool."""
    tools = [tool_row(tool, turn, conn, setting) for tool in turn.tools]
    if not says_something(turn):
        if tools:
            tools[-1]["tokens"] = _tokens(turn, setting)
        return tools
    words = _words_row(turn, conn, setting)
    before = [row for row in tools if row["at"] < words["at"]]
    return [*before, words, *tools[len(before) :]]


def says_something(turn: Turn) -> bool:
    """Tell whether a turn is more than its tools."""
    return bool(turn.text or turn.inaudible or turn.interrupted or turn.pending) or not turn.tools


def _words_row(turn: Turn, conn: str, setting: Setting) -> Row:
    text, left_out = shown(turn.text)
    arriving = turn.pending and not turn.interrupted and not left_out
    text, tail = stable(text) if arriving else (text, "")
    rest = turn.generated.removeprefix(turn.text).strip() if turn.interrupted and not left_out else ""
    unheard, unheard_left_out = shown(rest, UNHEARD_LIMIT)
    end = turn.end if turn.seeded else heard_until(turn, setting["following"], setting["spoken"])
    return _row(
        f"{conn}.{turn.seq}",
        "turn",
        setting["who"],
        turn.start,
        name=setting["name"],
        end=seconds(end),
        text=text,
        tail=tail,
        unheard=unheard + "…" * bool(unheard_left_out),
        typed=not turn.spoken and turn.speaker == "caller",
        inaudible=turn.inaudible,
        pending=turn.pending,
        seeded=turn.seeded,
        interrupted=turn.interrupted,
        heard_ms=turn.heard_ms,
        total_ms=turn.audio_ms,
        gap_ms=setting["gap_ms"],
        tokens=_tokens(turn, setting),
        clip=turn.audio_ms > 0 and bool(turn.item_id) and setting["sound"],
        note=_note(turn, left_out, late=setting["late"]),
        lane=turn.speaker if turn.speaker != "operator" else None,
        look="inaudible" if turn.inaudible else "cut" if turn.interrupted else "late" if setting["late"] else "plain",
    )


def _note(turn: Turn, left_out: int, *, late: bool) -> str:
    """Say what there is to say about a turn besides its words; how much of it was heard has fields of its own."""
    if left_out:
        return f"{left_out:,} more characters are in the log"
    if turn.inaudible:
        return (
            f"{turn.audio_ms / 1000:.1f} s of speech, no words recognised" if turn.audio_ms else "no words came of it"
        )
    if not (turn.text or turn.pending or turn.interrupted):
        return "no words"
    return LATE if late else ""


def _tokens(turn: Turn, setting: Setting) -> int | None:
    if setting["simulated"] or turn.usage is None:
        return None
    return turn.usage.input_tokens + turn.usage.output_tokens


def tool_row(tool: ToolUse, turn: Turn, conn: str, setting: Setting) -> Row:
    """Return the row of one use of a tool."""
    running = tool.end is None and not setting["closed"] and not turn.seeded
    return _row(
        f"{conn}.tool.{name(tool.call_id) or turn.seq}",
        "tool",
        "t",
        tool.start,
        name="Tool",
        end=seconds(tool.start if tool.end is None else tool.end),
        pending=running,
        seeded=turn.seeded,
        note="" if running or tool.output is not None else "no output came",
        call=line(call(tool.name, tool.arguments)),
        output=None if tool.output is None else line(tool.output),
        ms=None if tool.end is None or turn.seeded else max(0, round((tool.end - tool.start) * 1000)),
        lane="tools",
        look="tool",
    )


def heading(conn: str, title: str, at: float) -> Row:
    """Return the row that stands above a call where there are several."""
    return _row(f"{conn}.call", "over", "o", at, text=name(title), look="flag")


class Moment(TypedDict):
    """What a mark's row depends on besides the mark."""

    who: str
    """Who has the call from here on."""
    speaking: str
    """The name of the agent that had it."""
    name: str
    """The name of who has it from here on."""
    gap_ms: int | None
    """How long the caller waited for its first words, where somebody takes over."""
    valid: bool | None
    """Whether the answer of an extraction was valid, where somebody has said so."""
    cut_ms: int | None
    """Milliseconds of the last reply that had arrived when the call broke off; None where it broke off elsewhere."""


def mark_rows(mark: Mark, key: str, moment: Moment) -> Iterator[Row]:
    """Yield the row of a mark, if it has one: most of them are said by the rows of their turns."""
    match mark:
        case CallEnded(clean=True):
            yield _row(key, "over", "o", mark.at, text="call ended", look="good")
        case CallEnded():
            text = line(mark.how) or "the call ended early"
            yield _row(key, "over", "o", mark.at, text=text, note=_arrived(moment["cut_ms"]), bad=True, look="bad")
        case LiveHandoff():
            text = f"handed over: {moment['speaking']} → {moment['name']}"
            more: dict[str, Any] = {"name": moment["name"], "gap_ms": moment["gap_ms"], "look": "flag"}
            yield _row(key, "over", moment["who"], mark.at, text=text, **more)
        case Extraction():
            yield _extraction(mark, key, moment["valid"])
        case TurnFailed():
            text = f"No reply: {line(mark.reason)}" if mark.reason else "No reply came."
            yield _row(key, "mark", "o", mark.at, text=text, bad=True, look="bad")
        case Silence():
            why = f": {line(mark.reason)}" if mark.reason else ""
            text = f"Nothing was heard for {duration(mark.seconds)}{why}"
            yield _row(key, "mark", "o", mark.at, text=text, bad=True, look="bad")
        case ForgottenAwait():
            yield _row(key, "mark", "o", mark.at, text=line(str(mark)), bad=True, look="bad")
        case OtherMark() if not _said_elsewhere(mark):
            yield _row(key, "mark", "o", mark.at, text=sentence(mark))


def _said_elsewhere(mark: OtherMark) -> bool:
    """Whether a mark is nothing for the transcript: a name, what a button could not do, what the end says itself."""
    if mark.name == AGENT:
        return True
    if mark.name != "panel_trouble":
        return False
    said = mark.data.get("words")
    return not said or "asked" in mark.data or mark.data.get("trouble") == "early"


def _arrived(cut_ms: int | None) -> str:
    if cut_ms is None:
        return ""
    how_much = f"{cut_ms / 1000:.1f} s" if cut_ms else "the beginning"
    return f"{how_much} of the reply had arrived and is kept"


def _extraction(mark: Extraction, key: str, valid: bool | None) -> Row:
    ok = mark.status == "ok" and valid is not False
    title = mark.label.rpartition("/")[2] or "handoff"
    text = line(f"{title}, attempt {mark.attempt}")
    note = "" if ok else "the output was not valid" if mark.status == "ok" else line(mark.status)
    end, took = seconds(mark.start + mark.seconds), max(0, round(mark.seconds * 1000))
    more: dict[str, Any] = {"end": end, "ms": took, "lane": "tools", "look": "ok" if ok else "fail"}
    return _row(key, "mark", "t", mark.start, name="Handoff", text=text, note=note, bad=not ok, **more)


def sentence(mark: OtherMark) -> str:
    """Return what a posted mark says: its own words, ours for the trouble that it names, or its fields."""
    said = mark.data.get("words")
    if isinstance(said, str) and said:
        return line(said)
    if (transfers := _transfers(mark)) is not None:
        return line(transfers)
    if mark.name in ("kernel_blocked", "page_gone") and isinstance(lasted := mark.data.get("seconds"), int | float):
        lost = mark.data.get("dropped_ms")
        lost = lost if isinstance(lost, int) else 0
        return (blocked(lasted, lost) if mark.name == "kernel_blocked" else gone(lasted)).fact
    for kind in (mark.data.get("trouble"), mark.data.get("kind"), mark.name):
        if isinstance(kind, str) and kind in TROUBLES:
            return TROUBLES[kind].fact
    return line(str(mark))


def _transfers(mark: OtherMark) -> str | None:
    """Return what a mark says of transfers that came to nothing; None if it is about something else."""
    match mark.name, mark.data:
        case "handoff_limit", {"names": [*names]}:
            way = f"Handed on {len(names)} times in one turn ({' → '.join(map(str, names))})"
            return f"{way}: no transfer is offered until the caller's next turn."
        case "handoff_ignored", {"kept": str(kept)}:
            return f"A second transfer in one reply was left out: {kept} has the call."
    return None
