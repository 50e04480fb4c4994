"""What a conversation says about one field of a schema, found by the field's name and description.

A field called `customer_email` gets an email address, `order_id` an order number, `due` a word for a time, `summary`
a summary. A field of any other name gets what tools returned under that name, what the caller said in the form "my
NAME is …", or a short answer to an agent's question that has the name's words. Nothing is guessed: an empty list
means that it was not said.
"""

import re
from collections.abc import Callable
from functools import cached_property
from typing import Any

from . import evidence
from .choices import Field
from .conversation import Conversation
from .evidence import Number
from .judgement import Judgement
from .lexicon import lexicon
from .summary import open_questions, summary, title
from .words import name_words, sentences, stem, stems, tokens

_SHORT_ANSWER = 8
_ANSWER_START = re.compile(
    r"^(?:(?:yes|yeah|sure|ok|okay|well|um|uh|oh|so)\b[,. ]*)*"
    r"(?:(?:it'?s|it is|that'?s|that is|this is|the|my|i'?m|a|an)\b )*"
    r"(?:[\w' ]{1,30}? (?:is|are|was|would be) )?",
    re.IGNORECASE,
)
_CODES = {"id", "number", "no", "nr", "code", "reference", "ref", "num", "key"}
_UNITS = {"minute", "hour", "day", "week", "month", "second", "year"}


