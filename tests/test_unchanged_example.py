"""Somebody else's program, unchanged, against the endpoint: pydantic-ai's own example of this very flow."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

RELEASE = "pydantic-ai-examples==2.62.0"


@pytest.fixture
def examples(tmp_path: Path) -> Path:
    """Fetch the examples as their authors publish them, without the fifty packages that other examples need."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(tmp_path), RELEASE]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if done.returncode:
        pytest.skip(f"{RELEASE} could not be fetched from the package index: {done.stderr.strip()[-300:]}")
    return tmp_path


def test_the_realtime_handoff_example_ends_with_its_ticket(examples: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "handoffkit", "endpoint", "--", sys.executable, "-m"]
    done = subprocess.run(
        [*command, "pydantic_ai_examples.realtime_handoff"],
        capture_output=True,
        text=True,
        timeout=180,
        env=os.environ | {"PYTHONPATH": str(examples)},
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.count("caller: ") == 2
    assert done.stdout.count("agent: ") >= 2
    ticket = json.loads(done.stdout.split("Structured ticket:\n")[1])
    assert ticket["category"] == "hardware"
    assert ticket["priority"] == "high"
    assert ticket["summary"]
