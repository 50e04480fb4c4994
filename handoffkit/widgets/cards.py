"""The kernel's microphones, for the choice in a panel.

The system's sound libraries write to the standard error as they look for devices, which would stand in a notebook, and
looking takes a moment: so another process looks, and only where a sound card may be.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

_SECONDS = 20.0  # in which it has looked
_LOOK = """
import json
from handoffkit.sound_card import devices
print(json.dumps([[each.id, each.name] for each in devices("input")]))
"""


def cards() -> list[dict[str, str]]:
    """Return the microphones of the kernel's machine, as `{"id": "card:0", "name": …}`; none where it has none."""
    if not _may_be():
        return []
    try:
        command = [sys.executable, "-P", "-c", _LOOK]
        done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=True)
        return [{"id": f"card:{number}", "name": str(name)} for number, name in json.loads(done.stdout)]
    except (OSError, ValueError, TypeError, subprocess.SubprocessError):
        return []


def _may_be() -> bool:
    """Say whether a sound card may be there; on Linux the kernel's list or a sound server would tell."""
    if not sys.platform.startswith("linux"):
        return True
    server = Path(os.environ.get("XDG_RUNTIME_DIR") or f"/run/user/{os.getuid()}") / "pulse" / "native"
    try:
        return "PULSE_SERVER" in os.environ or server.exists() or "[" in Path("/proc/asound/cards").read_text()
    except OSError:
        return False
