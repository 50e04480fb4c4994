"""`handoffkit doctor`: what is there, what is missing and what to do, as a table or as JSON.

It looks and changes nothing. Of an environment variable it says the name and whether it is set, never the value.
"""

import ctypes.util
import json
import os
import platform
import socket
import sys
import tempfile
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib import metadata
from typing import Literal

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

State = Literal["ok", "info", "note", "problem"]

NOT_FOR_TYPED_CALLS = {
    "ipykernel": "notebooks need it",
    "jupyterlab": "`handoffkit lab` needs it",
    "matplotlib": "timeline pictures need it",
    "openai-agents": "agents of that SDK need it",
}
"""What typed calls in a script do without, and who needs it."""

STEERING = (
    "HANDOFFKIT_MODE",
    "HANDOFFKIT_SPEECH",
    "HANDOFFKIT_STT_MODEL",
    "LOGFIRE_TOKEN",
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
)
PROXIES = ("ALL_PROXY", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY")
SCRIPTS = {"Korean": "한국어", "Chinese": "中文", "Japanese": "かな", "Arabic": "عربي", "Hindi": "हिन्दी", "emoji": "😀"}
"""Sample texts for the fonts, by what a person calls them."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    what: str
    state: State
    """`problem`: typed calls cannot work. `note`: they can, and something else cannot. `info`: nothing to judge."""
    found: str
    do: str = ""
    """What to do about it; empty where there is nothing to do."""


def run(*, as_json: bool = False) -> int:
    """Print the findings and return 0, or 1 if typed calls cannot work here."""
    findings = list(examine())
    works = all(finding.state != "problem" for finding in findings)
    if as_json:
        print(json.dumps({"typed_calls": works, "findings": [asdict(finding) for finding in findings]}, indent=2))
    else:
        print(table(findings))
        print("\nTyped calls work here." if works else "\nTyped calls cannot work here until each problem is mended.")
    return 0 if works else 1


def examine() -> Iterator[Finding]:
    """Look at everything, the most important first."""
    yield from _packages()
    yield _loopback()
    yield _temporary_folder()
    yield _fonts()
    yield _speech()
    yield _portaudio()
    yield _variables("Settings", STEERING)
    yield _variables("Proxies", (*PROXIES, *map(str.lower, PROXIES)))


def table(findings: list[Finding], width: int = 100) -> str:
    """Return the findings as text: one each, what to do below it."""
    first = max(len(finding.what) for finding in findings) + 2
    lines = []
    for each in findings:
        start, indent = f"{each.state:<9}{each.what:<{first}}", " " * (9 + first)
        lines += textwrap.wrap(each.found, width, initial_indent=start, subsequent_indent=indent)
        lines += textwrap.wrap(each.do, width, initial_indent=f"{indent}-> ", subsequent_indent=f"{indent}   ")
    return "\n".join(lines)


def _packages() -> Iterator[Finding]:
    """Hold what is installed to handoffkit's own requirements, and to those of the extras that it asks for."""
    try:
        us = metadata.metadata("handoffkit")
    except metadata.PackageNotFoundError:
        do = "Run `python -m pip install -e .` in the checkout: without it nobody can say what is missing."
        yield Finding("handoffkit", "problem", "on Python's path, but not installed", do)
        return
    yield _python(SpecifierSet(us["Requires-Python"]))
    yield Finding("handoffkit", "ok", us["Version"])
    yield from map(_package, _all_required())


def _all_required() -> list[Requirement]:
    """Return each required package once, under all the bounds that are set for it."""
    required: dict[str, Requirement] = {}
    for ours in _requirements("handoffkit", set()):
        for each in (ours, *_brought_by_extras(ours)):
            required.setdefault(each.name, each).specifier &= each.specifier
    return sorted(required.values(), key=lambda each: each.name)


def _brought_by_extras(requirement: Requirement) -> list[Requirement]:
    try:
        return list(_requirements(requirement.name, requirement.extras, only_extras=True))
    except metadata.PackageNotFoundError:
        return []  # said by the missing package's own line


def _python(needed: SpecifierSet) -> Finding:
    version = platform.python_version()
    if needed.contains(version, prereleases=True):
        return Finding("Python", "ok", f"{version} at {sys.executable}")
    do = f"Make an environment with Python {needed} and install handoffkit there."
    return Finding("Python", "problem", f"{version} at {sys.executable}, which is outside {needed}", do)


def _requirements(name: str, extras: set[str], *, only_extras: bool = False) -> Iterator[Requirement]:
    """Return what the installed package *name* requires here: without extras, or (*only_extras*) for these alone."""
    for line in metadata.requires(name) or []:
        requirement = Requirement(line)
        marker = requirement.marker
        plain = marker is None or marker.evaluate({"extra": ""})
        asked = marker is not None and any(marker.evaluate({"extra": extra}) for extra in extras)
        if asked and not plain if only_extras else plain:
            yield requirement


def _package(requirement: Requirement) -> Finding:
    name, needed = requirement.name, str(requirement.specifier)
    do = f"python -m pip install '{name}{needed}'"
    reason = NOT_FOR_TYPED_CALLS.get(name)
    state: State = "note" if reason else "problem"
    try:
        version = metadata.version(name)
    except metadata.PackageNotFoundError:
        return Finding(name, state, f"not installed{f'; {reason}' if reason else ''}", do)
    if requirement.specifier.contains(version, prereleases=True):
        return Finding(name, "ok", version)
    return Finding(name, state, f"{version}, which is outside {needed}{f'; {reason}' if reason else ''}", do)


def _loopback() -> Finding:
    """Open a port on this machine and reach it, as the endpoint and its clients do."""
    try:
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
            with socket.create_connection(("127.0.0.1", port), timeout=5):
                return Finding("Loopback", "ok", "127.0.0.1 can be listened on and reached")
    except OSError as error:
        do = "Allow connections to 127.0.0.1 in the firewall or the sandbox that this Python runs in."
        return Finding("Loopback", "problem", f"127.0.0.1 cannot be used ({error.strerror or error})", do)


def _temporary_folder() -> Finding:
    try:
        with tempfile.TemporaryFile() as file:
            file.write(b"handoffkit")
    except OSError as error:
        do = "Set TMPDIR to a folder that can be written: the log of each call is kept there."
        return Finding("Temp folder", "problem", f"cannot be written ({error.strerror or error})", do)
    return Finding("Temp folder", "ok", f"{tempfile.gettempdir()} can be written")


def _fonts() -> Finding:
    """Ask the module that draws the pictures which scripts it can draw here."""
    try:
        from ..views import fonts
    except ImportError as error:
        return Finding("Fonts", "note", f"not looked at: {error}")
    missing = {name: fonts.choose([sample]).missing for name, sample in SCRIPTS.items()}
    packages = sorted({fonts.package(script) for scripts in missing.values() for script in scripts})
    lacking = [name for name, scripts in missing.items() if scripts]
    if not lacking:
        return Finding("Fonts", "ok", f"{', '.join(SCRIPTS)} can be drawn")
    do = f"Install fonts for them (on Debian: apt-get install {' '.join(packages)})."
    return Finding("Fonts", "note", f"pictures cannot show {', '.join(lacking)}", do)


def _speech() -> Finding:
    """Hold what hears and speaks to the extra that brings it; typed calls need none of it."""
    try:
        needed = sorted(_requirements("handoffkit", {"speech"}, only_extras=True), key=lambda each: each.name)
    except metadata.PackageNotFoundError:
        needed = []
    found = [_package(each) for each in needed]
    if wrong := [f"{each.what} ({each.found})" for each in found if each.state != "ok"]:
        do = 'Run `python -m pip install "handoffkit[speech]"`, in a checkout `python -m pip install -e ".[speech]"`.'
        return Finding("Speech", "note", f"calls are typed only: {', '.join(wrong)}", do)
    return Finding("Speech", "ok", ", ".join(f"{each.what} {each.found}" for each in found) or "not looked at")


def _portaudio() -> Finding:
    try:
        found = "found" if ctypes.util.find_library("portaudio") else "not found"
    except OSError as error:  # it may ask a compiler, through a temporary file
        found = f"not looked for ({error.strerror or error})"
    return Finding("PortAudio", "info", f"{found}; only a kernel's own sound card will need it, not typed calls")


def _variables(what: str, names: Sequence[str]) -> Finding:
    present = sorted(name for name in names if os.environ.get(name))
    return Finding(what, "info", f"{', '.join(present)} set (values are never shown)" if present else "none set")
