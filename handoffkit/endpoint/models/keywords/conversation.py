"""What was said, by whom: the evidence that the keyword model and the schema filler go by.

Only the caller's words say what a call is about. What the agent said tells which questions were asked; what tools
returned gives facts; what an operator asks of a text agent ("Create the ticket for this call.") tells nothing.
"""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import takewhile
from typing import Any

from ..prompt import Item, Message, Prompt, ToolCall, ToolResult
from .lexicon import Reading, lexicon
from .spoken import is_noise
from .words import sentences, tokens

_INAUDIBLE = re.compile(r"\[\s*inaudible[^\]]*\]", re.IGNORECASE)
_OWN = {"i", "im", "ive", "id", "my", "mine", "we", "our", "us"}
_FEW_WORDS = 4
_SPEAKER = re.compile(r"^[ \t>*-]*(?:\[[^\]\n]*\][ \t]*)?(\w+)[ \t*]*:[ \t*]*(?=\S)", re.MULTILINE)


@dataclass(frozen=True)
class Conversation:
    """A conversation as evidence.

    Args:
        turns: Who said what, oldest first: role `user` (the caller) or `assistant`, and the words.
        results: What tools returned, oldest first.
        requests: What an operator asked of the text agent, oldest first.
        unheard: The caller has spoken since the agent last did, and no words came of it.
    """

    turns: tuple[Message, ...] = ()
    results: tuple[str, ...] = ()
    requests: tuple[str, ...] = field(default=())
    unheard: bool = False

    @classmethod
    def of(cls, *caller: str) -> "Conversation":
        """Return the conversation of a caller who said these turns, with no answers."""
        return cls(tuple(Message("user", text) for text in caller))

    @classmethod
    def from_prompt(cls, prompt: Prompt) -> "Conversation":
        """Return what *prompt* holds; in a request over HTTP an operator's requests are told from the caller's words.

        A text agent gets its request with the role `user`, as the caller's words have it. Any message but the first
        that speaks about the call ("Summarize the call.") is taken for a request, and the last one where the prompt
        says that this is a handoff. A transcript with speakers' names ("Caller: …") inside one message counts as its
        turns.
        """
        turns, requests = list(_spoken(prompt.history)), []
        if not prompt.spoken:
            later = [turn for turn in turns if turn.role == "user"][1:]
            operator = _operators(later) if prompt.handoff else None
            asked = [turn for turn in later if turn is operator or is_request(turn.text)]
            requests = [turn.text for turn in asked]
            turns = [part for turn in turns if not any(turn is other for other in asked) for part in _split(turn)]
            turns = _without_leading_request(turns)
        ended = {i.call_id for i in prompt.history if isinstance(i, ToolCall) and i.name.startswith("final_result")}
        results = tuple(i.output for i in prompt.history if isinstance(i, ToolResult) and i.call_id not in ended)
        return cls(tuple(turns), results, tuple(requests), prompt.spoken and _is_unheard(prompt.history))

    @cached_property
    def caller(self) -> list[str]:
        """The caller's turns."""
        return [turn.text for turn in self.turns if turn.role == "user"]

    @cached_property
    def agent(self) -> list[str]:
        """The agent's turns."""
        return [turn.text for turn in self.turns if turn.role == "assistant"]

    @cached_property
    def sentences(self) -> list[str]:
        """The caller's sentences; unpunctuated speech is one sentence a turn."""
        return [sentence for text in self.caller for sentence in sentences(text)]

    @cached_property
    def readings(self) -> list[Reading]:
        """The known words in each of the caller's turns."""
        return [lexicon().read(text) for text in self.caller]

    @cached_property
    def stems(self) -> frozenset[str]:
        """Every stem that the caller has said."""
        return frozenset(stem for reading in self.readings for stem in reading.stems)

    @cached_property
    def text(self) -> str:
        """All the caller's words, a line a turn."""
        return "\n".join(self.caller)

    @cached_property
    def known(self) -> list[tuple[str, Any]]:
        """Names and scalar values that tools returned as JSON objects, the latest first; errors are left out."""
        decoded = [_decoded(result) for result in reversed(self.results)]
        return [
            pair for value in decoded if not (isinstance(value, dict) and "error" in value) for pair in _scalars(value)
        ]


