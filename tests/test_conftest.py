"""A skip says what to install; with CI=true it is a failure. Shown by running pytest on small test files."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

FILES = {
    "test_program.py": 'def test(needs):\n    needs("no-such-program", "no-such-package")\n',
    "test_module.py": 'import pytest\npytest.importorskip("no_such_module")\n',
    "test_expected.py": "import pytest\n@pytest.mark.xfail\ndef test():\n    raise ValueError\n",
    "test_steered.py": "import os\ndef test():\n    assert 'HANDOFFKIT_MODE' not in os.environ\n",
}


def run(folder: Path, ci: str) -> "subprocess.CompletedProcess[str]":
    for name in ("conftest.py", "lab.py"):
        shutil.copy(Path(__file__).parent / name, folder)
    for name, text in FILES.items():
        (folder / name).write_text(text)
    options = ["-ra", "--continue-on-collection-errors", "-p", "no:cacheprovider", "--rootdir", str(folder)]
    return subprocess.run(
        [sys.executable, "-m", "pytest", *options, str(folder)],
        env=os.environ | {"CI": ci, "HANDOFFKIT_MODE": "live"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_a_skip_says_what_to_install(tmp_path: Path) -> None:
    done = run(tmp_path, "")
    assert done.returncode == 0, done.stdout
    assert re.search(r"= 1 passed, 2 skipped, 1 xfailed in ", done.stdout)
    assert "apt-get install no-such-package" in done.stdout


@pytest.mark.parametrize("ci", ["true", "1"])
def test_a_skip_is_a_failure_in_ci_and_an_expected_failure_is_not(tmp_path: Path, ci: str) -> None:
    done = run(tmp_path, ci)
    assert done.returncode == 1
    assert re.search(r"= 1 failed, 1 passed, 1 xfailed, 1 error in ", done.stdout), done.stdout
    assert done.stdout.count("With CI=true a skip is a failure. ") >= 2
    assert "apt-get install no-such-package" in done.stdout
