"""The house style, held by the tools that the `test` extra brings."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.parametrize("command", ["ruff check", "ruff format --check", "mypy"])
def test_a_style_tool_has_no_complaint(command: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", *command.split()], cwd=ROOT, capture_output=True, text=True, timeout=600, check=False
    )
    if done.returncode:
        pytest.fail(f"`python -m {command}` complains:\n{done.stdout}{done.stderr}", pytrace=False)
