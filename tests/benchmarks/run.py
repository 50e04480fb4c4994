"""`python tests/benchmarks/run.py [--json FILE] [NAMES]`: measure, print a table, write JSON.

Each benchmark runs in a process of its own, one after the other. The numbers are this machine's, at this moment: the
table says how busy it was.
"""

import argparse
import importlib
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from measure import Row, machine

NAMES = ("call", "agents", "relay", "import", "connect", "log", "history", "hearing", "answering", "streaming", "panel")
GROUPS = {"speech": ("hearing", "answering", "streaming")}
"""Several under one name; these need the extra `speech`."""


def main() -> None:
    """Run the benchmarks that the command line names; all of them where it names none."""
    options = _options()
    if options.alone:
        print(json.dumps(_alone(options.alone, smallest=options.smallest)))
        return
    report: dict[str, Any] = {"machine": machine(), "benchmarks": {}}
    for name in _chosen(options.names):
        print(f"measuring: {name}", file=sys.stderr)
        report["benchmarks"][name] = _apart(name, smallest=options.smallest)
    print(_page(report))
    if options.json:
        options.json.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")


def _chosen(names: list[str]) -> list[str]:
    """Return what to measure: a group stands for its parts, and nothing is measured twice."""
    parts = [part for name in names or NAMES for part in GROUPS.get(name, (name,))]
    return list(dict.fromkeys(parts))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="run.py", description="Measure handoffkit.")
    groups = "; ".join(f"{name} stands for {', '.join(parts)}" for name, parts in GROUPS.items())
    about = f"which ones: {', '.join(NAMES)}; {groups}; all by default"
    parser.add_argument("names", nargs="*", metavar="NAMES", help=about)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers to FILE as JSON, too")
    parser.add_argument("--smallest", action="store_true", help="run each only once and small: says nothing of speed")
    parser.add_argument("--alone", choices=NAMES, help=argparse.SUPPRESS)
    options = parser.parse_args()
    known = (*NAMES, *GROUPS)
    if unknown := sorted(set(options.names) - set(known)):
        parser.error(f"there is no benchmark {', '.join(unknown)}; there are {', '.join(known)}")
    return options


def _apart(name: str, *, smallest: bool) -> dict[str, Any]:
    """Run one benchmark in a process of its own, with memory, modules and a folder for its logs of its own."""
    command = [sys.executable, __file__, "--alone", name, *["--smallest"] * smallest]
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"TMPDIR": folder, "TEMP": folder, "TMP": folder}
        done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True, env=environment)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _alone(name: str, *, smallest: bool) -> dict[str, Any]:
    module = importlib.import_module(f"bench_{name}")
    load, began = machine()["load_before"], time.perf_counter()
    rows: list[Row] = module.measure(smallest=smallest)
    took = round(time.perf_counter() - began, 1)
    return {"what": module.WHAT, "load_before": load, "seconds": took, "rows": [asdict(row) for row in rows]}


def _page(report: dict[str, Any]) -> str:
    facts = report["machine"]
    packages = ", ".join(f"{name} {version}" for name, version in facts["packages"].items())
    lines = [
        f"{facts['date']}, {facts['python']}, {facts['system']}, {facts['cores']} cores, {facts['memory_gb']} GB",
        f"load before: {' '.join(map(str, facts['load_before']))} (1, 5, 15 minutes); {packages}",
        "A row without a spread is one number for all n together; p95 is told from 20 values on.",
    ]
    for found in report["benchmarks"].values():
        lines += ["", f"### {found['what']}", "", *_table(found["rows"])]
        lines += [f"\n{row['what']}: {row['note']}" for row in found["rows"] if row["note"]]
        load = " ".join(map(str, found["load_before"]))
        lines += ["", f"{found['seconds']} s; load before: {load}"]
    return "\n".join(lines)


HEAD = ["", "median", "min", "p95", "max", "unit", "n", "aim"]
LEFT = (0, 5)
"""The columns of words; the others are numbers."""


def _table(rows: list[dict[str, Any]]) -> list[str]:
    cells = [HEAD, *map(_cells, rows)]
    widths = [max(3, *map(len, column)) for column in zip(*cells, strict=True)]
    rule = ["-" * width if at in LEFT else "-" * (width - 1) + ":" for at, width in enumerate(widths)]
    head, *body = [_line(each, widths) for each in cells]
    return [head, _line(rule, widths), *body]


def _cells(row: dict[str, Any]) -> list[str]:
    spread = [row[name] if row["n"] > 1 else None for name in ("min", "p95", "max")]
    numbers = ["" if value is None else _number(value, row["unit"]) for value in (row["value"], *spread)]
    return [row["what"], *numbers, row["unit"], str(row["n"]), row["aim"]]


def _line(cells: list[str], widths: list[int]) -> str:
    pairs = enumerate(zip(cells, widths, strict=True))
    return f"| {' | '.join(cell.ljust(width) if at in LEFT else cell.rjust(width) for at, (cell, width) in pairs)} |"


def _number(value: float, unit: str) -> str:
    """Return a number with about three digits that mean something; ratios with two after the point."""
    if unit in ("", "×"):
        return f"{value:.0f}" if unit == "" else f"{value:.2f}"
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


if __name__ == "__main__":
    main()
