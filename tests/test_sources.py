"""The recordings of a folder, in the order of their turns, told by their names alone."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handoffkit.errors import AudioError, SourceNotFound
from handoffkit.sources import _natural, folder


def make(where: Path, *names: str) -> None:
    for name in names:
        (where / name).touch()


def test_turns_come_in_natural_order(tmp_path: Path) -> None:
    make(tmp_path, "turn-10.wav", "turn-2.wav", "turn-1.wav", "Turn-3.WAV", "intro.wav", "01.wav")
    names = [path.name for path in folder(tmp_path)]
    assert names == ["01.wav", "intro.wav", "turn-1.wav", "turn-2.wav", "Turn-3.WAV", "turn-10.wav"]
    assert folder(str(tmp_path)) == folder(tmp_path)


def test_only_wav_files_are_taken_and_none_is_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path, "turn-1.wav", "words.json", "truth.json", "turn-1.txt", "._turn-1.wav", "README", "wav")
    (tmp_path / "folder.wav").mkdir()

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("something was opened")

    monkeypatch.setattr("builtins.open", refuse)
    monkeypatch.setattr("io.open", refuse)
    monkeypatch.setattr(Path, "open", refuse)
    assert folder(tmp_path) == [tmp_path / "turn-1.wav"]


def test_a_folder_without_recordings_says_so(tmp_path: Path) -> None:
    with pytest.raises(SourceNotFound, match=r"it is empty\. Give a folder that holds one WAV file for each turn"):
        folder(tmp_path)
    make(tmp_path, "words.json", "turn-1.mp3")
    with pytest.raises(SourceNotFound, match="none of its 2 entries is a WAV file"):
        folder(tmp_path)
    with pytest.raises(SourceNotFound, match=r"it is a file; send it with `call\.send_audio"):
        folder(tmp_path / "turn-1.mp3")
    with pytest.raises(SourceNotFound, match="there is no such folder"):
        folder(tmp_path / "nowhere")
    assert issubclass(SourceNotFound, AudioError)


@given(numbers=st.lists(st.integers(0, 10**6), min_size=2, max_size=6, unique=True))
def test_numbers_count_as_numbers(numbers: list[int]) -> None:
    paths = [Path(f"turn {number} of 9.wav") for number in numbers]
    assert sorted(paths, key=_natural) == [Path(f"turn {number} of 9.wav") for number in sorted(numbers)]


@given(names=st.lists(st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1)))
def test_any_names_can_be_sorted(names: list[str]) -> None:
    assert len(sorted((Path(name + ".wav") for name in names), key=_natural)) == len(names)
