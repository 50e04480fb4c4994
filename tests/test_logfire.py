"""Logfire is optional: notebook 02 shows pydantic-ai's own instrumentation, or says in words that it skips it."""

import nbformat
import pytest
from regenerate import NOTEBOOKS, Notebook, execute, read

PATH = NOTEBOOKS / "02_watching_the_wire.ipynb"
BLOCK = "import sys\n\nsys.modules['logfire'] = None  # as if it were not installed"


def printed(notebook: Notebook) -> str:
    (cell,) = (cell for cell in notebook.cells if cell.id == "logfire")
    return "".join(output.text for output in cell.outputs)


def test_without_logfire_the_notebook_says_so_and_works() -> None:
    notebook = read(PATH)
    notebook.cells.insert(0, nbformat.v4.new_code_cell(BLOCK))  # type: ignore[no-untyped-call]
    ran = execute(notebook)
    assert printed(ran).startswith("Logfire is not installed, so this part is skipped.")
    assert [cell.execution_count for cell in ran.cells if cell.cell_type == "code"][-1] > 15


def test_with_logfire_its_spans_stay_on_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("logfire", reason="Logfire is not installed: `python -m pip install logfire`")
    cell = next(cell for cell in read(PATH).cells if cell.id == "logfire")
    assert "send_to_logfire=False" in cell.source
    assert printed(read(PATH)).splitlines() == ["chat gpt-5.2", "invoke_agent agent"]


def test_handoffkit_itself_never_imports_logfire() -> None:
    for path in (NOTEBOOKS.parent / "handoffkit").rglob("*.py"):
        assert "logfire" not in path.read_text(encoding="utf-8"), path
