"""The notebooks as a whole: what nbval cannot see, what a reader may expect, and the exercises as solved."""

import copy
import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from regenerate import IGNORED, NOTEBOOKS, ROOT, Notebook, execute, read

import handoffkit as hk
from handoffkit.commands.course import copy_course

PATHS = sorted(NOTEBOOKS.glob("*.ipynb"))
LESSONS = [path for path in PATHS if not path.name.startswith("00")]
"""All but 00, which takes a minute and has no exercise."""
SIZE = 200_000
"""Bytes of a notebook, its pictures included."""
SAVED = "saved"
"""Tags a cell that shows a call from its file, so that words and times are the same on every run."""
SAVED_SIZE = 1_000_000
"""Bytes of all the calls that are shown from their files."""

each_notebook = pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
each_lesson = pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)


def cells(path: Path, kind: str) -> list[Notebook]:
    return [cell for cell in read(path).cells if cell.cell_type == kind]


def tags(cell: Notebook) -> set[str]:
    return set(cell.metadata.get("tags", []))


def lines(cell: Notebook) -> list[str]:
    return [line for line in cell.source.splitlines() if line.strip()]


def compared(cell: Notebook) -> bool:
    return bool(cell.outputs) and IGNORED not in tags(cell)


def shown(cell: Notebook) -> str:
    """Return all the text that a cell's outputs hold, without pictures."""
    found = []
    for output in cell.get("outputs", []):
        found += ["".join(output.get("text", "")), *output.get("traceback", [])]
        found += ["".join(value) for name, value in output.get("data", {}).items() if name.startswith("text/")]
    return "\n".join(filter(None, found))


def test_the_notebooks_are_run_by_pytest_without_being_asked() -> None:
    options = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["pytest"]["ini_options"]
    assert "--nbval " in options["addopts"]
    assert "notebooks" in options["testpaths"]
    assert [path.name[:2] for path in PATHS] == [f"{number:02}" for number in range(17)]


# Nothing is passed vacuously


@each_notebook
def test_every_code_cell_was_run_in_order(path: Path) -> None:
    code = cells(path, "code")
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    for cell in code:
        assert {out.execution_count for out in cell.outputs if "execution_count" in out} <= {cell.execution_count}


@each_notebook
def test_every_code_cell_shows_something_or_is_made_to_show_nothing(path: Path) -> None:
    for cell in cells(path, "code"):
        assert cell.outputs or tags(cell) & {"setup", "exercise"}, cell.id


def test_most_code_cells_are_compared() -> None:
    code = [cell for path in PATHS for cell in cells(path, "code")]
    assert sum(map(compared, code)) / len(code) >= 0.8


@each_notebook
def test_no_cell_ends_in_an_error(path: Path) -> None:
    assert not [cell.id for cell in cells(path, "code") for out in cell.outputs if out.output_type in ("error",)]
    assert not [cell.id for cell in cells(path, "code") for out in cell.outputs if out.get("name") == "stderr"]


# Nothing that belongs to one machine, one run or one person


@each_notebook
def test_nothing_secret_and_nothing_of_one_machine_is_in_an_output(path: Path) -> None:
    for cell in cells(path, "code"):
        found = shown(cell)
        assert not re.search(r"sk-\w|Bearer|api_key|127\.0\.0\.1|localhost:\d|\b[0-9a-f]{32}\b", found), cell.id
        assert not re.search(r"(?<![\w/])/(home|root|tmp|Users|work|var)/|[A-Z]:\\", found), cell.id
        assert not re.search(r"0x[0-9a-f]{6,}|ipykernel_\d", found), cell.id


@each_notebook
def test_nothing_that_varies_is_compared(path: Path) -> None:
    for cell in filter(compared, cells(path, "code")):
        if SAVED in tags(cell):
            assert re.search(r"\bkept\b", cell.source), cell.id
            continue
        # as long as its words, or as the limit that the cell has set, on every run
        found = re.sub(r"\d+\.\d\d s of sound|timed out after [\d.]+ seconds", "", shown(cell))
        assert not re.search(r"\d ?(ms|s|seconds?)\b|\$\d|\b20\d\d-\d\d-\d\d|created_at|expires_at", found), cell.id


