"""`xleak fix`: makes the edits that lint proposes."""

from __future__ import annotations

import argparse
import difflib
import io
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from xleak import _native, source, syntax
from xleak.cli import output
from xleak.cli.problem import Problem
from xleak.lint import as_text, edits, files, found, settings
from xleak.render.table import printable
from xleak.render.units import counted

# An edit may bring another finding to light; a file that never settles is left as it was.
_MOST_ROUNDS = 10

DONE, FAILED = 0, 2


def fix(arguments: argparse.Namespace) -> int:
    """Edits the files, or shows what it would edit."""
    told = settings.read(arguments.select, arguments.ignore, arguments.per_file_ignores)
    made, changed, failed = 0, 0, False
    for path in files.found(arguments.paths):
        try:
            count, is_whole = _fixed(Path(path), told, arguments)
        except Problem as problem:
            output.say(str(problem))
            failed = True
            continue
        failed |= not is_whole
        made += count
        changed += count > 0
    would = "would make" if arguments.diff else "made"
    output.say(f"{would} {counted(made, 'repair')} in {counted(changed, 'file')}")
    return FAILED if failed else DONE


def _fixed(path: Path, told: settings.Settings, arguments: argparse.Namespace) -> tuple[int, bool]:
    """How many repairs were made, and whether every cell could be edited."""
    before = data = _read(path)
    made = 0
    broken: list[int] | None = None
    for _round in range(_MOST_ROUNDS):
        file = source.lint_text(str(path), data)
        if file.problem is not None:
            raise Problem(file.problem)
        refused = syntax.refusals(file, data)
        if broken is None:
            broken = [it.cell for it in refused]
            for it in refused:
                _say_left_alone(file, it)
        elif [it.cell for it in refused] != broken:
            raise Problem(
                f"the fixes of {path} would leave code that {syntax.PYTHON} does not parse, so it was "
                "left as it is."
            )
        wanted, count = _wanted(file, told, arguments.unsafe_fixes, broken)
        after = _edited(file, data, wanted)
        if after == data:
            break
        data, made = after, made + count
    else:
        raise Problem(f"the fixes of {path} undo each other, so it was left as it is.")
    if data != before and arguments.diff:
        _show(path, before, data)
    elif data != before:
        _write(path, before, data)
    return made, not broken


def _say_left_alone(file: _native.LintedFile, refused: syntax.Refusal) -> None:
    where = found.spot(file, refused.cell, refused.line)
    what = "This cell" if file.has_cells else "The file"
    output.say(
        f"{as_text.place(where)}:{refused.column}: {refused.sentence} {what} is left as it is."
    )


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as failed:
        raise Problem(
            f"cannot read {path}: {failed.strerror}. The other files are fixed."
        ) from None


def _wanted(
    file: _native.LintedFile, told: settings.Settings, unsafe: bool, broken: list[int]
) -> tuple[dict[int, list[_native.Edit]], int]:
    """The edits of each cell, and how many findings they are for. What touches a cell that does not
    parse is left out: where its statements end is a guess."""
    wanted: dict[int, list[_native.Edit]] = defaultdict(list)
    count = 0
    for finding in file.report.findings:
        if not told.tells(finding.code, file.path):
            continue
        fixes = [
            it
            for it in finding.fixes
            if it.edits
            and (it.safe or unsafe)
            and not any(edit.cell in broken for edit in it.edits)
        ]
        for edit in fixes[0].edits if fixes else []:
            wanted[edit.cell].append(edit)
        count += bool(fixes)
    return dict(wanted), count


def _edited(file: _native.LintedFile, data: bytes, wanted: dict[int, list[_native.Edit]]) -> bytes:
    if file.is_notebook:
        return edits.notebook(data, wanted)
    return edits.script(data, wanted, file.first_lines)


def _write(path: Path, before: bytes, after: bytes) -> None:
    """Writes the file, unless somebody else did since it was read. Raises Problem."""
    if _read(path) != before:
        raise Problem(
            f"{path} has changed while it was being fixed, so it was left as it is. Run it again."
        )
    output.replace_bytes(path.resolve(), after)


def _show(path: Path, before: bytes, after: bytes) -> None:
    # A patch has every sign of the file; a terminal would take some for orders.
    shown = _spelled_out if sys.stdout.isatty() else str
    lines = [shown(line) for line in _diff(printable(str(path)), before, after)]
    with output.to_stdout() as stream:
        stream.writelines(lines)


def _spelled_out(line: str) -> str:
    return printable(line.removesuffix("\n").expandtabs(4)) + "\n"


def _diff(name: str, before: bytes, after: bytes) -> Iterator[str]:
    """Lines of a patch, as `patch` and git read it."""
    for line in difflib.unified_diff(_lines(before), _lines(after), name, name):
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def _lines(data: bytes) -> list[str]:
    # A line feed alone ends one there.
    return list(io.StringIO(data.decode(), newline="\n"))
