"""Whether an agent hears itself: its own words come back as the caller's. Pure."""

import re
from collections import Counter
from collections.abc import Sequence

from ..marks import Turn

LEAST = 3
"""Words that a caller has to have said, since short answers repeat the question's words."""
SHARE = 0.7
"""Share of them that the agent has just said itself."""
_REPLIES = 2
_WORD = re.compile(r"\w+(?:['’]\w+)?")


def hears_itself(turns: Sequence[Turn]) -> bool:
    """Say whether the caller's newest spoken turn consists mostly of what the agent said in its last replies.

    Args:
        turns: In the order of the conversation.
    """
    last = next((n for n in range(len(turns) - 1, -1, -1) if _spoken(turns[n])), None)
    if last is None:
        return False
    said = _words(turns[last].text)
    replies = [turn for turn in turns[:last] if turn.speaker == "agent"][-_REPLIES:]
    replies += [turn for turn in turns[last + 1 :] if turn.speaker == "agent" and turn.start < turns[last].start]
    own = Counter(word for turn in replies for word in _words(turn.generated or turn.text))
    same = sum(min(count, own[word]) for word, count in Counter(said).items())
    return len(said) >= LEAST and same >= SHARE * len(said)


def _spoken(turn: Turn) -> bool:
    return turn.speaker == "caller" and turn.spoken and not turn.seeded and bool(turn.text.strip())


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]
