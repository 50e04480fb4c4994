"""A call without a panel: what a saved notebook shows where no kernel runs, on GitHub and in an untrusted Lab.

Only what is the same on every run of the same call stands here: no times, no ids, no costs of a simulation. There is no
script, no style sheet and no colour, and no picture either: GitHub takes out pictures that a page brings along.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..extraction.values import words as value_words
from ..views.html import Markup, escape, isolated, join, lines, one_line, shorten, table, tag, visible
from .state.row import Row
from .state.totals import TotalsJson

READY = "Ready. Run this notebook in JupyterLab to use the panel."
"""What stands under who answers, before a call has begun."""
SIZE_LIMIT = 120_000
"""Characters of a transcript, about: what is older is counted, not shown."""
WORDS_LIMIT = 2_000
"""Characters of a turn, and of a field of the ticket."""
LINE_LIMIT = 300
"""Characters of the line that says who answers."""

Facts = Mapping[str, Any]
Ticket = Mapping[str, Any]


def twin(rows: Sequence[Row], totals: TotalsJson | None, ticket: Ticket | None, facts: Facts) -> str:
    """Return a call as HTML.

    Args:
        rows: All rows, as `Rows.all` gives them.
        totals: The totals; None leaves them out.
        ticket: The ticket; None or empty if there is none.
        facts: Who answers, and with which agent.
    """
    head = tag("p", tag("strong", escape(_title(facts))), Markup(": "), escape(_who(facts)))
    if not rows and not ticket:
        return head + tag("p", escape(READY))
    shown, left_out = _bounded(rows)
    parts = [head, *([tag("p", tag("em", escape(_earlier(left_out))))] if left_out else [])]
    if shown:
        parts.append(table(["Speaker", "Words"], map(_cells, shown)))
    parts.append(tag("p", escape(_sums(rows, totals))))
    return join([*parts, *_ticket(ticket or {})])


def plain(rows: Sequence[Row], totals: TotalsJson | None, ticket: Ticket | None, facts: Facts) -> str:
    """Return the same as text: the transcript in words."""
    head = f"{_title(facts)}: {_who(facts)}"
    if not rows and not ticket:
        return f"{head}\n{READY}"
    shown, left_out = _bounded(rows)
    body = [_earlier(left_out)] if left_out else []
    width = max((min(len(_speaker(row)), 24) for row in shown), default=0) + 2
    body += [each for row in shown for each in _lines(row, width)]
    return "\n".join([head, "", *body, "", _sums(rows, totals), *_ticket_lines(ticket or {})])


def _title(facts: Facts) -> str:
    return one_line(str(facts.get("agent") or facts.get("title") or "Call"), LINE_LIMIT)


def _who(facts: Facts) -> str:
    who = facts.get("who") or {}
    said = " ".join(filter(None, (f"{who.get('head', '')}.".lstrip("."), who.get("says"), who.get("cost"))))
    return one_line(said, LINE_LIMIT)


def _bounded(rows: Sequence[Row]) -> tuple[list[Row], int]:
    """Return the newest rows of the transcript that a notebook can carry, and how many older ones there are."""
    told = [row for row in rows if not (row["kind"] == "mark" and row["lane"] == "tools")]
    size, first = 0, len(told)
    while first and size < SIZE_LIMIT:
        first -= 1
        row = told[first]
        words = (row["text"][:WORDS_LIMIT], row["unheard"], row["call"], row["output"] or "", row["note"])
        size += 150 + sum(map(len, words))
    return told[first:], first


def _earlier(count: int) -> str:
    return f"{count:,} earlier row{'' if count == 1 else 's'} not shown: see `call.transcript`."


def _speaker(row: Row) -> str:
    return row["name"] if row["kind"] in ("turn", "tool") else "—"


def _said(row: Row) -> tuple[str, list[str]]:
    """Return the words of a row, and what there is to say about them."""
    if row["kind"] == "tool":
        output = "no output" if row["output"] is None else row["output"]
        return f"{row['call']} → {output}", []
    words, left_out = shorten(f"{row['text']} {row['tail']}".strip(), WORDS_LIMIT)
    if row["kind"] != "turn":
        return words, [row["note"]] if row["note"] else []
    note = "" if row["inaudible"] else row["note"]
    notes = [f"{left_out:,} more characters" if left_out else "", note]
    notes += [word for word in ("inaudible", "interrupted", "typed", "seeded") if row[word]]
    return words, [*filter(None, notes), *(["still coming"] if row["pending"] else [])]


def _cells(row: Row) -> list[Markup]:
    words, notes = _said(row)
    said = [tag("code", lines(words)) if row["kind"] == "tool" else lines(words)] if words else []
    if row["unheard"]:
        said.append(tag("del", lines(row["unheard"])))
    said += [tag("em", escape(f"[{note}]")) for note in notes]
    if row["kind"] in ("over", "mark"):
        said = [tag("em", *said[:1]), *said[1:]]
    return [escape(_speaker(row)), join(said, " ")]


def _lines(row: Row, width: int) -> Iterator[str]:
    """Yield a row as text. All but its first line are indented, so that no turn can pose as somebody else's."""
    words, notes = _said(row)
    head = f"{visible(_speaker(row)):<{width}}"
    first, *more = [isolated(line) for line in visible(words).split("\n")]
    body = [head + first, *(" " * width + line for line in more)]
    body[-1] += "".join(f" [{note}]" for note in notes)
    yield from (line.rstrip() for line in body)


