"""Scripts that know nothing of handoffkit, written as anyone would for OpenAI, run against the endpoint."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

SCRIPTS = sorted((ROOT / "tests" / "plain").glob("*.py"))
"""Each shows by `assert` what a notebook of the same number tells."""
BOUND = 120
"""Seconds that a script may take, its imports included."""


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_plain_script_runs_against_the_endpoint(script: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "handoffkit", "endpoint", "--", sys.executable, str(script)]
    environment = os.environ | {"OPENAI_AGENTS_DISABLE_TRACING": "1"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=BOUND, env=environment, cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_plain_script_knows_nothing_of_handoffkit(script: Path) -> None:
    assert "handoffkit" not in script.read_text(encoding="utf-8")
