"""The page's parts, one by one, under node's own test runner: sound, lists, words, everything that needs no browser."""

import subprocess
from pathlib import Path

import pytest
from conftest import Needs

FOLDER = Path(__file__).resolve().parent / "page"
FILES = sorted(path.name for path in FOLDER.glob("*.test.mjs"))


@pytest.mark.parametrize("file", FILES)
def test_a_part_of_the_page_holds_its_own_tests(file: str, needs: Needs) -> None:
    command = [needs("node", "nodejs"), "--test", str(FOLDER / file)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    if done.returncode:
        pytest.fail(f"`node --test tests/page/{file}` fails:\n{done.stdout}{done.stderr}", pytrace=False)
    assert passed(done.stdout) > 0


def passed(report: str) -> int:
    """Return how many tests passed: a file without any passes too, and would hide that it tests nothing."""
    return sum(int(line.split()[-1]) for line in report.splitlines() if line.startswith(("# pass ", "ℹ pass ")))