def _sums(rows: Sequence[Row], totals: TotalsJson | None) -> str:
    """Say what the call came to, in what is the same on every run."""
    said = [row for row in rows if not row["seeded"]]
    turns = Counter(row["who"][:1] for row in said if row["kind"] == "turn")
    handoffs = {row["text"].partition(",")[0] for row in said if row["kind"] == "mark" and row["lane"] == "tools"}
    parts = [
        _count(turns["c"], "caller turn"),
        _count(turns["a"], "reply", "replies"),
        _count(sum(row["kind"] == "tool" for row in said), "tool call"),
        _count(sum(row["interrupted"] for row in said), "interruption"),
        _count(sum(row["inaudible"] for row in said), "inaudible turn"),
        _count(len(handoffs), "handoff"),
    ]
    if totals is not None:
        parts += ["no cost"] if totals["simulated"] else [_count(totals["tokens"] or 0, "token"), totals["cost"]]
    return ", ".join(filter(None, parts)).capitalize() + "."


def _count(number: int, one: str, many: str = "") -> str:
    return "" if not number else f"{number} {one if number == 1 else many or one + 's'}"


def _ticket(ticket: Ticket) -> Iterator[Markup]:
    if not ticket:
        return
    yield tag("p", tag("strong", escape(str(ticket["title"] or "Ticket"))), Markup(", "), escape(_verdict(ticket)))
    if ticket["fields"]:
        yield table(["Field", "Value"], ([escape(name), lines(value)] for name, value in _values(ticket)))
    yield from (tag("p", lines(attempt)) for attempt in _attempts(ticket))


def _ticket_lines(ticket: Ticket) -> Iterator[str]:
    if not ticket:
        return
    yield ""
    yield visible(f"{ticket['title'] or 'Ticket'}, {_verdict(ticket)}")
    width = max((len(name) for name, _ in _values(ticket)), default=0) + 2
    for name, value in _values(ticket):
        first, *more = [isolated(line) for line in visible(value).split("\n")]
        yield f"{visible(name):<{width}}{first}".rstrip()
        yield from ((" " * width + line).rstrip() for line in more)
    for attempt in _attempts(ticket):
        first, *more = visible(attempt).split("\n")
        yield from (first, *(f"  {line}" for line in more))


def _verdict(ticket: Ticket) -> str:
    return one_line(ticket["valid"] if ticket["ok"] else f"not made: {ticket['error']}", WORDS_LIMIT)


def _values(ticket: Ticket) -> Iterator[tuple[str, str]]:
    for field in ticket["fields"]:
        value, left_out = shorten(value_words(field["value"]), WORDS_LIMIT)
        yield field["name"], f"{value}… ({left_out:,} more characters)" if left_out else value


def _attempts(ticket: Ticket) -> Iterator[str]:
    """Yield each attempt in words, where there was more than one, or none that was valid."""
    tries = ticket["attempts"]
    if len(tries) == 1 and tries[0]["ok"]:
        return
    for one in tries:
        verdict = "ok" if one["ok"] else "failed"
        yield f"Attempt {one['n']} {verdict}{': ' if one['words'] else ''}{one['words']}"
