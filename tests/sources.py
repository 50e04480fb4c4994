"""What the package's own files import, read from their source."""

import ast
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent / "handoffkit"


def imports(path: Path) -> Iterator[str]:
    """Yield the dotted name of every module that the file imports, wherever the import stands."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module


def imported(*folders: str) -> dict[str, set[str]]:
    """Return the imported modules, each with the files below `handoffkit/` that import it."""
    found: dict[str, set[str]] = {}
    for folder in folders or ("",):
        for path in (PACKAGE / folder).rglob("*.py"):
            for name in imports(path):
                found.setdefault(name, set()).add(path.relative_to(PACKAGE).as_posix())
    return found