class FieldValues:
    """Values for fields, from one judgement."""

    def __init__(self, judgement: Judgement) -> None:
        self.judgement = judgement
        self.conversation: Conversation = judgement.conversation

    def texts(self, field: Field, *, many: bool = False) -> list[str]:
        """Return what was said about a field that takes text, the best first; with *many*, for a list of texts."""
        own = field.is_about("summary") or field.is_about("title")
        found = [value for value in self._known(field) if isinstance(value, str) and not own]
        if found:
            return found
        finders = self._many if many else self._one
        for field_words in (field, Field(field.description)):
            for keys, finder in finders:
                if any(field_words.is_about(key) for key in keys) and (field_words is field or keys[0] in _DESCRIBED):
                    values = [value for value in finder(field) if value]
                    if values or keys[0] in _DECISIVE:
                        return values
            if not field.words or field_words is not field:
                break
        return self.stated(field)

    @cached_property
    def _one(self) -> list[tuple[tuple[str, ...], Callable[[Field], list[str]]]]:
        judgement, text = self.judgement, self.conversation.text
        return [
            (("email",), lambda field: _newest(evidence.emails(text)) if self._is_email(field) else []),
            (("phone",), lambda field: _newest(evidence.phones(text)) if not set(field.words) & {"model"} else []),
            (("url",), lambda field: _newest(evidence.urls(text))),
            (("address",), lambda field: _newest(evidence.addresses(text))),
            (("place",), lambda field: self._places(field)),
            (("reference",), lambda field: self._references(field)),
            (("title",), lambda field: [title(judgement)]),
            (("questions",), lambda field: open_questions(judgement)),
            (("feeling",), lambda field: [self._feeling()]),
            (("urgency",), lambda field: [self._urgency_word()] if judgement.urgency is not None else []),
            (("currency",), lambda field: [number.currency for number in evidence.amounts(text)]),
            (("money",), lambda field: self._money_texts()),
            (("when",), lambda field: _newest(evidence.dates(text)) or self._whens(field)),
            (("language",), lambda field: []),
            (("first_name",), lambda field: self._part_of_name(field, 0)),
            (("last_name",), lambda field: self._part_of_name(field, -1)),
            (("things",), lambda field: self._things()),
            (("topics",), lambda field: [judgement.topic.name] if judgement.topic else []),
            (("name",), lambda field: self._names()),
            (("quote",), lambda field: self.conversation.caller[-1:]),
            (("tried",), lambda field: self._sentences_with("small.tried", "small.nothing_changed")),
            (("summary", "facts"), lambda field: [summary(judgement)]),
        ]  # fmt: skip

    @cached_property
    def _many(self) -> list[tuple[tuple[str, ...], Callable[[Field], list[str]]]]:
        judgement, text = self.judgement, self.conversation.text
        return [
            (("questions",), lambda field: open_questions(judgement, limit=3)),
            (("email",), lambda field: evidence.emails(text) if self._is_email(field) else []),
            (("phone",), lambda field: evidence.phones(text)),
            (("url",), lambda field: evidence.urls(text)),
            (("tried",), lambda field: self._sentences_with("small.tried", "small.nothing_changed")),
            (("next",), lambda field: []),
            (("facts",), lambda field: self._telling()),
            (("things",), lambda field: self._things()),
            (("topics",), lambda field: self._topics()),
            (("feeling",), lambda field: list(judgement.feelings)),
            (("address",), lambda field: evidence.addresses(text)),
            (("place",), lambda field: evidence.places(text)),
            (("when",), lambda field: evidence.whens(text)),
            (("reference",), lambda field: evidence.references(text)),
            (("name",), lambda field: self._names()),
            (("quote",), lambda field: self.conversation.sentences[:10]),
        ]  # fmt: skip

    def number(self, field: Field) -> list[float]:
        """Return numbers that were said for a field, the best first."""
        known = [
            value for value in self._known(field) if isinstance(value, int | float) and not isinstance(value, bool)
        ]
        if known:
            return known
        text = self.conversation.text
        said = evidence.numbers(text)
        money = [number.value for number in said if number.currency]
        if field.is_about("money") and money:
            return money
        for key, units in (("age", {"year"}), ("rating", {"star", "out"})):
            if field.is_about(key):
                return [number.value for number in said if number.unit in units] or self._spoken_age(key)
        if field.is_about("duration"):
            wanted = {stem(word) for word in field.words}
            return [number.value for number in said if number.unit in _UNITS and stem(number.unit) in wanted]
        return self._counted(field, [number for number in said if not number.currency])

    def _counted(self, field: Field, said: list[Number]) -> list[float]:
        """Return numbers that stand before the field's own word ("six guests"), or near it, or alone for a quantity."""
        own = {stem(word) for word in field.words} - {"number", "of", "num", "count", "total", "the"}
        exact = [number.value for number in said if stem(number.unit) in own]
        if exact:
            return exact
        roots = stems(self.conversation.text)
        near = [n.value for n in said if own & set(roots[max(0, n.start - 4) : n.start] + roots[n.end : n.end + 2])]
        if near:
            return near
        if field.is_about("reference") and set(field.words) & _CODES:
            return [
                float(code) for code in evidence.references(self.conversation.text) if code.isdigit() and len(code) < 15
            ]
        plain = [number.value for number in said if number.unit not in _UNITS and number.value < 1000]
        answered = [number.value for answer in self.answers(own) for number in evidence.numbers(answer)] if own else []
        return answered or (plain if field.is_about("quantity") else [])

    def date(self) -> list[str]:
        """Return the clear dates that were said, the latest said first."""
        return _newest(evidence.dates(self.conversation.text))

    def time(self) -> list[str]:
        """Return the times of day that were said, the latest said first."""
        return _newest(evidence.times(self.conversation.text))

    def stated(self, field: Field) -> list[str]:
        """Return what the caller said in the form "my NAME is …", or answered to a question with the name's words."""
        words = [word for word in field.words if word not in ("the", "of", "a", "customer", "caller", "user")]
        if not words:
            return []
        for phrase in dict.fromkeys([" ".join(words), words[-1] if words[-1] not in _CODES else words[0]]):
            found = re.findall(
                rf"\b{re.escape(phrase)}s?(?: is| are| was| would be|:| =) ([^.,;!?\n]{{1,60}})",
                self.conversation.text,
                re.I,
            )
            if found:
                return [re.split(r"\s+(?:and|but|because|so)\b", found[-1])[0].strip()]
        return self.answers({stem(word) for word in words if word not in _CODES} or {stem(words[-1])})

    def answers(self, own: set[str]) -> list[str]:
        """Return the caller's short answers to the agent's questions that have all the stems *own*, the last first."""
        found, asked = [], False
        for turn in self.conversation.turns:
            if turn.role == "assistant":
                last = [line for line in sentences(turn.text) if line.endswith("?")][-1:]
                asked = bool(last) and own <= set(stems(last[0]))
            elif asked:
                asked = False
                answer = _ANSWER_START.sub("", turn.text.strip(), count=1).strip(" .!,")
                if answer and len(answer.split()) <= _SHORT_ANSWER and not lexicon().read(turn.text).has("small.no"):
                    found.append(answer)
        return found[::-1]

    def counted(self) -> list[str]:
        """Return what the caller counts, number included, as it was said: "two lamps"."""
        found = []
        for text in self.conversation.caller:
            words = tokens(text)
            for number in evidence.numbers(text):
                noun = words[number.end].text if number.end < len(words) else ""
                if _is_countable(noun, number):
                    found.append(text[words[number.start].start : words[number.end].end])
        return found

    def _things(self) -> list[str]:
        return list(dict.fromkeys([*(said.split()[-1] for said in self.counted()), *self.judgement.things]))

    def _known(self, field: Field) -> list[Any]:
        """Return what tools returned under the field's name."""
        words = field.words
        return [value for name, value in self.conversation.known if words and name_words(name) == words]

    def _is_email(self, field: Field) -> bool:
        return bool(set(field.words) & {"email", "mail"})

    def _names(self) -> list[str]:
        return _newest(evidence.names(self.conversation.text)) or [
            answer.title() if answer.islower() else answer
            for answer in self.answers({"name"})
            if len(answer.split()) <= 3
        ]

    def _feeling(self) -> str:
        return max(self.judgement.feelings, key=self.judgement.feelings.__getitem__, default="neutral")

    def _topics(self) -> list[str]:
        return [name for name, score in self.judgement.scores.items() if score >= 2 and name != "question"]

    def _part_of_name(self, field: Field, index: int) -> list[str]:
        whole = self._names() if "name" in field.words else []
        return [name.split()[index] for name in whole if index == 0 or " " in name]

    def _places(self, field: Field) -> list[str]:
        stated = self.stated(field)
        found = evidence.places(self.conversation.text)
        return stated or (found[-1:] if not set(field.words) & {"origin"} else found[:1])

    def _references(self, field: Field) -> list[str]:
        words = set(field.words)
        codes = evidence.references(self.conversation.text)
        if not words & _CODES and not words & {"tracking", "serial"} and not (words == {"order"} or words == {"case"}):
            return self.stated(field)
        kind = [word for word in field.words if word not in _CODES]
        near = [
            code
            for code in codes
            if kind and re.search(rf"\b{kind[0]}\b\D{{0,30}}{re.escape(code)}", self.conversation.text, re.I)
        ]
        return _newest(near or codes)

    def _money_texts(self) -> list[str]:
        numbers = evidence.amounts(self.conversation.text)
        return [f"{number.value:g} {number.currency}" for number in reversed(numbers)]

    def _whens(self, field: Field) -> list[str]:
        found = [when for when in evidence.whens(self.conversation.text) if when.lower() != "yesterday"]
        return _newest(found) or (_newest(evidence.times(self.conversation.text)) if "time" in field.words else [])

    def _urgency_word(self) -> str:
        level = self.judgement.urgency or 0.0
        return "high" if level >= 0.7 else "low" if level < 0.3 else "medium"

    def _sentences_with(self, *groups: str) -> list[str]:
        found = [
            line for line in self.conversation.sentences if any(lexicon().read(line).has(group) for group in groups)
        ]
        return found[:5]

    def _telling(self) -> list[str]:
        known = [line for line in self.conversation.sentences if any(
            hit.group.startswith("topics.") or hit.group == "small.trouble" for hit in lexicon().read(line).hits
        )]  # fmt: skip
        return (known or self.conversation.sentences)[:5]

    def _spoken_age(self, key: str) -> list[float]:
        match = (
            re.search(r"\b(?:i'?m|i am|aged?)\s+(\d{1,3})\b", self.conversation.text, re.I) if key == "age" else None
        )
        return [float(match.group(1))] if match else []


_DESCRIBED = {"email", "phone", "url", "address", "reference", "summary", "title", "questions", "name"}
"""Kinds of field that are known by their description too, where the name says nothing."""
_DECISIVE = {"email", "phone", "url", "questions", "next", "language", "currency", "things", "topics", "tried"}
"""Kinds that take nothing else when nothing of the kind was said."""


def _is_countable(noun: str, number: Number) -> bool:
    """Say whether *noun*, which stands after a number, is a thing that is counted, as far as the lexicon can tell."""
    small = any(hit.group.startswith(("small.", "urgency.")) for hit in lexicon().read(noun).hits)
    plural = noun.endswith("s") or number.value == 1
    return (
        len(noun) > 2 and noun.isalpha() and plural and not small and not number.currency and number.unit not in _UNITS
    )


def _newest(values: list[str]) -> list[str]:
    return list(dict.fromkeys(reversed(values)))
