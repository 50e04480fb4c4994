"""What can go wrong with the sound of a turn."""

from .base import HandoffkitError


class NotOurSound(HandoffkitError):
    """A sound file is not what a call can take."""

    def __init__(self, path: object, found: str) -> None:
        super().__init__(
            f"{str(path)!r} is {found}; a call takes WAV with 24000 Hz, 16 bits, 1 channel. Convert it, for example "
            "with `ffmpeg -i IN -ar 24000 -ac 1 -c:a pcm_s16le OUT.wav`."
        )
