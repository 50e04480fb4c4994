"""What a handoff gives: the output, every attempt behind it, and what it took; as a table, as JSON, as CSV.

Seconds and costs differ from run to run, so they stand in `details()` and in the JSON, never in what a cell shows.
"""

import csv
import io
import json
import os
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import CannotWrite
from ..views.grid import Grid
from .attempts import Attempt
from .values import cell, fields, flat, plain, words

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage
    from pydantic_ai.usage import RunUsage

SCHEMA = 1


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class HandoffResult:
    """The typed result of a handoff, and how it came about."""

    output: Any
    """What the agent was asked for: an instance of its `output_type`."""
    attempts: tuple[Attempt, ...]
    """Every request of this handoff and its answer, from the wire; the last one was accepted."""
    usage: "RunUsage"
    """Requests and tokens as pydantic-ai counts them."""
    cost: Decimal | None
    """US dollars by genai-prices' list of the named model; None where the model or its usage is unknown. Of a
    simulated model it is what the named one would cost: nothing was spent (see `simulated`)."""
    seconds: float | None
    """From the caller's last word to the result; None where the two stand in different logs or in none."""
    label: str
    """The name of this handoff in the log: `log.filter(label=result.label)` holds its frames."""
    agent: str
    """The agent's name; empty if it has none."""
    model: str
    """The model that was asked."""
    schema: str
    """The name of the output's type, such as `SupportTicket`."""
    prompt: str
    """What the agent was told to do with the conversation."""
    messages: "tuple[ModelMessage, ...]"
    """The messages that the handoff added, for a `message_history` that goes on."""
    simulated: bool
    """Whether a simulated model answered."""

    @property
    def fields(self) -> dict[str, Any]:
        """The output's fields as JSON has them; an output without fields is the field `output`."""
        return fields(self.output)

    @property
    def tokens(self) -> int:
        """Input and output tokens together."""
        return int(self.usage.input_tokens + self.usage.output_tokens)

    def __str__(self) -> str:
        return str(self._grid())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self._grid()._repr_html_()

    def _grid(self) -> Grid:
        return Grid(
            ("Field", "Value"), [(name, words(value)) for name, value in flat(self.fields).items()], [self._how()]
        )

    def _how(self) -> str:
        return attempts_in_words(self.attempts)

    def details(self) -> Grid:
        """Show what differs from run to run as well: seconds, tokens, cost, and each attempt's raw output."""
        facts = {
            "agent": self.agent or "without a name",
            "model": f"{self.model}, simulated" if self.simulated else self.model,
            "prompt": self.prompt,
            "label": self.label,
            "tokens": f"{self.usage.input_tokens} in, {self.usage.output_tokens} out",
            "cost": self._cost(),
            "seconds": "not known: the call is in another log" if self.seconds is None else f"{self.seconds:.2f}",
        }
        rows = [*facts.items(), *((f"attempt {each.number}", _attempt(each)) for each in self.attempts)]
        return Grid(("What", "Value"), rows)

    def _cost(self) -> str:
        price = (
            f"about ${self.cost:.6f}" if self.cost is not None else "an unknown price (genai-prices does not list it)"
        )
        if self.simulated:
            return f"nothing was spent; {self.model} would cost {price} for this many tokens"
        return price

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the messages, as JSON has it."""
        return {
            "handoffkit": SCHEMA,
            "output": plain(self.output),
            "attempts": [_attempt_json(attempt) for attempt in self.attempts],
            "usage": {
                "requests": self.usage.requests,
                "input_tokens": self.usage.input_tokens,
                "output_tokens": self.usage.output_tokens,
            },
            "cost": None if self.cost is None else str(self.cost),
            "simulated": self.simulated,
            "seconds": self.seconds,
            "label": self.label,
            "agent": self.agent,
            "model": self.model,
            "schema": self.schema,
            "prompt": self.prompt,
        }

    def to_json(self, path: str | Path | None = None) -> str:
        """Return the result as JSON, and write it to *path* if there is one.

        Raises:
            CannotWrite: The folder of *path* is not there, or cannot be written to.
        """
        return written(as_json(self.to_dict()), path)

    def to_csv(self, path: str | Path | None = None) -> str:
        """Return the output as CSV, a line of names and a line of values, and write it to *path* if there is one.

        Nested fields have dotted names; lists are JSON. A text that a spreadsheet would run as a formula gets an
        apostrophe in front. The file begins with a byte-order mark, by which Excel knows UTF-8.

        Raises:
            CannotWrite: The folder of *path* is not there, or cannot be written to.
        """
        row = flat(self.fields)
        return written(as_csv([list(row), list(row.values())]), path, "utf-8-sig")


def attempts_in_words(attempts: Sequence[Attempt]) -> str:
    """Return how a result came about, a sentence for each attempt where there were several."""
    if len(attempts) == 1:
        return "1 attempt."
    return "\n".join([f"{len(attempts)} attempts:", *(f"{attempt}." for attempt in attempts)])


def _attempt(attempt: Attempt) -> str:
    said = f"{attempt}, after {attempt.seconds:.3f} s"
    return f"{said}\n{attempt.raw}" if attempt.raw else said


def _attempt_json(attempt: Attempt) -> dict[str, Any]:
    return {
        "number": attempt.number,
        "status": attempt.status,
        "raw": attempt.raw,
        "errors": [
            {"field": error.field, "found": error.found, "allowed": error.allowed, "message": error.message}
            for error in attempt.errors
        ],
        "reason": attempt.reason,
        "seconds": attempt.seconds,
        "model": attempt.model,
        "input_tokens": attempt.usage and attempt.usage.input_tokens,
        "output_tokens": attempt.usage and attempt.usage.output_tokens,
    }


def as_json(data: Any) -> str:
    """Return *data* as JSON to be read, with its own script's letters."""
    return json.dumps(data, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def as_csv(rows: Iterable[Sequence[Any]]) -> str:
    """Return *rows* as CSV, safe to open in a spreadsheet."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([cell(value) for value in row] for row in rows)
    return text.getvalue()


def written(text: str, path: str | Path | None, encoding: str = "utf-8") -> str:
    """Write *text* to *path*, if there is one, whole or not at all, and return it.

    Raises:
        CannotWrite: The folder of *path* is not there, or cannot be written to.
    """
    if path is None:
        return text
    target = Path(path)
    if not target.parent.is_dir():
        raise CannotWrite(target, f"there is no folder {target.parent}", "Make the folder first")
    try:
        number, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:40]}-")
        try:
            with os.fdopen(number, "w", encoding=encoding, errors="backslashreplace", newline="") as file:
                file.write(text)
            os.chmod(name, 0o666 & ~_umask())
            os.replace(name, target)
        except BaseException:
            os.unlink(name)
            raise
    except OSError as error:
        raise CannotWrite(target, error.strerror or type(error).__name__, "Choose another folder") from error
    return text


def _umask() -> int:
    """Read the umask; there is no way to do so without setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
