"""`handoffkit lab` picks a folder that can be written, and Lab really serves the working copy."""

import asyncio
import json
import os
import re
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from handoffkit.commands.course import GIVEN
from handoffkit.commands.lab import lab_arguments, start_lab, working_folder

SERVES = re.compile(r"http://127\.0\.0\.1:(\d+)/lab/tree/([^\s?]+)")


def test_a_working_copy_that_nobody_named_is_made_here(tmp_path: Path) -> None:
    assert working_folder(tmp_path) == tmp_path / "handoffkit-course"


def test_where_nothing_can_be_written_it_is_made_at_home(tmp_path: Path) -> None:
    here, home = tmp_path / "here", tmp_path / "home"
    here.write_text("a file, in which no folder can be made")
    assert working_folder(here, home) == home / "handoffkit-course"


@pytest.mark.parametrize("place", [".", "notebooks"])
def test_standing_in_a_working_copy_uses_it(tmp_path: Path, place: str) -> None:
    (tmp_path / GIVEN).write_text("{}")
    (tmp_path / "notebooks").mkdir()
    assert working_folder(tmp_path / place) == (tmp_path if place == "." else tmp_path / "notebooks" / "..").resolve()


def test_lab_opens_the_first_notebook_and_passes_options_on(tmp_path: Path) -> None:
    (tmp_path / "notebooks").mkdir()
    for name in ("01 next.ipynb", "00 first.ipynb"):
        (tmp_path / "notebooks" / name).write_text("{}")
    arguments = lab_arguments(tmp_path, ["--no-browser"])
    assert f"--ServerApp.root_dir={tmp_path}" in arguments
    assert "--LabApp.default_url=/lab/tree/notebooks/00%20first.ipynb" in arguments
    assert arguments[-1] == "--no-browser"


def test_an_option_of_the_users_replaces_ours(tmp_path: Path) -> None:
    arguments = lab_arguments(tmp_path, ["--LabApp.default_url=/lab"])
    assert [each for each in arguments if "default_url" in each] == ["--LabApp.default_url=/lab"]


@pytest.mark.parametrize("option", ["--ip=0.0.0.0", "--ServerApp.ip=0.0.0.0", "--ip"])
def test_root_is_let_in_on_loopback_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, option: str) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0, raising=False)
    assert "--ServerApp.allow_root=True" in lab_arguments(tmp_path, [])
    assert "--ServerApp.allow_root=True" in lab_arguments(tmp_path, ["--ip=127.0.0.1"])
    assert "--ServerApp.allow_root=True" not in lab_arguments(tmp_path, [option])


def test_without_jupyterlab_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jupyterlab.labapp", None)
    with pytest.raises(Exception, match=r"pip install 'jupyterlab>=4\.6'"):
        start_lab([])


async def test_lab_serves_the_working_copy_until_it_is_stopped(tmp_path: Path) -> None:
    options = ["--no-browser", "--ip=127.0.0.1", "--port=0", "--IdentityProvider.token=secret"]
    environment = os.environ | {"JUPYTER_RUNTIME_DIR": str(tmp_path), "JUPYTER_CONFIG_DIR": str(tmp_path)}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "handoffkit", "lab", str(tmp_path / "my copy"), "--", *options),
        stderr=asyncio.subprocess.PIPE,
        env=environment,
    )
    try:
        async with asyncio.timeout(60):
            port, page = await served(process)
            contents = await asyncio.to_thread(ask, f"http://127.0.0.1:{port}/api/contents/notebooks?token=secret")
            process.terminate()
            await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()
    assert process.returncode == 0
    names = sorted(each["name"] for each in contents["content"])
    assert page == f"notebooks/{names[0]}"
    assert names == sorted(path.name for path in (tmp_path / "my copy" / "notebooks").iterdir())


async def served(process: asyncio.subprocess.Process) -> tuple[str, str]:
    """Return the port and the page that Lab names in its log."""
    assert process.stderr
    said = ""
    async for line in process.stderr:
        said += line.decode()
        if found := SERVES.search(said):
            return found[1], found[2]
    pytest.fail(f"Lab ended before it served anything:\n{said}")


def ask(url: str) -> dict[str, list[dict[str, str]]]:
    """Return the JSON at *url*; Lab names its address a moment before it listens there, so a refusal is asked again."""
    for _ in range(600):
        try:
            with urllib.request.urlopen(url, timeout=10) as answer:
                found: dict[str, list[dict[str, str]]] = json.load(answer)
                return found
        except urllib.error.URLError as error:
            if not isinstance(error.reason, ConnectionRefusedError):
                raise
            time.sleep(0.05)
    pytest.fail(f"nobody listens at {url}")
