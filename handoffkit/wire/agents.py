"""Which agent a reply was made by: what a connection tells of instructions in force, and of agents by name.

A realtime session knows no agents, only instructions. Their names come from the outputs of transfers, and the first
agent's from a mark.
"""

from dataclasses import dataclass


@dataclass(slots=True, eq=False)
class Voice:
    """Instructions, and the agent that speaks under them."""

    instructions: str
    agent: str = ""
    """Its name; empty while nobody has told."""


class Voices:
    """The voices of one connection, and which of them has the call."""

    def __init__(self) -> None:
        self.holder: Voice | None = None
        """Who has the call; None before the first reply."""
        self._first: Voice | None = None
        self._first_name = ""
        self._by: dict[str, Voice] = {}

    def speaks(self, instructions: str) -> Voice:
        """Return the voice of a reply that begins under *instructions*."""
        voice = self._by.setdefault(instructions, Voice(instructions))
        if self._first is None:
            self._first = self.holder = voice
            self.call_first(self._first_name)
        return voice

    def call_first(self, name: str) -> Voice | None:
        """Give the agent that the call begins with its name; return the voice if it had none."""
        self._first_name = name
        if self._first is None or self._first.agent or not name:
            return None
        self._first.agent = name
        return self._first

    def take_over(self, name: str, instructions: str) -> tuple[Voice | None, Voice, bool]:
        """Give the call to the agent called *name*, empty if nobody tells.

        Returns:
            Who had the call, who has it, and whether that one has a name only now.
        """
        before = self.holder
        voice = self._by.setdefault(instructions, Voice(instructions))
        if name and (voice.agent != name if voice is before else voice.agent not in ("", name)):
            # Two agents with the same words for instructions.
            voice = self._by[instructions] = Voice(instructions)
        renamed = bool(name) and voice.agent != name
        voice.agent = name or voice.agent
        self.holder = voice
        return before, voice, renamed