@each_notebook
def test_a_notebook_is_small_and_carries_nothing_else(path: Path) -> None:
    assert path.stat().st_size < SIZE
    notebook = json.loads(path.read_text(encoding="utf-8"))
    assert set(notebook["metadata"]) == {"kernelspec", "language_info"}
    assert notebook["metadata"]["kernelspec"]["name"] == "python3"
    assert all(set(cell["metadata"]) <= {"tags", "jupyter", "raw_mimetype"} for cell in notebook["cells"])


@each_notebook
def test_cell_ids_are_names(path: Path) -> None:
    ids = [cell.id for cell in read(path).cells]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name) for name in ids)


def test_the_calls_that_are_shown_from_their_files_are_small_whole_and_without_sound() -> None:
    folders = sorted((NOTEBOOKS / "saved").iterdir())
    assert {path.name for folder in folders for path in folder.iterdir()} == {"call.jsonl"}
    assert sum((folder / "call.jsonl").stat().st_size for folder in folders) < SAVED_SIZE
    for folder in folders:
        log = hk.load(folder)
        assert log.damaged is None
        assert [mark.kind for mark in log.marks][-1] == "call_ended"
        assert any(folder.name in cell.source for path in PATHS for cell in cells(path, "code")), "shown by no notebook"


# How it reads


@each_notebook
def test_the_first_line_says_what_you_will_be_able_to_do(path: Path) -> None:
    first = read(path).cells[0].source.splitlines()[0]
    assert first.startswith("# ")
    assert re.search(r"\byou will\b", first, re.IGNORECASE)


@each_notebook
def test_connect_comes_first(path: Path) -> None:
    code = cells(path, "code")
    assert "import handoffkit as hk\n" in code[0].source
    assert "\nhk.connect(" in code[0].source


@each_lesson
def test_a_lesson_has_a_good_length(path: Path) -> None:
    every, prose = read(path).cells, cells(path, "markdown")
    words = sum(len(cell.source.split()) for cell in prose)
    assert 25 <= len(every) <= 45
    assert 0.5 <= len(prose) / len(every) <= 0.6
    assert 700 <= words <= 1300


@each_notebook
def test_code_cells_are_short(path: Path) -> None:
    code = [cell for cell in read(path).cells if cell.cell_type != "markdown"]
    assert all(len(line) <= 100 for cell in code for line in lines(cell))
    lengths = {cell.id: len(lines(cell)) for cell in code if "solution" not in tags(cell)}
    longer = {name: length for name, length in lengths.items() if length > 5}
    assert len(longer) <= 1, longer
    assert all(length <= 20 for length in longer.values())


@each_notebook
def test_code_is_never_far_from_prose(path: Path) -> None:
    kinds = "".join(
        "m" if cell.cell_type == "markdown" else "c" for cell in read(path).cells if cell.cell_type != "raw"
    )
    assert "ccc" not in kinds


@each_notebook
def test_what_should_be_seen_is_said(path: Path) -> None:
    """Every cell that talks to an agent is followed, after at most one more cell of code, by what it shows."""
    every = read(path).cells
    for index, cell in enumerate(every):
        live = (
            re.search(r"await .*(send|send_audio|listen|handoff|run)\(", cell.source) and compared(cell)
            if _is_code(cell)
            else False
        )
        if live:
            after = next(each for each in every[index + 1 :] if each.cell_type == "markdown")
            assert after.source.startswith("**You should see** "), cell.id


def _is_code(cell: Notebook) -> bool:
    return bool(cell.cell_type == "code")


def sources() -> Iterator[str]:
    yield (ROOT / "README.md").read_text(encoding="utf-8")
    yield from (cell.source for path in PATHS for cell in read(path).cells)


