"""What the keyword model says in a conversation: a short word on what it heard, then one question.

It never asks the same question twice: which ones were asked stands in the conversation itself, so the model needs no
memory. When nothing is left to ask it closes politely.
"""

from collections.abc import Iterator
from functools import cached_property

from .conversation import Conversation
from .judgement import Judgement
from .lexicon import Question, Reading, Topic, lexicon
from .summary import cut, is_open, was_asked
from .urgency import has_deadline
from .words import is_foreign

_CLEAR = 3.0
"""The weight from which the latest words change the topic."""
_CALM = frozenset(
    ["hurry", "hurri", "rush", "urgent", "time", "tim", "wait", "whenev", "whenever", "pressur", "important", "deal"]
)
"""Stems by which a caller says that there is time."""
_NONE: frozenset[str] = frozenset()


class Talk:
    """One reply in a conversation.

    Args:
        conversation: What was said so far.
        result: What a tool has just returned, in words, or empty.
        transferred: The tool handed the call over, so the next question is about the caller's matter.
    """

    def __init__(self, conversation: Conversation, result: str = "", *, transferred: bool = False) -> None:
        self._conversation = conversation
        self._result = result
        self._transferred = transferred
        self._whole = Judgement(conversation)
        self._latest = Judgement(Conversation.of(*_latest(conversation)))

    def reply(self) -> str:
        """Return the reply."""
        voice = lexicon().voice
        if self._conversation.unheard and not self._result:
            return self._unheard()
        if not self._conversation.caller and not self._conversation.agent and not self._result:
            return str(voice["greeting"])
        if self._is_goodbye():
            return self._unsaid([voice["goodbye"], voice["still"]])
        said = " ".join(self.reaction())
        question = self.question()
        if question or self._result:
            return f"{said} {question}".strip()
        return self._closing(said)

    def _unheard(self) -> str:
        """Return a request to say it again, in other words each time; at last the next question, or the closing."""
        voice = lexicon().voice
        line = self._unsaid(voice["unheard"], otherwise="")
        if line:
            return line
        line = self._unsaid(voice["unheard_on"], otherwise="")
        question = self.question()
        return f"{line} {question}".strip() if question else self._closing(line)

    def reaction(self) -> Iterator[str]:
        """Yield what is said about the caller's last words, before any question."""
        voice, text = lexicon().voice, self._latest.conversation.text
        if self._result:
            yield self._result
        elif not text:
            yield str(voice["noted"][2])
        elif self._latest.has("small.who"):
            yield str(voice["who"])
        elif is_foreign(text):
            yield str(voice["foreign"])
        elif self._latest.has("small.solved"):
            yield str(voice["solved"])
        elif self._is_new_topic():
            yield self._acknowledged()
            yield from self._pressing()
        else:
            yield from self._answered()

    def question(self) -> str:
        """Return the next question, or an empty string when all were asked."""
        topics = lexicon().topics
        topic, general = self._topic(), topics["anything"].questions
        if topic is None and self._only_hello() and not self._asked(general[0]):
            return (
                str(lexicon().voice["greeting"]).partition(". ")[2] if not self._conversation.agent else general[0].ask
            )
        asked = [*(topic.questions if topic else general[1:2]), *general[2:]]
        if self._result and not self._transferred:
            asked = [Question(str(lexicon().voice["more"]), _NONE, "", _NONE)]
        return next((question.ask for question in asked if is_open(question, self._whole)), "")

    def _asked(self, question: Question) -> bool:
        return was_asked(question, self._conversation)

    def _topic(self) -> Topic | None:
        latest = self._latest.topic
        return latest if latest and self._latest.scores[latest.name] >= _CLEAR else self._whole.topic

    def _is_new_topic(self) -> bool:
        earlier = self._conversation.caller[: -len(self._latest.conversation.caller) or None]
        before = Judgement(Conversation.of(*earlier)).topic if earlier else None
        topic = self._topic()
        return (
            not earlier or (topic is not None and before is None) or (topic != before and self._latest.topic == topic)
        )

    def _acknowledged(self) -> str:
        voice, topic = lexicon().voice, self._topic()
        if topic is None:
            return str(voice["hello"] if self._only_hello() else voice["unknown"])
        thing = next(iter(self._latest.things), "")
        ack = topic.ack.format(thing=f"your {thing}" if thing else topic.thing)
        return ack if ack not in self._said else self._fresh(voice["noted"])

    def _answered(self) -> Iterator[str]:
        """Yield a word on an answer: what was tried, a change of mind, yes or no, else just that it was heard."""
        voice, first = lexicon().voice, self._latest.conversation.readings[0]
        pressing = list(self._pressing())
        if self._latest.has("small.nothing_changed") or self._latest.has("small.tried"):
            yield self._fresh(voice["tried"])
        elif self._latest.has("small.back"):
            yield str(voice["changed"])
        elif _begins(first, "small.no") and not first.has("urgency.low"):
            yield self._fresh(voice["no"])
        elif _begins(first, "small.yes"):
            yield self._fresh(voice["yes"])
        elif not pressing:
            yield str(voice["noted"][len(self._conversation.agent) % len(voice["noted"])])
        yield from pressing

    def _pressing(self) -> Iterator[str]:
        """Yield a word on urgency, if the latest words say something about it that was not answered yet."""
        voice, level, line = lexicon().voice, self._latest.urgency or 0.5, ""
        readings = self._latest.conversation.readings
        if self._latest.deadline and (level >= 0.8 or any(map(has_deadline, readings))):
            line = str(voice["soon"]).format(when=self._latest.deadline)
        elif level >= 0.8:
            line = str(voice["urgent"])
        elif level < 0.3 and any(_CALM & set(hit.word.split()) for r in readings for hit in r.find("urgency.low")):
            line = str(voice["calm"])
        if line and line not in self._said:
            yield line

    @cached_property
    def _said(self) -> str:
        return "\n".join(self._conversation.agent)

    def _fresh(self, lines: list[str]) -> str:
        """Return the first line that the agent has not said yet; when all were said, they take turns."""
        unsaid = (line for line in lines if line not in self._said)
        return next(unsaid, lines[len(self._conversation.agent) % len(lines)])

    def _only_hello(self) -> bool:
        readings = self._conversation.readings
        return all(len(reading.words) < 5 and reading.has("small.hello") for reading in readings)

    def _is_goodbye(self) -> bool:
        """Say whether the caller is leaving: words of goodbye in a short turn that brings nothing new."""
        readings = self._latest.conversation.readings
        said = bool(readings) and readings[-1].has("small.goodbye") and len(readings[-1].words) <= _SHORT
        return said and not self._result and not (self._latest.topic and self._latest.has("small.trouble"))

    def _closing(self, said: str) -> str:
        """Return words for when nothing is left to ask: closing lines, each once, then the caller's words read back."""
        voice = lexicon().voice
        line = self._unsaid([voice["closing"], voice["still"]], otherwise="")
        if not line:
            words = cut(" ".join(self._latest.conversation.text.split()), 80)
            line = str(voice["read_back"]).format(words=words) if words else str(voice["goodbye"])
            return line
        return f"{said} {line}".strip()

    def _unsaid(self, lines: list[str], otherwise: str | None = None) -> str:
        """Return the first line that the agent has not said yet; *otherwise*, or the last one, when it has said all."""
        said = "\n".join(self._conversation.agent)
        return next((line for line in lines if line not in said), lines[-1] if otherwise is None else otherwise)


_SHORT = 10


def _begins(reading: Reading, group: str) -> bool:
    return any(hit.start <= 1 for hit in reading.find(group))


def _latest(conversation: Conversation) -> list[str]:
    """Return what the caller has said since the agent last spoke."""
    texts: list[str] = []
    for turn in reversed(conversation.turns):
        if turn.role == "assistant":
            break
        texts.append(turn.text)
    return texts[::-1]
