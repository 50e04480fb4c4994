"""The command line: who answers what, and what a wrong word gets."""

import os
import subprocess
import sys
import zipfile
from importlib import metadata
from pathlib import Path

import pytest

from handoffkit.cli import main
from handoffkit.commands import doctor, lab, serve
from handoffkit.errors import CourseMissing

ROOT = Path(__file__).resolve().parent.parent
COMMANDS = ("lab", "call", "endpoint", "doctor")


def handoffkit(*arguments: str | Path, **environment: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "handoffkit", *map(str, arguments)],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )


def test_help_names_every_command() -> None:
    done = handoffkit("--help")
    assert done.returncode == 0
    assert all(f"\n    {command} " in done.stdout for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_has_help_of_its_own(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([command, "--help"])
    assert ended.value.code == 0
    assert f"usage: handoffkit {command}" in capsys.readouterr().out


def test_the_version_is_the_installed_ones(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--version"])
    assert capsys.readouterr().out == f"handoffkit {metadata.version('handoffkit')}\n"


@pytest.mark.parametrize("wrong", [[], ["labb"], ["lab", "--start"], ["doctor", "--", "x"], ["endpoint", "python"]])
def test_a_wrong_word_is_status_two_with_the_usage(wrong: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(wrong)
    assert ended.value.code == 2
    assert "usage: handoffkit" in capsys.readouterr().err


def test_what_follows_the_dashes_is_passed_on_untouched(monkeypatch: pytest.MonkeyPatch) -> None:
    passed: list[object] = []

    def note(status: int, *given: object) -> int:
        passed.extend(given)
        return status

    monkeypatch.setattr(lab, "run", lambda folder, **options: note(0, folder, options))
    monkeypatch.setattr(serve, "run", lambda command: note(7, command))
    assert main(["lab", "my folder", "--no-start", "--", "--no-browser", "--", "--json"]) == 0
    assert main(["endpoint", "--", "python", "-m", "x", "--help"]) == 7
    options = {"start": False, "jupyter_options": ["--no-browser", "--", "--json"]}
    assert passed == [Path("my folder"), options, ["python", "-m", "x", "--help"]]


def test_a_refusal_is_a_sentence_and_status_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(*_: object, **__: object) -> int:
        raise CourseMissing("here")

    monkeypatch.setattr(lab, "run", refuse)
    assert main(["lab"]) == 1
    said = capsys.readouterr()
    assert said.err == f"handoffkit: {CourseMissing('here')}\n"
    assert said.out == ""


def test_ctrl_c_is_status_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(**_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(doctor, "run", interrupt)
    assert main(["doctor"]) == 130


def test_a_terminal_that_lacks_a_character_gets_an_escape(tmp_path: Path) -> None:
    done = handoffkit("lab", "--no-start", tmp_path / "전화", PYTHONIOENCODING="cp1252", PYTHONUTF8="0")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1].endswith("\\uc804\\ud654")


def test_help_loads_no_sdk() -> None:
    watch = "import sys; from handoffkit.cli import main\ntry: main(['--help'])\nexcept SystemExit: pass\n"
    loaded = "print([name for name in ('agents', 'jupyterlab', 'openai', 'pydantic_ai') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", watch + loaded], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel and unpack it, which is all that installing a pure one does to Python's path."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, capture_output=True, check=True, timeout=60)
    (wheel,) = folder.glob("handoffkit-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "unpacked")
    return folder / "unpacked"


def files(folder: Path) -> set[str]:
    visible = (path for path in folder.rglob("*") if path.is_file() and ".ipynb_checkpoints" not in path.parts)
    return {path.relative_to(folder).as_posix() for path in visible}


@pytest.mark.parametrize("part", ["notebooks", "audio"])
def test_the_wheel_carries_the_course(unpacked: Path, part: str) -> None:
    ours = {
        name for name in files(ROOT / part) if not name.endswith((".py", ".pyc"))
    }  # nobody runs audio/make.py there
    assert files(unpacked / "handoffkit" / "_course" / part) == ours


def test_the_wheel_carries_all_that_the_package_has(unpacked: Path) -> None:
    ours = {name for name in files(ROOT / "handoffkit") if "__pycache__" not in name}
    assert {name for name in files(unpacked / "handoffkit") if not name.startswith("_course/")} == ours


def test_lab_makes_its_working_copy_from_an_installed_wheel(unpacked: Path, tmp_path: Path) -> None:
    target = tmp_path / "a copy"
    done = handoffkit("lab", "--no-start", target, PYTHONPATH=str(unpacked), PYTHONSAFEPATH="1")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1] == str(target)
    assert files(target / "notebooks") == files(unpacked / "handoffkit" / "_course" / "notebooks")
    assert any(name.endswith(".ipynb") for name in files(target))