def _operators(turns: Sequence[Message]) -> Message | None:
    """Return the request of a handoff: the last of these turns that does not ask for an answer to be mended."""
    return next((turn for turn in reversed(turns) if not _is_feedback(turn.text)), None)


def _is_feedback(text: str) -> bool:
    """Say whether an SDK sends an answer back ("Validation feedback: …")."""
    start = " ".join(token.text for token in tokens(text[:80]))
    starts = tuple(lexicon().data["requests"]["starts"])
    return start.startswith(starts) or "fix the errors and try again" in text[-60:].lower()


def is_request(text: str) -> bool:
    """Say whether *text* is an operator's wish about a call, rather than a caller's words.

    Judged by its first sentence: an imperative or a question, and a word such as "ticket", "summary" or "caller".
    """
    lines = sentences(text[:2000])
    words = [token.text for token in tokens(lines[0])] if lines else []
    requests = lexicon().data["requests"]
    if _is_feedback(text):
        return True
    while words and words[0] in ("please", "now", "ok", "okay", "then", "and", "can", "could", "you", "kindly"):
        words = words[1:]
    if not words or _OWN & set(words):
        return False
    if len(words) <= _FEW_WORDS and set(words) & set(requests["artifacts"]):
        return True
    about = requests["about"] if words[0] in requests["verbs"] else requests["asked_about"]
    return words[0] in (*requests["verbs"], *requests["questions"]) and bool(set(words) & set(about))


def _spoken(history: Iterable[Item]) -> Iterable[Message]:
    for item in history:
        if isinstance(item, Message) and item.role != "system":
            text = _INAUDIBLE.sub(" ", item.text).strip()
            if text and (item.role == "assistant" or not is_noise(text)):
                yield Message(item.role, text)


def _is_unheard(history: Sequence[Item]) -> bool:
    """Say whether the caller's turns at the end of *history* hold no words; there is one at least."""
    last = list(takewhile(_is_callers, reversed(history)))
    return bool(last) and all(is_noise(_INAUDIBLE.sub(" ", item.text)) for item in last if isinstance(item, Message))


def _is_callers(item: Item) -> bool:
    return isinstance(item, Message) and item.role == "user"


def _split(turn: Message) -> list[Message]:
    """Return the turns of a transcript that stands in one message of the user's; other messages stay as they are."""
    marks = [match for match in _SPEAKER.finditer(turn.text) if _speaker(match.group(1))]
    if turn.role != "user" or not any(_speaker(mark.group(1)) == "user" for mark in marks):
        return [turn]
    ends = [mark.start() for mark in marks[1:]] + [len(turn.text)]
    parts = [(mark.group(1), turn.text[mark.end() : end].strip()) for mark, end in zip(marks, ends, strict=True)]
    return [Message("user" if _speaker(name) == "user" else "assistant", text) for name, text in parts if text]


def _speaker(name: str) -> str | None:
    requests, lowered = lexicon().data["requests"], name.lower()
    if lowered in requests["caller"]:
        return "user"
    return "assistant" if lowered in requests["agent"] else None


def _without_leading_request(turns: list[Message]) -> list[Message]:
    """Drop a request that opens the first message ("Create a ticket: …"), if other words stay."""
    first = next((index for index, turn in enumerate(turns) if turn.role == "user"), None)
    if first is None:
        return turns
    head, colon, tail = turns[first].text.partition(":")
    lines = sentences(turns[first].text)
    if colon and tail.strip() and len(head) < 120 and is_request(head):
        rest = tail.strip()
    elif len(lines) > 1 and is_request(lines[0]):
        rest = turns[first].text[len(lines[0]) :].strip()
    elif is_request(turns[first].text) and sum(turn.role == "user" for turn in turns) > 1:
        return turns[:first] + turns[first + 1 :]
    else:
        return turns
    return [*turns[:first], Message("user", rest), *turns[first + 1 :]]


def _decoded(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _scalars(value: Any, depth: int = 0) -> Iterable[tuple[str, Any]]:
    if isinstance(value, dict) and depth < 4:
        for name, inner in value.items():
            if isinstance(inner, str | int | float | bool):
                yield name, inner
            else:
                yield from _scalars(inner, depth + 1)
    elif isinstance(value, list) and depth < 4:
        for inner in value[:20]:
            yield from _scalars(inner, depth + 1)
