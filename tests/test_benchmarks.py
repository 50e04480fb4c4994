"""The benchmarks run and say what they should; how fast anything is, no test asks."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

RUN = Path(__file__).resolve().parent / "benchmarks" / "run.py"
NAMES = ("call", "relay", "import", "connect", "log")
NUMBERS = {"median", "min", "max"}


def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([sys.executable, str(RUN), *arguments], capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize("name", NAMES)
def test_a_benchmark_says_what_it_measured(name: str, tmp_path: Path) -> None:
    done = run("--smallest", "--json", str(tmp_path / "numbers.json"), name)
    assert done.returncode == 0, done.stderr
    report = json.loads((tmp_path / "numbers.json").read_text(encoding="utf-8"))
    assert report["machine"].keys() >= {"date", "python", "system", "cores", "memory_gb", "load_before", "packages"}
    assert report["machine"]["packages"].keys() >= {"handoffkit", "pydantic-ai-slim", "tornado"}
    assert list(report["benchmarks"]) == [name]
    found = report["benchmarks"][name]
    assert found.keys() == {"what", "load_before", "seconds", "rows"}
    for row in found["rows"]:
        assert row.keys() == {"what", "unit", "n", "aim"} | NUMBERS
        assert row["n"] >= 1
        assert row["min"] <= row["median"] <= row["max"], row
        assert all(isinstance(row[number], int | float) for number in NUMBERS), row
        assert row["median"] > 0 or row["what"].startswith(("heavy modules", "endpoint CPU", "CPU per frame")), row
    assert f"### {found['what']}" in done.stdout
    table = [line for line in done.stdout.splitlines() if line.startswith("| ")]
    assert len(table) == len(found["rows"]) + 2
    assert len({len(line) for line in table}) == 1
    assert re.fullmatch(r"\| -+ \|( -+:? \|)+", table[1])


def test_only_what_there_is_can_be_measured() -> None:
    done = run("speed")
    assert done.returncode == 2
    assert "there is no benchmark speed; there are call, relay, import, connect, log" in done.stderr
