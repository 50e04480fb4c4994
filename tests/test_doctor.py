"""`handoffkit doctor` names what is missing, and its status follows from whether typed calls work."""

import json
import os
import re
import socket
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from sound_card import Card, card

from handoffkit.commands import doctor
from handoffkit.commands.doctor import Finding

__all__ = ["card"]


def findings() -> dict[str, Finding]:
    return {finding.what: finding for finding in doctor.examine()}


def without(monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    """Let one package look as if it were not installed."""
    real = metadata.version

    def version(name: str) -> str:
        if name == missing:
            raise metadata.PackageNotFoundError(name)
        return real(name)

    monkeypatch.setattr(metadata, "version", version)


def test_here_typed_calls_work(capsys: pytest.CaptureFixture[str]) -> None:
    assert doctor.run() == 0
    said = capsys.readouterr().out
    assert said.endswith("Typed calls work here.\n")
    assert "127.0.0.1 can be listened on" in said


def test_every_requirement_is_looked_at_with_those_of_its_extras() -> None:
    found = findings()
    required = {Requirement(line) for line in metadata.requires("handoffkit") or [] if "extra ==" not in line}
    assert {requirement.name for requirement in required} <= found.keys()
    assert {"openai", "websockets"} <= found.keys(), "what the extras of pydantic-ai-slim bring"
    assert found["pydantic-ai-slim"].found == metadata.version("pydantic-ai-slim")


@pytest.mark.parametrize("name", ["tornado", "pydantic-ai-slim", "websockets"])
def test_without_what_typed_calls_need_the_status_is_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    without(monkeypatch, name)
    assert findings()[name].state == "problem"
    assert findings()[name].do.startswith(f"python -m pip install '{name}>=")
    assert doctor.run() == 1
    assert "cannot work here" in capsys.readouterr().out


@pytest.mark.parametrize("name", sorted(doctor.NOT_FOR_TYPED_CALLS))
def test_without_anything_else_it_is_a_note_with_the_reason(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    without(monkeypatch, name)
    finding = findings()[name]
    assert finding.state == "note"
    assert doctor.NOT_FOR_TYPED_CALLS[name] in finding.found
    assert doctor.run() == 0


def test_it_still_speaks_where_nothing_that_it_looks_for_can_be_imported() -> None:
    names = (
        "agents genai_prices httpx2 IPython jupyterlab matplotlib numpy openai pydantic pydantic_ai tornado websockets"
    )
    code = (
        f"import sys; sys.modules |= dict.fromkeys({names.split()}); from handoffkit.cli import main; main(['doctor'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Fonts             not looked at: " in done.stdout


def test_an_older_kernel_is_a_note_that_says_which_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    real = metadata.version
    monkeypatch.setattr(metadata, "version", lambda name: "6.31.0" if name == "ipykernel" else real(name))
    assert findings()["ipykernel"] == Finding(
        "ipykernel",
        "note",
        "6.31.0, which is outside >=7.4; notebooks need it",
        "python -m pip install 'ipykernel>=7.4'",
    )


def test_a_package_that_is_only_on_the_path_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(name: str) -> Any:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "metadata", nothing)
    assert findings()["handoffkit"].state == "problem"


def test_a_machine_without_loopback_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(address: tuple[str, int]) -> socket.socket:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(socket, "create_server", refuse)
    assert findings()["Loopback"].state == "problem"
    assert "Operation not permitted" in findings()["Loopback"].found


def test_a_temp_folder_that_cannot_be_written_is_a_problem(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
    assert findings()["Temp folder"].state == "problem"
    assert "TMPDIR" in findings()["Temp folder"].do


def test_scripts_without_a_font_are_named_with_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    from handoffkit.views import fonts

    def choose(texts: Sequence[str]) -> fonts.Fonts:
        lacking = {"hangul": frozenset("한")} if texts == [doctor.SCRIPTS["Korean"]] else {}
        return fonts.Fonts((fonts.BASE,), lacking)

    monkeypatch.setattr(fonts, "choose", choose)
    finding = findings()["Fonts"]
    assert (finding.state, finding.found) == ("note", "pictures cannot show Korean")
    assert fonts.package("hangul") in finding.do


@pytest.mark.parametrize("as_json", [True, False])
def test_values_of_variables_are_never_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], as_json: bool
) -> None:
    names = {*doctor.STEERING, *doctor.PROXIES, "https_proxy"}
    for name in names:
        monkeypatch.setenv(name, "http://user:sekret@example.org")
    doctor.run(as_json=as_json)
    said = capsys.readouterr().out
    assert "sekret" not in said
    assert "example.org" not in said
    assert all(name in said for name in names)


def test_unset_variables_are_said_to_be_unset(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*doctor.STEERING, *os.environ):
        if name in doctor.STEERING or name.upper() in doctor.PROXIES:
            monkeypatch.delenv(name, raising=False)
    assert findings()["Settings"].found == findings()["Proxies"].found == "none set"


def test_json_has_the_verdict_and_every_finding(capsys: pytest.CaptureFixture[str]) -> None:
    status = doctor.run(as_json=True)
    report = json.loads(capsys.readouterr().out)
    assert report["typed_calls"] is (status == 0)
    assert [finding["what"] for finding in report["findings"]] == list(findings())
    assert all(finding.keys() == {"what", "state", "found", "do"} for finding in report["findings"])


def test_the_table_wraps_and_keeps_its_columns() -> None:
    text = doctor.table([Finding("Fonts", "note", "word " * 40, "do " * 40), Finding("Python", "ok", "3.12")], width=60)
    lines = text.splitlines()
    assert all(len(line) <= 60 for line in lines)
    assert lines[0].startswith("note     Fonts   word")
    assert lines[-1] == "ok       Python  3.12"
    assert sum("->" in line for line in lines) == 1


def test_the_sound_card_is_named_with_its_devices(card: Card) -> None:
    finding = findings()["Sound card"]
    assert (finding.state, finding.do) == ("info", "")
    assert re.match(r"\d microphones? \(.*pulse.*\), \d speakers? \(.*pulse.*\)$", finding.found)


def test_a_machine_without_a_sound_card_needs_none(card: Card, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    nothing = tmp_path / "asound.conf"
    nothing.write_text("pcm.nothing { type copy }\n")
    monkeypatch.setenv("ALSA_CONFIG_PATH", str(nothing))
    finding = findings()["Sound card"]
    assert finding.state == "info"
    assert finding.found.startswith("no microphone, no speaker; typed calls and the browser's microphone")


@pytest.mark.parametrize(
    ("code", "patience", "found", "do"),
    [
        ('print(\'{"missing": "PortAudio library not found"}\')', 60, "not reached: PortAudio", "libportaudio2"),
        ("import os; os.abort()", 60, "PortAudio ended the process", "sound setup"),
        ("import time; time.sleep(60)", 1, "not looked at", ""),
    ],
)
def test_a_sound_card_that_cannot_be_reached_is_a_note(
    monkeypatch: pytest.MonkeyPatch, code: str, patience: float, found: str, do: str
) -> None:
    monkeypatch.setattr(doctor, "_DEVICES", code)
    monkeypatch.setattr(doctor, "_PATIENCE", patience)
    finding = findings()["Sound card"]
    assert finding.state == "note"
    assert found in finding.found
    assert "`call.panel()`" in finding.found
    assert do in finding.do


def test_what_the_doctor_asks_portaudio_says_what_is_missing() -> None:
    begin = "import ctypes.util; ctypes.util.find_library = lambda name: None\n"
    command = [sys.executable, "-c", begin + doctor._DEVICES]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert json.loads(done.stdout) == {"missing": "PortAudio library not found"}
