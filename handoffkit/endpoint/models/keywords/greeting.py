"""The one instruction that the keyword model follows: the words with which an agent begins when the call comes to it.

`Call(agent, greetings=…)` puts the sentence there; the words of the sentence itself are the kernel's.
"""

import re

_SENTENCE = re.compile(r"speak first, and begin with these words: “([^”]*)”")


def greeting(instructions: str) -> str:
    """Return the words of the greeting in *instructions*; empty where there is none."""
    found = _SENTENCE.search(instructions)
    return found[1].strip() if found else ""
