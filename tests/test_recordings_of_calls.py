"""The recorded calls in audio/: their files are what their words, their truths and the README say."""

import importlib
import json
import re
import subprocess
import sys
import wave
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from handoffkit import audio, sources

AUDIO = Path(__file__).resolve().parent.parent / "audio"
FOLDERS = sorted(path.parent for path in AUDIO.glob("*/words.json"))
NAMED = {
    *("laptop-will-not-charge", "charged-twice", "app-crashes", "junk-pickup", "wrong-address"),
    *("two-problems", "change-of-mind", "question-only"),
}
"""The calls that notebooks and benchmarks name."""
AT_MOST_BYTES = 6_300_000
each_call = pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)


@pytest.fixture(scope="module")
def make() -> Iterator[ModuleType]:
    """Import audio/make.py as its own command does: from its folder, which is no package."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(AUDIO)
        yield importlib.import_module("make")
    for name in ("make", "calls"):
        del sys.modules[name]


def beside(folder: Path, file: str) -> dict[str, Any]:
    said: dict[str, Any] = json.loads((folder / file).read_text("utf-8"))
    return said


def form(path: Path) -> tuple[int, int, int, float]:
    """Return a file's rate (Hz), channels, bytes a sample and seconds, as the standard library reads them."""
    with wave.open(str(path), "rb") as file:
        rate = file.getframerate()
        return rate, file.getnchannels(), file.getsampwidth(), file.getnframes() / rate


# What is there


def test_the_calls_that_others_name_are_there() -> None:
    assert {folder.name for folder in FOLDERS} >= NAMED


def test_the_recordings_stay_small() -> None:
    assert sum(path.stat().st_size for path in AUDIO.rglob("*") if path.is_file()) < AT_MOST_BYTES


def test_callers_differ_in_voice_in_noise_and_in_form() -> None:
    calls = [beside(folder, "words.json") for folder in FOLDERS]
    assert len({call["voice"] for call in calls}) >= 3
    assert "heart" not in {call["voice"] for call in calls}
    assert {call["noise"] for call in calls if call["snr_db"] == 10} >= {"pink", "white"}
    assert {(call["rate"], call["channels"]) for call in calls} >= {(8_000, 1), (24_000, 1), (44_100, 2)}


# Each call


@each_call
def test_a_call_has_a_file_for_each_turn_and_nothing_else(folder: Path) -> None:
    turns = beside(folder, "words.json")["turns"]
    assert 2 <= len(turns) <= 4
    assert [path.name for path in sources.folder(folder)] == [
        f"turn-{number}.wav" for number in range(1, len(turns) + 1)
    ]
    assert len(list(folder.iterdir())) == len(turns) + 2


@each_call
def test_the_files_have_the_form_that_their_words_say(folder: Path) -> None:
    words = beside(folder, "words.json")
    for path in sources.folder(folder):
        rate, channels, width, seconds = form(path)
        assert (rate, channels, width) == (words["rate"], words["channels"], 2)
        assert 2 < seconds < 10


@each_call
def test_a_turn_loads_as_the_sound_of_a_call_without_a_warning(folder: Path) -> None:
    for path in sources.folder(folder):
        sound = audio.load(path)
        assert sound.seconds == pytest.approx(form(path)[3], abs=0.01)


@each_call
def test_a_truth_is_one_that_a_ticket_can_have(folder: Path) -> None:
    truth = beside(folder, "truth.json")
    assert truth["category"] in {"hardware", "software", "billing", "other"}
    assert truth["priority"] in {"low", "medium", "high"}
    assert truth["mentions"]
    assert truth["why"].endswith(".")


@each_call
def test_each_word_that_a_summary_should_have_is_one_that_the_caller_says(folder: Path) -> None:
    said = " ".join(beside(folder, "words.json")["turns"]).lower()
    for beginnings in beside(folder, "truth.json")["mentions"]:
        assert re.search(rf"\b({beginnings})", said), beginnings


def test_the_laptop_call_is_hardware_and_high() -> None:
    truth = beside(AUDIO / "laptop-will-not-charge", "truth.json")
    assert (truth["category"], truth["priority"]) == ("hardware", "high")


# What was done to the sound


