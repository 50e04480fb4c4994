"""Run the notebooks and write their outputs: `python tests/regenerate.py [NAMES] [--check]`.

NAMES are beginnings of file names (`01`); by default all notebooks are run. The same notebook gives the same bytes:
what differs from run to run (pictures of times, outputs that nbval ignores) is kept as it was committed, unless the
words around it have changed. With `--check` nothing is written, and the exit status is 1 if anything would be.
"""

import argparse
import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = ROOT / "notebooks"
STEERING = ("HANDOFFKIT_MODE", "OPENAI_API_KEY", "OPENAI_BASE_URL", "LOGFIRE_TOKEN", "HANDOFFKIT_SPEECH")
"""What would make a notebook talk to somebody else than the simulation, or keep it from hearing and speaking."""
METADATA = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
IGNORED = "nbval-ignore-output"
"""Tags a cell whose output differs from run to run, in its numbers."""
PLAYER = re.compile(r"<audio\b[^>]*>\s*</audio>")
"""A recording with its player: a hundred times the words beside it, and GitHub shows neither of the two."""
VIEW = "application/vnd.jupyter.widget-view+json"
"""A widget's live view, which names a model in a kernel that is gone."""

Notebook = Any
"""A notebook as nbformat has it: a dict whose keys are attributes, too."""


def read(path: Path) -> Notebook:
    """Return the notebook in the file *path*."""
    return nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]


def execute(notebook: Notebook, folder: Path = NOTEBOOKS) -> Notebook:
    """Run *notebook* in a fresh kernel whose working folder is *folder*, put the outputs in, and return it.

    Raises:
        CellExecutionError: A cell raised.
    """
    environment = {name: value for name, value in os.environ.items() if name not in STEERING}
    client = NotebookClient(
        notebook,
        timeout=120,
        kernel_name="python3",
        resources={"metadata": {"path": str(folder)}},
        record_timing=False,
        coalesce_streams=True,
        store_widget_state=False,
    )
    client.execute(env=environment)
    return notebook


def normalise(notebook: Notebook, committed: Notebook) -> Notebook:
    """Take out of a notebook what differs from run to run, or from machine to machine."""
    before = {cell.id: cell for cell in committed.cells}
    notebook.metadata = nbformat.from_dict(METADATA)  # type: ignore[no-untyped-call]
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.metadata.pop("execution", None)
            _without_players(cell.outputs)
            _without_views(cell.outputs)
            cell.outputs = _kept(cell, before[cell.id].get("outputs", []))
    _renumber_widgets(notebook)
    return notebook


def _without_players(outputs: list[Any]) -> None:
    for output in outputs:
        if "text/html" in (data := output.get("data", {})):
            data["text/html"] = PLAYER.sub("", "".join(data["text/html"]))


def _without_views(outputs: list[Any]) -> None:
    """Take the live view of a widget out where the same output says it in words, too.

    The words are shown everywhere; of a view, a notebook that is trusted says only that its model is missing.
    """
    for output in outputs:
        if "text/html" in (data := output.get("data", {})):
            data.pop(VIEW, None)


def _kept(cell: Notebook, before: list[Any]) -> list[Any]:
    """Return the outputs of *cell*, those of *before* instead where only what is bound to differ does."""
    if IGNORED in cell.metadata.get("tags", []) and _without_numbers(cell.outputs) == _without_numbers(before):
        return before
    if len(cell.outputs) != len(before):
        return list(cell.outputs)
    return [
        _picture_kept(new, old) if "image/png" in new.get("data", {}) and _words(new) == _words(old) else new
        for new, old in zip(cell.outputs, before, strict=True)
    ]


def _picture_kept(new: Any, old: Any) -> Any:
    """Return *new* with the picture of *old* and its size; nothing else of it, such as the number of its cell."""
    new["data"]["image/png"] = old["data"]["image/png"]
    new["metadata"] = old["metadata"]
    return new


def _words(output: Any) -> tuple[Any, Any]:
    picture = output.get("metadata", {}).get("image/png", {})
    return output.get("data", {}).get("text/plain"), picture.get("alt")


def _without_numbers(outputs: list[Any]) -> str:
    return re.sub(r"\d+", "0", json.dumps(outputs, sort_keys=True))


def _renumber_widgets(notebook: Notebook) -> None:
    """Give widgets' models the ids 0…01, 0…02, … in the order in which the outputs name them."""
    known: dict[str, str] = {}
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            view = output.get("data", {}).get(VIEW)
            if view:
                view["model_id"] = known.setdefault(view["model_id"], f"{len(known) + 1:032x}")


def text(notebook: Notebook) -> str:
    """Return *notebook* as it is written to its file."""
    nbformat.validate(notebook)
    return str(nbformat.writes(notebook)).rstrip("\n") + "\n"  # type: ignore[no-untyped-call]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Run the notebooks and write their outputs.")
    parser.add_argument("names", nargs="*", help="beginnings of file names, such as 01; all by default")
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if anything would change")
    options = parser.parse_args(arguments)
    paths = sorted(NOTEBOOKS.glob("*.ipynb"))
    paths = [path for path in paths if not options.names or path.name.startswith(tuple(options.names))]
    if not paths:
        parser.error(f"no notebook in {NOTEBOOKS} begins with {' or '.join(options.names)}")
    changed = [path for path in paths if _regenerate(path, write=not options.check)]
    return 1 if options.check and changed else 0


def _regenerate(path: Path, *, write: bool) -> bool:
    before = path.read_text(encoding="utf-8")
    after = text(normalise(execute(read(path)), read(path)))
    if write and after != before:
        path.write_text(after, encoding="utf-8", newline="\n")
    print(f"{path.name}: {'unchanged' if after == before else 'written' if write else 'would change'}")
    return after != before


if __name__ == "__main__":
    sys.exit(main())