def test_every_public_name_is_used_in_a_notebook_or_the_readme() -> None:
    used = {name for text in sources() for name in re.findall(r"\bhk\.([A-Za-z_]+)", text)}
    assert set(hk.__all__) - used == set()
    assert used - set(hk.__all__) == set(), "named, but not there"


@each_notebook
def test_what_a_notebook_points_to_is_there(path: Path) -> None:
    names = {name for cell in cells(path, "markdown") for name in re.findall(r"`(\d\d_\w+)`", cell.source)}
    assert names <= {other.stem for other in PATHS}


# Exercises


def by_tag(notebook: Notebook, tag: str) -> list[Notebook]:
    return [cell for cell in notebook.cells if tag in tags(cell)]


@each_lesson
def test_a_lesson_has_two_exercises_each_with_a_check_and_a_folded_solution(path: Path) -> None:
    notebook = read(path)
    kinds = [next(iter(tags(cell) & {"exercise", "check", "solution"}), "") for cell in notebook.cells]
    assert [kind for kind in kinds if kind] == ["exercise", "check", "solution"] * 2
    assert all("..." in cell.source for cell in by_tag(notebook, "exercise"))
    assert all(lines(cell)[-1].startswith("hk.checks.") for cell in by_tag(notebook, "check"))
    # Run All must not do the learner's work, so that a check never turns to ✓ by itself.
    assert all(cell.cell_type == "raw" for cell in by_tag(notebook, "solution"))
    assert all(cell.metadata.jupyter == {"source_hidden": True} for cell in by_tag(notebook, "solution"))


@each_lesson
def test_as_a_learner_meets_it_every_check_says_what_is_missing(path: Path) -> None:
    for cell in by_tag(read(path), "check"):
        assert re.match(r"Not yet: .+, because .+\.$", shown(cell)), cell.id


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """Return the folder of the notebooks in a working copy of the course, as `handoffkit lab` lays it out."""
    copy_course(ROOT, tmp_path / "a course")
    return tmp_path / "a course" / "notebooks"


@each_lesson
def test_as_solved_every_check_is_content(path: Path, course: Path) -> None:
    solved = execute(solve(read(path)), course)
    for cell in by_tag(solved, "check"):
        assert shown(cell).startswith("✓ "), shown(cell)


def solve(notebook: Notebook) -> Notebook:
    """Return *notebook* with each solution in the place of its exercise."""
    solved = copy.deepcopy(notebook)
    for exercise, solution in zip(by_tag(solved, "exercise"), by_tag(solved, "solution"), strict=True):
        exercise.source = solution.source
    return solved


# Places that are harder than a folder in a checkout


def run_twice(notebook: Notebook) -> Notebook:
    """Return *notebook* with all its cells twice, as if Run All were pressed twice in one kernel."""
    twice = copy.deepcopy(notebook)
    for cell in copy.deepcopy(notebook.cells):
        cell.id = f"{cell.id}-again"
        twice.cells.append(cell)
    return twice


@each_notebook
def test_run_all_twice_in_a_folder_that_cannot_be_written(path: Path, course: Path) -> None:
    before = sorted(course.rglob("*"))
    course.chmod(0o555)
    code = [cell for cell in execute(run_twice(read(path)), course).cells if _is_code(cell)]
    half = len(code) // 2
    pairs = zip(code[:half], code[half:], strict=True)  # what a moment decides is marked so, and may differ
    steady = [(one, two) for one, two in pairs if "nbval-ignore-output" not in one.metadata.get("tags", [])]
    differing = [one.id for one, two in steady if _steady(one) != _steady(two)]
    assert differing == []
    assert sorted(course.rglob("*")) == before


def _steady(cell: Any) -> str:
    """Return what a cell shows that must be the same at the second time: numbers of frames and ids go on."""
    return re.sub(r"\d+", "0", re.sub(r"\b(call|fc|rs)_\w+", "an id", shown(cell)))
