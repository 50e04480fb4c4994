"""The sound of a spoken turn: a WAV file in pydantic-ai's messages, bare PCM16 in a realtime conversation."""

import base64
import binascii
import io
import wave

from pydantic_ai.messages import BinaryContent

from ..audio.pcm import SAMPLE_RATE, SAMPLE_WIDTH


def pcm_of(audio: BinaryContent) -> str | None:
    """Return the sound as base64 of PCM16, mono, 24000 Hz, as a realtime session takes it; None if it is another."""
    try:
        with wave.open(io.BytesIO(audio.data), "rb") as file:
            shape = (file.getframerate(), file.getsampwidth(), file.getnchannels())
            sound = file.readframes(file.getnframes())
    except (wave.Error, EOFError):
        return None
    return base64.b64encode(sound).decode() if shape == (SAMPLE_RATE, SAMPLE_WIDTH, 1) and sound else None


def wav_of(pcm: str) -> BinaryContent | None:
    """Return base64 of a realtime session's sound as a WAV file; None if it cannot be read."""
    try:
        sound = base64.b64decode(pcm, validate=True)
    except (ValueError, binascii.Error):
        return None
    target = io.BytesIO()
    with wave.open(target, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(SAMPLE_WIDTH)
        file.setframerate(SAMPLE_RATE)
        file.writeframes(sound)
    return BinaryContent(target.getvalue(), media_type="audio/wav")
