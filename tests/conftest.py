"""What every test shares: nothing from outside steers a run, and what is missing is said, never passed over."""

import importlib.util
import os
import shutil
import sys
from collections.abc import Callable, Generator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from lab import browser, lab, notebooks

if TYPE_CHECKING:
    from handoffkit.connect import Endpoint

ROOT = Path(__file__).resolve().parent.parent
RECORDINGS = ROOT.parent / "shared" / "recordings"

# Each of these would make a test or a notebook talk to somebody else, and perhaps spend money.
STEERING = (
    *("HANDOFFKIT_MODE", "OPENAI_API_KEY", "OPENAI_BASE_URL", "LOGFIRE_TOKEN"),
    *("HANDOFFKIT_SPEECH", "HANDOFFKIT_STT_MODEL"),
)

Needs = Callable[[str, str], str]

__all__ = ["browser", "lab", "notebooks"]
"""Fixtures that live elsewhere, and are one for all modules only from here."""


def pytest_configure(config: pytest.Config) -> None:
    """Forget what the caller's environment says about services; the notebooks' kernels inherit this."""
    for name in STEERING:
        os.environ.pop(name, None)


def in_ci() -> bool:
    return os.environ.get("CI", "").lower() in {"1", "true"}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Make a skipped test a failure with CI=true: there everything is installed, so a skip hides something."""
    report = yield
    if not hasattr(report, "wasxfail"):
        fail_a_skip(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """The same for a module that skips itself as a whole."""
    report = yield
    fail_a_skip(report)
    return report


def fail_a_skip(report: pytest.TestReport | pytest.CollectReport) -> None:
    if in_ci() and report.skipped:
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longreprtext
        report.outcome, report.longrepr = "failed", f"With CI=true a skip is a failure. {reason}"


@pytest.fixture
def needs() -> Needs:
    """Return `needs(tool, package)`: the path of a program, or a skip that says which Debian package brings it."""

    def find(tool: str, package: str) -> str:
        path = shutil.which(tool)
        if path is None:
            pytest.skip(
                f"`{tool}` is not installed. On Debian: apt-get install {package} (apt.txt lists such packages)."
            )
        return path

    return find


@pytest.fixture
def recordings() -> Path:
    """Return the folder of recordings of the real service, beside the checkout."""
    if not RECORDINGS.is_dir():
        pytest.skip(f"There are no recordings of the service in {RECORDINGS}.")
    return RECORDINGS


@pytest.fixture(autouse=True)
def typed_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Load no models of speech for a test, unless it asks for them: `connect(speech=True)`, or `speech`."""
    monkeypatch.setenv("HANDOFFKIT_SPEECH", "off")


@pytest.fixture(autouse=True)
def clients_end_with_their_test() -> Generator[None]:
    """Take back the client that a test has given openai-agents: it belongs to the event loop of that test."""
    yield
    if "agents" in sys.modules:
        sys.modules["agents"].set_default_openai_client(None, use_for_tracing=False)


@pytest.fixture
def speech(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have what hears and speaks in this test, as a user of the `speech` extra does."""
    for module in ("faster_whisper", "hibari", "onnxruntime"):
        if importlib.util.find_spec(module) is None:
            pytest.skip(f'{module} is not installed. Run `python -m pip install -e ".[speech,test]"`.')
    monkeypatch.delenv("HANDOFFKIT_SPEECH")


@pytest.fixture
def connected() -> "Endpoint":
    """Connect to a simulation with a fresh log; one process serves all tests, as one serves a kernel."""
    import handoffkit as hk
    from handoffkit.connect import current

    hk.connect()
    return current()


@pytest.fixture(scope="session", autouse=True)
def endpoint_ends() -> Generator[None]:
    """End the endpoint process with the run, if a test has started one."""
    yield
    if "handoffkit.connect" in sys.modules:
        sys.modules["handoffkit.connect"].disconnect()
