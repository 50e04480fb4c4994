"""One door per library, a light import, and public names that are what they say."""

import importlib
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from pydantic_ai import Agent
from sources import PACKAGE, imported

import handoffkit as hk
from handoffkit.connect import current

SDKS = {"pydantic_ai", "agents", "openai"}
HEAVY = SDKS | {
    "pydantic",
    "pydantic_core",
    "numpy",
    "soxr",
    "matplotlib",
    "PIL",
    "IPython",
    "anywidget",
    "ipywidgets",
    "sounddevice",
    "traitlets",
    "httpx2",
    "websockets",
    "tornado",
}
"""What takes time to load, so that a cell should not pay for it before it needs it."""


def loads(code: str) -> set[str]:
    """Run *code* in a fresh interpreter, and return the top-level modules that are loaded after it."""
    ending = "\nimport sys; print(*{name.partition('.')[0] for name in sys.modules})"
    command = [sys.executable, "-P", "-c", code + ending]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    return set(done.stdout.splitlines()[-1].split())


def test_importing_handoffkit_loads_neither_sdk_nor_anything_else_that_is_heavy() -> None:
    assert loads("import handoffkit") & HEAVY == set()


def test_connecting_loads_neither_sdk() -> None:
    assert loads("import handoffkit as hk; hk.connect(); hk.log().table(); hk.log().transcript()") & SDKS == set()


def test_a_handoff_to_an_agent_of_one_sdk_does_not_load_the_other() -> None:
    code = """
import asyncio
import handoffkit as hk
from pydantic_ai import Agent
from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart, UserPromptPart
hk.connect()
history = [ModelRequest(parts=[UserPromptPart("Hello.")]), ModelResponse(parts=[TextPart("Hello!")])]
asyncio.run(hk.handoff(history, Agent("openai:gpt-5.2")))
"""
    assert loads(code) & {"agents", "pydantic_ai"} == {"pydantic_ai"}


def test_the_endpoint_process_loads_neither_sdk_whatever_it_is_asked() -> None:
    code = "import handoffkit.endpoint.__main__, handoffkit.endpoint.relay, handoffkit.endpoint.models.text_model"
    assert loads(code) & (SDKS | {"pydantic", "numpy", "matplotlib"}) == set()


async def test_an_endpoint_at_work_has_loaded_neither_sdk(monkeypatch: pytest.MonkeyPatch) -> None:
    hk.disconnect()
    monkeypatch.setenv("PYTHONPROFILEIMPORTTIME", "1")  # writes each import to the standard error
    hk.connect()
    folder = current().folder
    monkeypatch.delenv("PYTHONPROFILEIMPORTTIME")
    triage = Agent("openai:gpt-5.2")
    async with hk.Call(Agent()) as call:
        await call.send("My laptop does not charge.")
    await call.handoff(triage, "Sum the call up.")
    loaded = re.findall(r"\| +([a-z_0-9.]+)$", (folder / "endpoint.txt").read_text(), re.IGNORECASE | re.MULTILINE)
    hk.disconnect()
    assert "handoffkit.endpoint.server" in loaded
    assert {name.partition(".")[0] for name in loaded} & (SDKS | {"pydantic"}) == set()


def test_the_endpoint_imports_neither_sdk() -> None:
    for name, files in imported("endpoint").items():
        assert name.partition(".")[0] not in SDKS, files


def test_realtime_apis_have_one_door() -> None:
    for name, files in imported().items():
        if name.startswith(("pydantic_ai.realtime", "agents.realtime")):
            assert all(file.startswith("sdk/") for file in files), name


DOORS = {
    "tornado": "endpoint/",
    "websockets": "endpoint/relay.py",
    "httpx2": "endpoint/relay.py",
    "matplotlib": "views/",
    "jupyterlab": "commands/lab.py",
    "sounddevice": "sound_card/portaudio.py",
    "anywidget": "widgets/",
    "ipywidgets": "widgets/",
    "traitlets": "widgets/",
    "wrapt": "tracing.py",
}
"""Where alone a library is imported."""


@pytest.mark.parametrize("library", DOORS)
def test_a_library_has_one_door(library: str) -> None:
    files = {file for name, found in imported().items() if name.partition(".")[0] == library for file in found}
    assert {file for file in files if not file.startswith(DOORS[library])} == set()


def with_all() -> list[str]:
    """Return the modules of the package that say what they export."""
    found = [path for path in PACKAGE.rglob("*.py") if re.search(r"^__all__ = ", path.read_text("utf-8"), re.MULTILINE)]
    return sorted(_dotted(path.relative_to(PACKAGE.parent)) for path in found)


def _dotted(path: Path) -> str:
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@pytest.mark.parametrize("name", with_all())
def test_what_a_module_exports_is_there_once_and_sorted(name: str) -> None:
    module = importlib.import_module(name)
    assert list(module.__all__) == sorted(set(module.__all__))
    assert [each for each in module.__all__ if not hasattr(module, each)] == []


def test_the_package_has_its_public_names_and_no_other() -> None:
    found = {name for name, value in vars(hk).items() if not name.startswith("_") and not isinstance(value, ModuleType)}
    modules = {name for name in hk.__all__ if isinstance(getattr(hk, name), ModuleType)}
    assert found | modules == set(hk.__all__)
    assert modules == {"audio", "checks", "errors"}


@pytest.mark.parametrize("name", hk.__all__)
def test_every_public_name_says_what_it_is(name: str) -> None:
    words = getattr(hk, name).__doc__ or ""
    assert re.match(r"[`A-Z].*[.:]", words.strip().split("\n")[0]), f"hk.{name} has no plain first sentence"


def test_the_protocol_is_rules_without_io() -> None:
    """What takes data and returns data imports nothing that waits, and no server."""
    for path in (PACKAGE / "endpoint" / "protocol").rglob("*.py"):
        found = set(
            re.findall(
                r"^\s*(?:from|import) (asyncio|tornado|socket|httpx2|websockets|threading)", path.read_text(), re.M
            )
        )
        assert not found, path
