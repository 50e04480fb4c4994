"""A working copy of the course is brought up to date, and what a learner wrote in it is never written over."""

import json
from pathlib import Path

import pytest

from handoffkit.commands.course import GIVEN, copy_course, find_course
from handoffkit.errors import CourseFolderRefused, CourseMissing

FIRST, WAV = "notebooks/00_first.ipynb", "audio/turn.wav"


@pytest.fixture
def course(tmp_path: Path) -> Path:
    folder = tmp_path / "the course"
    for name, content in ((FIRST, "as it came"), (WAV, "sound"), ("notebooks/.ipynb_checkpoints/old.ipynb", "old")):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)
    return folder


@pytest.fixture
def copy(course: Path, tmp_path: Path) -> Path:
    target = tmp_path / "a copy with spaces" / "한국어"
    copy_course(course, target)
    return target


def everything(folder: Path) -> dict[str, str]:
    files = (path for path in folder.rglob("*") if path.is_file() and path.name != GIVEN)
    return {path.relative_to(folder).as_posix(): path.read_text() for path in files}


def test_a_new_copy_has_the_course_and_nothing_hidden(copy: Path) -> None:
    assert everything(copy) == {FIRST: "as it came", WAV: "sound"}


def test_a_second_time_changes_nothing_and_says_nothing(course: Path, copy: Path) -> None:
    before = everything(copy)
    copied = copy_course(course, copy)
    assert (copied.added, copied.updated, copied.beside, str(copied)) == ([], [], [], "")
    assert everything(copy) == before


def test_a_file_that_nobody_touched_follows_the_course(course: Path, copy: Path) -> None:
    (course / FIRST).write_text("a newer version")
    copied = copy_course(course, copy)
    assert copied.updated == [FIRST]
    assert (copy / FIRST).read_text() == "a newer version"


def test_a_change_of_the_learners_stays_while_the_course_is_the_same(course: Path, copy: Path) -> None:
    (copy / FIRST).write_text("mine")
    assert str(copy_course(course, copy)) == ""
    assert everything(copy) == {FIRST: "mine", WAV: "sound"}


def test_a_newer_course_goes_beside_a_change_and_says_so_once(course: Path, copy: Path) -> None:
    (copy / FIRST).write_text("mine")
    (course / FIRST).write_text("a newer version")
    said = str(copy_course(course, copy))
    assert said == f"You changed {FIRST}, so it stays; the course's newer version is notebooks/00_first-new.ipynb."
    assert everything(copy) == {FIRST: "mine", "notebooks/00_first-new.ipynb": "a newer version", WAV: "sound"}
    assert str(copy_course(course, copy)) == ""


def test_a_second_newer_version_spares_a_changed_first_one(course: Path, copy: Path) -> None:
    (copy / FIRST).write_text("mine")
    for version in ("second", "third"):
        (course / FIRST).write_text(version)
        copy_course(course, copy)
    assert (copy / FIRST).read_text() == "mine"
    assert (copy / "notebooks/00_first-new.ipynb").read_text() == "second"
    assert (copy / "notebooks/00_first-new-2.ipynb").read_text() == "third"


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"given": 1}', '{"given": null}'])
def test_without_its_memory_every_difference_is_the_learners(course: Path, copy: Path, damage: str) -> None:
    (copy / GIVEN).write_text(damage)
    (course / FIRST).write_text("a newer version")
    assert copy_course(course, copy).beside == [(FIRST, "notebooks/00_first-new.ipynb")]
    assert (copy / FIRST).read_text() == "as it came"


def test_a_file_that_was_deleted_comes_back(course: Path, copy: Path) -> None:
    (copy / FIRST).unlink()
    assert copy_course(course, copy).added == [FIRST]


def test_a_copy_of_a_read_only_course_can_be_written(course: Path, tmp_path: Path) -> None:
    (course / FIRST).chmod(0o444)
    copy_course(course, tmp_path / "copy")
    assert (tmp_path / "copy" / FIRST).stat().st_mode & 0o200


def test_the_memory_holds_names_and_digests_only(copy: Path) -> None:
    given = json.loads((copy / GIVEN).read_text())["given"]
    assert given.keys() == {FIRST, WAV}
    assert all(len(digest) == 64 for digest in given.values())


@pytest.mark.parametrize("inside", [".", "notebooks", "notebooks/mine", "audio"])
def test_the_course_itself_is_refused_as_a_working_copy(course: Path, inside: str) -> None:
    before = everything(course)
    with pytest.raises(CourseFolderRefused, match=r"it is the course itself.*handoffkit lab FOLDER"):
        copy_course(course, course / inside)
    assert everything(course) == before


def test_a_folder_that_cannot_be_made_is_refused_with_the_reason(course: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(CourseFolderRefused, match="cannot be written"):
        copy_course(course, tmp_path / "file")


def test_the_course_is_inside_an_installed_package_or_beside_a_checkouts(course: Path) -> None:
    package = course / "handoffkit"
    assert find_course(package) == course
    (package / "_course" / "notebooks").mkdir(parents=True)
    (package / "_course" / "notebooks" / "00.ipynb").write_text("{}")
    assert find_course(package) == package / "_course"


def test_an_installation_without_a_course_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(CourseMissing, match="from its wheel, or from a whole checkout"):
        find_course(tmp_path / "handoffkit")
