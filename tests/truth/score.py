"""Runs the cases through the real kernel by `xleak run`, and says how much of the truth it reports.

python tests/truth/score.py seen            each case, and totals; writes results/seen.json
python tests/truth/score.py unseen          totals alone; writes results/unseen.json
python tests/truth/score.py CASE.py …       these cases, and no file
"""

import argparse
import datetime
import importlib.metadata
import json
import platform
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import cases
import nbformat
import totals
from child import run_python
from judge import Judged, judge

RESULTS = cases.HERE / "results"
_PATIENCE = 180
_CELL_SECONDS = "60"
_PACKAGES = ("xleak", "ipython", "torch", "numpy", "pandas", "polars", "pyarrow", "scikit-learn")


def notebook(case: cases.Case) -> nbformat.NotebookNode:
    """The case as people have it: a cell that runs twice is there twice, as a copied one would be."""
    made = nbformat.v4.new_notebook()
    if [*case.order] == [*range(1, len(case.cells) + 1)]:
        for kind, source in case.parts:
            new = nbformat.v4.new_code_cell if kind == "code" else nbformat.v4.new_markdown_cell
            made.cells.append(new(source))
    else:
        made.cells = [nbformat.v4.new_code_cell(cell.source) for cell in case.executed]
    return made


def verdict(case: cases.Case) -> dict[str, Any]:
    """What `xleak run` says of the case, run in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="truth_") as folder:
        path = Path(folder, f"{case.slug}.ipynb")
        nbformat.write(notebook(case), path)
        command: list[str | Path] = ["-m", "xleak", "run", path, "--format", "json"]
        command += ["--allow-errors", "--fail-on", "never", "--timeout", _CELL_SECONDS]
        try:
            ended = run_python(command, folder, _PATIENCE)
        except subprocess.TimeoutExpired:
            return _no_verdict("timeout", f"no verdict within {_PATIENCE} s")
    try:
        said: dict[str, Any] = json.loads(ended.stdout)
    except ValueError:
        return _no_verdict("not_started", ended.stderr.decode(errors="replace").strip()[-300:])
    return said


def _no_verdict(kind: str, message: str) -> dict[str, Any]:
    return {"findings": [], "failure": {"kind": kind, "message": message}}


def judged(paths: Sequence[Path], are_shown: bool) -> Iterator[Judged]:
    """Runs and judges each case; says how each went only where it may be seen."""
    for number, path in enumerate(paths, start=1):
        case = cases.read(path)
        result = judge(case, verdict(case))
        if are_shown:
            print(totals.line(result), flush=True)
        elif sys.stderr.isatty():
            print(f"\r{number} of {len(paths)}", end="", file=sys.stderr)
        yield result


def result_file(half: str, every: Sequence[Judged]) -> dict[str, Any]:
    """The committed form. Of unseen cases it holds no name."""
    written = {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "versions": {"python": platform.python_version(), **_versions()},
        "totals": totals.as_json(every),
    }
    if half == "seen":
        written["cases"] = {it.case.slug: _case(it) for it in every}
    return written


def _versions() -> dict[str, str]:
    return {name: importlib.metadata.version(name) for name in _PACKAGES}


def _case(it: Judged) -> dict[str, Any]:
    codes = [found["code"] for found in it.alarms]
    if not it.case.leak:
        return {"clean": True, "alarms": codes}
    right = [name for name, is_so in totals.COLUMNS.items() if is_so(it)]
    return {"clean": False, "right": right, "alarms": codes}


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", nargs="+", metavar="seen | unseen | CASE.py")
    chosen = parser.parse_args().what
    half = chosen[0] if chosen[0] in cases.HALVES and len(chosen) == 1 else None
    paths = cases.all_paths(half) if half else [Path(name) for name in chosen]
    if not paths:
        print(f"there is no case in {cases.HERE / (half or '')}")
        return 2
    every = list(judged(paths, are_shown=half != "unseen"))
    print(totals.table(every))
    if half:
        RESULTS.mkdir(exist_ok=True)
        text = json.dumps(result_file(half, every), indent=1, ensure_ascii=False)
        (RESULTS / f"{half}.json").write_text(f"{text}\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
