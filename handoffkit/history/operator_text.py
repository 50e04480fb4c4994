"""What the operator wrote into a history, gathered apart from what was said: it is never a caller's words."""

from collections.abc import Mapping

from .losses import Losses


class OperatorText:
    """Gathers system prompts, developer messages and instructions, in order and each once."""

    def __init__(self, losses: Losses) -> None:
        self._losses = losses
        self._texts: list[str] = []
        self._standing: tuple[str, str] | None = None
        self._blocks: dict[object, tuple[str, str]] = {}
        self._changed: dict[object, tuple[str, str]] = {}
        self.talking = False
        """Something has been said already: what comes now stood between words, and loses that place."""

    def add(self, where: str, text: str) -> None:
        """Add a text that holds from where it stands to the end."""
        if not text:
            self._losses.add("empty", where, "operator text without a word is left out")
            return
        if self.talking:
            self._losses.add("place", where, "operator text that stood between what was said is now in `instructions`")
        if text not in self._texts:
            self._texts.append(text)

    def replace(self, where: str, text: str) -> None:
        """Put *text* in the place of what was last put here: of a request's instructions the last ones hold."""
        if self._standing and self._standing[1] != text:
            self._losses.add("superseded", self._standing[0], "instructions that later ones replaced are left out")
        self._standing = (where, text)

    def begin(self, where: str, blocks: Mapping[object, str]) -> None:
        """Note the blocks of the standing instructions that can change one by one: each change before is in them."""
        self._blocks = {id: (where, text) for id, text in blocks.items()}
        self._changed = {}

    def change(self, where: str, id: object, text: str) -> None:
        """Put *text* in the place of one block of the standing instructions, from here on; no text takes it away."""
        if text and self.talking:
            self._losses.add("place", where, "operator text that stood between what was said is now in `instructions`")
        if (old := self._changed.get(id) or self._blocks.get(id)) and old[1] not in ("", text):
            self._losses.add("superseded", old[0], "a part of the instructions that was replaced later is left out")
        self._changed[id] = (where, text)

    def whole(self) -> str:
        """Return all of it, its parts an empty line apart."""
        return "\n\n".join(dict.fromkeys([*self._texts, *filter(None, self._in_force())]))

    def _in_force(self) -> list[str]:
        """Return the standing instructions with each changed block in its place, or behind them if it is new."""
        text, new = self._standing[1] if self._standing else "", []
        for id, (_, now) in self._changed.items():
            before = self._blocks[id][1] if id in self._blocks else ""
            if before and before in text:
                text = text.replace(before, now, 1)
                text = text if now else text.replace("\n\n\n\n", "\n\n").strip()
            else:
                new.append(now)
        return [text, *new]
