"""`handoffkit lab`: JupyterLab on a working copy of the course, never on the course itself."""

import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

from ..errors import LabMissing
from .course import GIVEN, copy_course, find_course

FOLDER = "handoffkit-course"


def run(folder: Path | None, *, start: bool, jupyter_options: Sequence[str]) -> int:
    """Bring the working copy up to date and start JupyterLab on it; return the exit status.

    Args:
        folder: Where the working copy is to be; None takes `working_folder()`.
        start: False only copies, and prints the path as the last line.
        jupyter_options: Handed to JupyterLab as they are.

    Raises:
        CourseMissing: This installation has no notebooks.
        CourseFolderRefused: The folder cannot be written, or is the course itself.
        LabMissing: JupyterLab is not installed.
    """
    course, target = find_course(), (folder or working_folder()).resolve()
    copied = copy_course(course, target)
    if text := str(copied):
        print(text)
    if not start:
        print(target)
        return 0
    print(f"Starting JupyterLab on your working copy, {target}. Ctrl-C in this terminal ends it.", flush=True)
    return start_lab(lab_arguments(target, jupyter_options))


def working_folder(here: Path | None = None, home: Path | None = None) -> Path:
    """Return where a working copy goes that nobody named: the one we stand in, else a new one here, else at home."""
    here = here or Path.cwd()
    for folder in (here, here.parent):
        if (folder / GIVEN).is_file():
            return folder
    wanted = here / FOLDER
    return wanted if _can_write(wanted) else (home or Path.home()) / FOLDER


def _can_write(folder: Path) -> bool:
    try:
        with tempfile.TemporaryFile(dir=folder if folder.exists() else folder.parent):
            return True
    except OSError:
        return False


def lab_arguments(folder: Path, extra: Sequence[str]) -> list[str]:
    """Return JupyterLab's options: the working copy is its root, and the first notebook is open."""
    first = min((path.name for path in (folder / "notebooks").glob("*.ipynb")), default="")
    options = {
        "--ServerApp.root_dir": str(folder),
        "--LabApp.default_url": f"/lab/tree/notebooks/{quote(first)}",
    }
    named = {option.split("=", 1)[0] for option in extra}
    if hasattr(os, "geteuid") and os.geteuid() == 0 and not _exposed(extra):
        # In a container everybody is root, and Jupyter would refuse to start. It listens on loopback, with a token.
        options["--ServerApp.allow_root"] = "True"
    return [f"{name}={value}" for name, value in options.items() if name not in named] + list(extra)


def _exposed(extra: Sequence[str]) -> bool:
    """Tell whether *extra* asks for an address that other machines may reach."""
    addresses = [option.partition("=")[2] for option in extra if option.split("=", 1)[0] in ("--ip", "--ServerApp.ip")]
    return any(address not in ("127.0.0.1", "localhost") for address in addresses)


def start_lab(arguments: Sequence[str]) -> int:
    """Run JupyterLab in this process until it is stopped."""
    # Notebooks ask for the kernel "python3": it must be this Python's, not one that the user once installed at home.
    os.environ.setdefault("JUPYTER_PREFER_ENV_PATH", "1")
    try:
        from jupyterlab.labapp import LabApp
    except ImportError as error:
        raise LabMissing(sys.executable, error) from error
    LabApp.launch_instance(argv=list(arguments))
    return 0
