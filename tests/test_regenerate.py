"""Regenerating keeps what is bound to differ from run to run, and nothing else."""

from pathlib import Path
from typing import Any

import nbformat
import pytest
import regenerate


def notebook(*outputs: dict[str, Any], tags: tuple[str, ...] = (), **metadata: Any) -> Any:
    cell = nbformat.v4.new_code_cell("x", outputs=list(outputs), metadata={"tags": list(tags), **metadata})  # type: ignore[no-untyped-call]
    cell.id = "x"
    return nbformat.v4.new_notebook(cells=[cell], metadata={"widgets": {}})  # type: ignore[no-untyped-call]


def shown(**data: str) -> dict[str, Any]:
    names = {
        "png": "image/png",
        "html": "text/html",
        "plain": "text/plain",
        "view": "application/vnd.jupyter.widget-view+json",
    }
    data = {names[name]: value for name, value in data.items()}
    return nbformat.v4.new_output("display_data", data)  # type: ignore[no-untyped-call, no-any-return]


def printed(text: str) -> dict[str, Any]:
    return nbformat.v4.new_output("stream", text=text)  # type: ignore[no-untyped-call, no-any-return]


def kept(new: Any, committed: Any) -> Any:
    return regenerate.normalise(new, committed).cells[0].outputs


def test_a_picture_is_kept_while_its_words_are_the_same() -> None:
    old = shown(png="old", plain="2 turns")
    assert kept(notebook(shown(png="new", plain="2 turns")), notebook(old)) == [old]
    result = nbformat.v4.new_output("execute_result", dict(old["data"]), execution_count=7)  # type: ignore[no-untyped-call]
    again = nbformat.v4.new_output("execute_result", shown(png="new", plain="2 turns")["data"], execution_count=9)  # type: ignore[no-untyped-call]
    assert kept(notebook(again), notebook(result)) == [dict(again) | {"data": dict(result.data)}], "but not its number"
    new = shown(png="new", plain="3 turns")
    assert kept(notebook(new), notebook(old)) == [new]
    assert kept(notebook(new), notebook()) == [new]


def test_numbers_of_an_ignored_output_are_kept_while_its_words_are_the_same() -> None:
    old, new, other = printed("It took 12 ms."), printed("It took 7 ms."), printed("It failed.")
    ignored = {"tags": (regenerate.IGNORED,)}
    assert kept(notebook(new, **ignored), notebook(old, **ignored)) == [old]
    assert kept(notebook(other, **ignored), notebook(old, **ignored)) == [other]
    assert kept(notebook(new), notebook(old)) == [new], "a compared output is never kept"


def test_a_recording_is_left_out_and_its_words_stay() -> None:
    played = '<div><audio controls="" src="data:audio/wav;base64,UklGRg=="></audio><pre>▁▂▃</pre></div>'
    (found,) = kept(notebook(shown(html=played, plain="<Sound>")), notebook())
    assert found["data"] == {"text/html": "<div><pre>▁▂▃</pre></div>", "text/plain": "<Sound>"}


def test_widgets_are_numbered_in_the_order_in_which_they_are_shown() -> None:
    ids = ["b" * 32, "a" * 32, "b" * 32]
    views: list[Any] = [shown(view={"model_id": name}) for name in ids]  # type: ignore[arg-type]
    found = kept(notebook(*views), notebook())
    numbers = [int(next(iter(output["data"].values()))["model_id"], 16) for output in found]
    assert numbers == [1, 2, 1]


def test_a_widget_that_says_in_words_what_it_shows_keeps_the_words_only() -> None:
    view: Any = {"model_id": "c" * 32}
    (found,) = kept(notebook(shown(view=view, html="<p>Ready.</p>", plain="Ready.")), notebook())
    assert found["data"] == {"text/html": "<p>Ready.</p>", "text/plain": "Ready."}
    (bare,) = kept(notebook(shown(view=view, plain="Widget()")), notebook())
    assert set(bare["data"]) == {"application/vnd.jupyter.widget-view+json", "text/plain"}


def test_nothing_of_one_kernel_or_one_run_is_left() -> None:
    made = regenerate.normalise(notebook(execution={"iopub.status.busy": "2026-01-01"}), notebook())
    assert made.metadata == regenerate.METADATA
    assert made.cells[0].metadata == {"tags": []}


def test_a_name_that_fits_no_notebook_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        regenerate.main(["99"])
    assert "begins with 99" in capsys.readouterr().err


def test_check_says_what_would_change_and_writes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = notebook()
    made.cells[0].source = "print('new')"
    path = tmp_path / "00_x.ipynb"
    path.write_text(regenerate.text(made), encoding="utf-8")
    before = path.read_bytes()
    monkeypatch.setattr(regenerate, "NOTEBOOKS", tmp_path)
    assert regenerate.main(["--check"]) == 1
    assert path.read_bytes() == before
    assert regenerate.main([]) == 0
    assert regenerate.main(["--check"]) == 0
    assert "new\\n" in path.read_text(encoding="utf-8")
