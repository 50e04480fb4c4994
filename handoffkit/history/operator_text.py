"""What the operator wrote into a history, gathered apart from what was said: it is never a caller's words."""

from .losses import Losses


class OperatorText:
    """Gathers system prompts, developer messages and instructions, in order and each once."""

    def __init__(self, losses: Losses) -> None:
        self._losses = losses
        self._texts: list[str] = []
        self._standing: tuple[str, str] | None = None
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

    def whole(self) -> str:
        """Return all of it, its parts an empty line apart."""
        standing = [self._standing[1]] if self._standing else []
        return "\n\n".join(dict.fromkeys([*self._texts, *standing]))
