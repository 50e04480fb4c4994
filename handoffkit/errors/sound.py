"""What can go wrong with a recording that is to be spoken into a call."""

from .base import HandoffkitError

_CONVERT = "`ffmpeg -i IN -ar 24000 -ac 1 -c:a pcm_s16le OUT.wav`"


class AudioError(HandoffkitError):
    """A recording cannot be used. Catch it to catch all of them."""


class NotOurSound(AudioError):
    """A sound file is not what a call can take."""

    def __init__(self, path: object, found: str) -> None:
        super().__init__(
            f"{str(path)!r} is {found}; a call takes WAV with 24000 Hz, 16 bits, 1 channel. Convert it, for example "
            f"with {_CONVERT}."
        )


class SoundNotFound(AudioError):
    """There is no such file."""

    def __init__(self, path: object, near: list[str], *, folder: bool) -> None:
        if near:
            found = f"that folder has {', '.join(near)}"
        else:
            found = "that folder has no WAV file" if folder else "there is not even that folder"
        super().__init__(f"There is no file {str(path)!r}; {found}. Give the path of a WAV file.")


class SoundUnreadable(AudioError):
    """There is something, and it cannot be read as a file."""

    def __init__(self, path: object, reason: str) -> None:
        super().__init__(
            f"{str(path)!r} cannot be read: {reason}. Give the path of a WAV file that this user may read; the WAV "
            "files of a folder are listed by `handoffkit.sources.folder(...)`."
        )


class NotAWav(AudioError):
    """A file, or bytes, of another kind."""

    def __init__(self, name: str, found: str) -> None:
        super().__init__(f"{name!r} should be a WAV file, and is {found}. Convert it with {_CONVERT}.")


class UnknownEncoding(AudioError):
    """A WAV file whose sound is packed in a way that is not unpacked here."""

    def __init__(self, name: str, found: str) -> None:
        super().__init__(
            f"{name!r} is a WAV file with {found} in it; 8 to 32 bit PCM, float, A-law and µ-law are read. Convert it "
            f"with {_CONVERT}."
        )


class BadHeader(AudioError):
    """A WAV file whose header cannot be true."""

    def __init__(self, name: str, found: str) -> None:
        super().__init__(
            f"The header of {name!r} cannot be true: {found}, so nobody can say how to play what follows. Take another "
            "copy, or record it again. If you know what is in it, give the sound alone: "
            "`hk.audio.load(data[44:], sample_rate=16000)` takes bytes of PCM16, mono."
        )


class SoundEmpty(AudioError):
    """There is no sound at all."""

    def __init__(self, name: str, found: str) -> None:
        super().__init__(f"There is no sound in {name!r}: {found}. Record it again, or give another file.")


class SoundTooLong(AudioError):
    """More sound than one turn can be."""

    def __init__(self, name: str, seconds: float, limit: float) -> None:
        super().__init__(
            f"{name!r} lasts {seconds / 60:.1f} minutes; a recording lasts at most {limit / 60:g}. Cut it into "
            "turns, for example with `ffmpeg -i IN -ss 0 -t 60 OUT.wav`, and send one after the other."
        )


class BadArray(AudioError):
    """An array, or a sequence of numbers, that is no sound."""

    def __init__(self, found: str, advice: str) -> None:
        super().__init__(
            f"Sound is floats from -1 to 1 or integers (int16, int32, uint8), with the shape (n,) or (n, channels); "
            f"found {found}. {advice}."
        )


class WrongSampleRate(AudioError):
    """A number of samples a second that no recording has."""

    def __init__(self, name: str, found: object, lowest: int, highest: int) -> None:
        super().__init__(
            f"The sample rate of {name!r} should be a whole number of Hz from {lowest} to {highest}; found {found!r}. "
            "Give the one that it was recorded with: `hk.audio.load(..., sample_rate=16000)`."
        )


class SampleRateTwice(AudioError):
    """A WAV file says its sample rate, and was given another."""

    def __init__(self, name: str, own: int, given: int) -> None:
        super().__init__(
            f"{name!r} is a WAV file of {own} Hz, and sample_rate={given} says otherwise. A WAV is converted from its "
            "own rate: leave `sample_rate` out; it is for arrays and for bytes without a header."
        )


class WrongLevel(AudioError):
    """A change of level that cannot be made."""

    def __init__(self, found: object, why: str) -> None:
        super().__init__(f"A change of level is a number of decibels from -100 to 100; found {found!r}: {why}.")


class SourceNotFound(AudioError):
    """A folder of recordings is not there, or holds none."""

    def __init__(self, path: object, found: str) -> None:
        super().__init__(
            f"There are no recordings in {str(path)!r}: {found}. Give a folder that holds one WAV file for each turn "
            "of the caller's: turn-1.wav, turn-2.wav and so on."
        )


class SoundDamaged(UserWarning):
    """A recording could be read only in part, or had to be mended."""

    def __init__(self, name: str, damage: str) -> None:
        super().__init__(f"{name!r}: {damage}. Everything else was loaded. Play it before you rely on it.")


class SoundLimited(UserWarning):
    """A level was not raised as far as was asked, since the sound would have been cut off at its peaks."""

    def __init__(self, name: str, asked: float, given: float) -> None:
        super().__init__(
            f"{name!r} was changed by {given:+.1f} dB instead of {asked:+.1f} dB: more would cut off its peaks."
        )
