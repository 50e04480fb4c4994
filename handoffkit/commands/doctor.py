"""`handoffkit doctor`: what is there, what is missing and what to do, as a table or as JSON.

It looks and changes nothing. Of an environment variable it says the name and whether it is set, never the value.
"""

import json
import os
import platform
import socket
import subprocess
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
    "anywidget": "the panel needs it",
    "ipykernel": "notebooks need it",
    "ipywidgets": "the panel needs it",
    "jupyterlab": "`handoffkit lab` needs it",
    "matplotlib": "timeline pictures need it",
    "openai-agents": "agents of that SDK need it",
    "sounddevice": "the sound card of the kernel's own machine needs it",
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
_DEVICES = """
import json
from handoffkit.errors import NoPortAudio
from handoffkit.sound_card import devices
try:
    print(json.dumps({kind: [each.name for each in devices(kind)] for kind in ("input", "output")}))
except NoPortAudio as error:
    print(json.dumps({"missing": error.found}))
"""
_PATIENCE = 20.0  # seconds in which PortAudio has asked the system for its devices
_NOT_FOR_ALL = "typed calls and the browser's microphone (`call.panel()`) need none"
_INSTALL = (
    "Install PortAudio, if the kernel's own microphone is to be used: on Debian `apt-get install libportaudio2`, with "
    "conda `conda install -c conda-forge portaudio`."
)


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
    yield _sound_card()
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


def _sound_card() -> Finding:
    """Ask PortAudio for the devices in a process of its own, since it ends one where the system's setup is broken."""
    try:
        done = subprocess.run(
            [sys.executable, "-c", _DEVICES], capture_output=True, text=True, timeout=_PATIENCE, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return Finding("Sound card", "note", f"not looked at ({type(error).__name__}); {_NOT_FOR_ALL}")
    if done.returncode:
        ended = f"PortAudio ended the process that asked it (status {done.returncode})"
        return Finding("Sound card", "note", f"{ended}; {_NOT_FOR_ALL}", "Mend the sound setup of this system.")
    answer = json.loads(done.stdout)
    if missing := answer.get("missing"):
        return Finding("Sound card", "note", f"not reached: {missing}; {_NOT_FOR_ALL}", _INSTALL)
    return Finding("Sound card", "info", _devices(answer))


def _devices(found: dict[str, list[str]]) -> str:
    said = [
        f"{len(names)} {what}{'s' * (len(names) > 1)} ({', '.join(names)})" if names else f"no {what}"
        for what, names in (("microphone", found["input"]), ("speaker", found["output"]))
    ]
    without = "" if all(found.values()) else f"; {_NOT_FOR_ALL}"
    return f"{', '.join(said)}{without}"


def _variables(what: str, names: Sequence[str]) -> Finding:
    present = sorted(name for name in names if os.environ.get(name))
    return Finding(what, "info", f"{', '.join(present)} set (values are never shown)" if present else "none set")