@each_call
def test_the_noise_is_as_far_below_the_speech_as_said(folder: Path, make: ModuleType) -> None:
    words = beside(folder, "words.json")
    for path in sources.folder(folder):
        speech, noise = make.speech_and_noise(*make.read(path))
        assert speech == pytest.approx(words["level_dbfs"], abs=1.5)
        if words["snr_db"] is None:
            assert -70 < noise < -60, "a quiet room, and no digital silence"
        else:
            assert speech - noise == pytest.approx(words["snr_db"], abs=2)


@each_call
def test_no_turn_is_clipped(folder: Path, make: ModuleType) -> None:
    for path in sources.folder(folder):
        sound, _ = make.read(path)
        assert abs(sound).max() < 1 - 1 / 32768


def test_a_telephone_passes_its_band_alone(make: ModuleType) -> None:
    import numpy as np

    for path in sources.folder(AUDIO / "junk-pickup"):
        sound, rate = make.read(path)
        power = np.square(np.abs(np.fft.rfft(sound[:, 0])))
        hertz = np.fft.rfftfreq(len(sound), 1 / rate)
        outside = power[(hertz < 180) | (hertz > 3520)].sum()
        assert outside < 1e-4 * power.sum()


def test_the_stereo_recording_has_two_sides_that_differ(make: ModuleType) -> None:
    for path in sources.folder(AUDIO / "question-only"):
        sound, _ = make.read(path)
        left, right = make.dbfs(sound[:, :1]), make.dbfs(sound[:, 1:])
        assert left - right == pytest.approx(3, abs=0.5)


# What is said about them


def test_the_readme_tells_of_every_call_as_it_is() -> None:
    rows = re.findall(
        r"^\| `([a-z-]+)` \| .* \| (\S+) \| ([^|]+) \| ([^|]+) \| −(\d+) dBFS \| ([\d.]+) \|$", readme(), re.M
    )
    assert [row[0] for row in rows] == list(dict.fromkeys(row[0] for row in rows))
    assert {row[0] for row in rows} == {folder.name for folder in FOLDERS}
    for name, voice, file, noise, level, seconds in rows:
        words = beside(AUDIO / name, "words.json")
        assert voice == words["voice"]
        assert file.startswith(f"{words['rate'] / 1000:g} kHz {'stereo' if words['channels'] == 2 else 'mono'}")
        assert ("telephone" in file) == words["telephone"]
        assert noise == (f"{words['noise']}, {words['snr_db']:.0f} dB" if words["noise"] else "none")
        assert -int(level) == words["level_dbfs"]
        took = sum(form(path)[3] for path in sources.folder(AUDIO / name))
        assert float(seconds) == pytest.approx(took, abs=0.06)


def readme() -> str:
    return (AUDIO / "README.md").read_text("utf-8")


def test_the_readme_gives_every_voice_a_licence() -> None:
    rows = re.findall(r"^\| ([a-z, -]+) \| [^|]+ \| [^|]+ \| [^|]+ \|$", readme(), re.M)
    told = {voice for row in rows for voice in row.split(", ")}
    assert told >= {beside(folder, "words.json")["voice"] for folder in FOLDERS}
    assert "CC0 1.0" in readme()


def test_the_check_of_make_py_passes_without_a_voice() -> None:
    done = subprocess.run([sys.executable, AUDIO / "make.py", "--check"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_check_says_what_is_wrong(make: ModuleType, tmp_path: Path) -> None:
    folder = tmp_path / "charged-twice"
    folder.mkdir()
    (folder / "words.json").write_text("{}", "utf-8")
    (folder / "turn-1.wav").write_bytes((AUDIO / "junk-pickup" / "turn-1.wav").read_bytes())
    (tmp_path / "made-up").mkdir()
    (tmp_path / "made-up" / "words.json").write_text("{}", "utf-8")
    found = list(make.wrong(tmp_path))
    assert "made-up: not in the table." in found
    assert "charged-twice/words.json: missing, or not as the table has it." in found
    assert "charged-twice/turn-1.wav: 8000 Hz with 1 channels; the table says 24000 Hz with 1." in found
    assert "charged-twice/turn-2.wav: missing." in found


def test_a_call_that_is_not_in_the_table_is_refused_with_those_that_are() -> None:
    done = subprocess.run([sys.executable, AUDIO / "make.py", "no-such"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "no such call: no-such. There are laptop-will-not-charge, " in done.stderr
