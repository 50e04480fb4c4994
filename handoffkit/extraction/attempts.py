"""Every attempt of a handoff, read from the wire: what came back, and what was wrong with it, in words. Pure.

`answers.py` reads one exchange; here the SDK's judgement of each answer is put beside it.
"""

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ..wire.answers import Answer, answers
from ..wire.conversation import Usage
from ..wire.frames import Frame

FOUND_LIMIT = 200
"""Characters that are shown of a value that was refused."""

Status = Literal["accepted", "rejected", "tool", "failed"]


@dataclass(frozen=True, slots=True)
class FieldError:
    """One thing that is wrong with an output."""

    field: str
    """Where, as Python would write it: `priority`, `items[0].price`; empty for the output as a whole."""
    found: str
    """The value that stood there, as JSON, long ones cut; `nothing` where there was none."""
    allowed: str
    """What may stand there, in words; empty where the rule is no schema's (see `message`)."""
    message: str
    """The rule in the validator's own words."""

    def __str__(self) -> str:
        where = self.field or "the output as a whole"
        rule = f"allowed {self.allowed}" if self.allowed else self.message
        return f"{where}: found {self.found}, {rule}"


@dataclass(frozen=True, slots=True)
class Attempt:
    """One request of a handoff and its answer."""

    number: int
    """1, 2, …"""
    status: Status
    """`accepted`; `rejected` (the output broke a rule); `tool` (the agent first called a tool of its own); `failed`
    (no answer that could be read)."""
    raw: str
    """The output as it came on the wire: JSON as the model wrote it, or text; empty if none came."""
    errors: tuple[FieldError, ...] = ()
    """What is wrong with it, field by field."""
    reason: str = ""
    """Why it failed, or which tool was called, in plain words."""
    seconds: float = 0.0
    """From the request to the end of its answer."""
    at: float = 0.0
    """Seconds since the log began, when the answer was whole or broke off."""
    model: str = ""
    """The model that answered, as the service names it; else the one that was asked for."""
    usage: Usage | None = None
    """Tokens as the service counts them; None where it does not say."""

    @property
    def ok(self) -> bool:
        """Whether this attempt gave the result."""
        return self.status == "accepted"

    def __str__(self) -> str:
        why = "; ".join(filter(None, (self.reason, *map(str, self.errors)))).rstrip(". ")
        return f"Attempt {self.number} {_DONE[self.status]}{f': {why}' if why else ''}"


_DONE: dict[Status, str] = {
    "accepted": "was accepted",
    "rejected": "was rejected",
    "tool": "called a tool first",
    "failed": "failed",
}


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the SDK made of one answer: nothing wrong, or these details (pydantic's, or a sentence)."""

    details: Sequence[Mapping[str, Any]] | str = ()
    answer: str = ""
    """The id of the response that it is about; empty where the SDK does not tell: then the order does."""
    final: bool = False
    """That answer gave the output, be it by a tool of the agent's own."""


def attempts(frames: Iterable[Frame], verdicts: Sequence[Verdict] = (), tools: Collection[str] = ()) -> list[Attempt]:
    """Return the attempts that *frames* hold.

    Args:
        frames: The frames of one handoff, all channels.
        verdicts: The SDK's, one for each answer that it could read, by the answer's id or in order; an answer without
            one has no fault.
        tools: The names of the output tools: a call of any other tool is a step on the way.
    """
    found = []
    named = {verdict.answer: verdict for verdict in verdicts if verdict.answer}
    left = iter([verdict for verdict in verdicts if not verdict.answer])
    for number, answer in enumerate(answers(frames), 1):
        verdict = named.get(answer.id) or (next(left, None) if answer.readable else None)
        found.append(_attempt(number, answer, verdict or Verdict(), tools))
    return found


def _attempt(number: int, answer: Answer, verdict: Verdict, tools: Collection[str]) -> Attempt:
    given = [call.arguments for call in answer.calls if call.name in tools or verdict.final]
    raw = answer.text if verdict.final and answer.text else next(iter(given), answer.text)
    status, reason = _judge(answer, verdict, tools)
    return Attempt(
        number=number,
        status=status,
        raw=raw,
        errors=() if reason and status != "tool" else field_errors(verdict.details, raw),
        reason=reason,
        seconds=answer.seconds,
        at=answer.end,
        model=answer.model,
        usage=answer.usage,
    )


def _judge(answer: Answer, verdict: Verdict, tools: Collection[str]) -> tuple[Status, str]:
    """Return the status of an attempt, and why: empty where the field errors say it."""
    if answer.failure:
        return "failed", answer.failure
    if answer.calls and not verdict.final and not any(call.name in tools for call in answer.calls):
        return "tool", ", ".join(call.name for call in answer.calls)
    if answer.refusal:
        return "rejected", f"the model refused ({answer.refusal})"
    return ("rejected" if verdict.details else "accepted"), ""


def field_errors(details: Sequence[Mapping[str, Any]] | str, raw: str = "") -> tuple[FieldError, ...]:
    """Return pydantic's error details as field errors; a sentence becomes one error of the whole output.

    Args:
        details: Dicts with `loc`, `msg`, `type` and perhaps `input`.
        raw: The output as it came; what stood in a field is looked up there, since details repeat no value.
    """
    if isinstance(details, str):
        found = _shown(_parsed(raw)) if raw else "nothing"
        return (FieldError("", found, "", details),) if details else ()
    told = [detail for detail in details if not _about_wrapping(detail)]
    return tuple(_field_error(detail, _parsed(raw)) for detail in told or details)


def _about_wrapping(detail: Mapping[str, Any]) -> bool:
    """Say whether a detail is about JSON inside JSON, which pydantic-ai lets a model write, too: it helps nobody."""
    return any(isinstance(step, str) and step.startswith("json[") for step in detail.get("loc", ()))


def _field_error(detail: Mapping[str, Any], output: Any) -> FieldError:
    path = [step for step in detail.get("loc", ()) if isinstance(step, str | int)]
    missing = detail.get("type") == "missing"
    message = str(detail.get("msg", "not valid"))
    found = "nothing" if missing else _shown(_at(output, path, detail.get("input")))
    return FieldError(
        _dotted(path), found, "a value, since the field is required" if missing else _rule(message), message
    )


_SHOULD = re.compile(r"(?:\w+ )+?should (?:be |have )?(?P<rule>.+)|.* expected tags: (?P<tags>.+)", re.DOTALL)


def _rule(message: str) -> str:
    """Return what `Input should be 'low' or 'high'` allows: `'low' or 'high'`."""
    match = _SHOULD.fullmatch(message)
    if not match:
        return ""
    rule = match["rule"] or match["tags"]
    return f"text that matches {rule.removeprefix('match ')}" if rule.startswith("match ") else rule


def _dotted(path: Sequence[str | int]) -> str:
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return "".join(steps).removeprefix(".")


def _at(value: Any, path: Sequence[str | int], otherwise: Any) -> Any:
    """Follow *path* into *value*; where it leads nowhere (a union's path names its members), take the other."""
    for step in path:
        try:
            value = value[step]
        except (LookupError, TypeError):
            return otherwise
    return value


def _parsed(raw: str) -> Any:
    try:
        return json.loads(raw)
    except (ValueError, RecursionError):
        return raw


def _shown(value: Any) -> str:
    """Return a value as it can be compared with a rule: a text in the quotes that rules have, the rest as JSON."""
    text = repr(value) if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= FOUND_LIMIT else f"{text[:FOUND_LIMIT]}…"
