"""The agent's sound in one panel: the page plays it, as long as a page is there."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .page_sound import PageSpeaker
from .troubles import Trouble

if TYPE_CHECKING:
    from .desk import Desk


class Mouth:
    """The speaker of one panel.

    Args:
        desk: The panel's.
    """

    def __init__(self, desk: "Desk") -> None:
        self._desk = desk
        self._speaker: PageSpeaker | None = None
        self._given = False

    @property
    def kind(self) -> str:
        """`page`, or `none`."""
        return "none" if self._speaker is None else "page"

    async def open(self) -> None:
        """Play by the page from now on, where there is sound; once a call, since a cell may choose another speaker.

        Where speech is off, a reply is silence of its length, and its words are read: nothing of that is played.
        """
        call = self._desk.subject.call
        if call is not None and not self._given and self._desk.page_sound and self._desk.subject.hears:
            self._given = True
            if call.playback.audible:
                return  # a cell has chosen one
            self._speaker = PageSpeaker(self._desk.outbox.sound, on_trouble=self._trouble)
            await call.use_speaker(self._speaker)

    async def close(self) -> None:
        """Play by the page no longer; the call goes on unheard."""
        speaker, self._speaker = self._speaker, None
        call = self._desk.subject.call
        if speaker is not None and call is not None:
            speaker.close()
            self._given = False
            await call.use_speaker(None)

    async def look(self) -> None:
        """Play a call that a cell has started, if a page is there; stop where the call has ended."""
        phase = self._desk.subject.phase
        if phase == "on" and self._desk.presence.here:
            await self.open()

    def feed(self, message: Mapping[str, Any]) -> None:
        """Take what the page says of its speaker."""
        if self._speaker is not None:
            self._speaker.feed(message)

    def _trouble(self, kind: str, words: str) -> None:
        trouble = Trouble(f"speaker-{kind}", "warn", words, "The words are in the transcript.")
        self._desk.task(self._desk.trouble(trouble), "trouble")
