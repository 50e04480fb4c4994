"""Sound: PCM16, mono, 24000 Hz everywhere inside, whatever a recording was; WAV where it rests.

`load` takes any WAV file, bytes or array and gives a `Sound`; `pace` hands its blocks out as a microphone would.
numpy and soxr are loaded when a recording is, and not before.
"""

from .loading import MAX_SECONDS, load
from .pacing import pace
from .pcm import BYTES_PER_MS, SAMPLE_RATE, SAMPLE_WIDTH, duration_ms
from .sound import Sound
from .wav_file import read_wav, wav_data, write_wav

__all__ = [
    "BYTES_PER_MS",
    "MAX_SECONDS",
    "SAMPLE_RATE",
    "SAMPLE_WIDTH",
    "Sound",
    "duration_ms",
    "load",
    "pace",
    "read_wav",
    "wav_data",
    "write_wav",
]
