"""A whole call where the surroundings are not as on the developer's machine: proxies, folders, names."""

import os
import stat
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

CALL = """
    import asyncio, handoffkit as hk
    from typing import Literal
    from pydantic import BaseModel
    from pydantic_ai import Agent

    class Ticket(BaseModel):
        summary: str
        category: Literal["hardware", "software", "billing", "other"]

    async def main():
        hk.connect()
        async with hk.Call(Agent(instructions="Support.")) as call:
            await call.send("My laptop does not charge.")
        ticket = await call.handoff(Agent("openai:gpt-5.2", output_type=Ticket))
        print(ticket.output.category)
        print(len(hk.load(call.save(SAVED)).turns))

    asyncio.run(main())
"""


def run(folder: Path, saved: Path, **environment: str) -> list[str]:
    code = f"SAVED = {str(saved)!r}\n" + textwrap.dedent(CALL)
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=folder,
        env=os.environ | environment,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.splitlines()[1:]


def test_a_proxy_in_the_environment_is_passed_by(tmp_path: Path) -> None:
    names = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
    proxies = {n: "http://127.0.0.1:9" for name in names for n in (name, name.lower())}
    assert run(tmp_path, tmp_path / "call", **proxies) == ["hardware", "2"]


def test_a_folder_that_is_read_only(tmp_path: Path) -> None:
    folder = tmp_path / "read only"
    folder.mkdir()
    folder.chmod(stat.S_IRUSR | stat.S_IXUSR)
    assert run(folder, tmp_path / "call") == ["hardware", "2"]
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("name", ["a folder with spaces", "Ünïcödé 상담", "semi;colon & 'quote'"])
def test_folders_with_any_name(name: str, tmp_path: Path) -> None:
    folder = tmp_path / name
    folder.mkdir()
    assert run(folder, folder / "a call", TMPDIR=str(folder)) == ["hardware", "2"]
    assert [path.name for path in folder.iterdir()] == ["a call"]
