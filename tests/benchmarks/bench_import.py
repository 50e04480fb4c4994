"""What `import handoffkit` costs in a fresh process, and what it loads."""

import subprocess

from measure import Row, python

WHAT = "import handoffkit, in a fresh process"

ROUNDS = 15
HEAVY = ("pydantic_ai", "agents", "openai", "pydantic", "numpy", "matplotlib", "tornado", "httpx2", "IPython")
"""What a cell should not wait for before it needs it."""
USED = "import time; print(time.process_time())"
LOADED = f"import sys, handoffkit; print(len(sys.modules), *(name for name in {HEAVY!r} if name in sys.modules))"


def measure(*, smallest: bool) -> list[Row]:
    """Return the rows; 15 processes with and without the import, in turn, or one."""
    bare: list[float] = []
    full: list[float] = []
    for _ in range(1 if smallest else ROUNDS):
        bare.append(1e3 * float(said(USED)))
        full.append(1e3 * float(said(f"import handoffkit; {USED}")))
    modules, *heavy = said(LOADED).split()
    return [
        Row.of("CPU of a bare interpreter", "ms", bare),
        Row.of("CPU of the import", "ms", [f - b for f, b in zip(full, bare, strict=True)], "300"),
        Row.of("modules loaded", "", [int(modules)]),
        Row.of(f"heavy modules among them ({', '.join(heavy) or 'none'})", "", [len(heavy)], "0"),
    ]


def said(code: str) -> str:
    """Return what a fresh interpreter prints."""
    return subprocess.run(python("-c", code), capture_output=True, text=True, check=True, timeout=120).stdout
