"""The report for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from xleak.lint.found import Found, Report, Spot
from xleak.render.table import printable
from xleak.render.units import counted
from xleak.verdict import SEVERITIES

# What a terminal takes for each severity and for what stands beside the sentence.
_COLOURS = {
    "error": "31;1",
    "warning": "33;1",
    "note": "36;1",
    "place": "1",
    "dim": "2",
    "fix": "32",
}

# A longer line is generated, and would push its finding out of sight.
_LONGEST = 240


def text(report: Report, colour: bool) -> str:
    """Every finding with its line, its reason and what to do; then how many there are."""
    parts = [_finding(found, colour) for found in report.found]
    parts += [
        f"{_painted(place(it.spot), 'place', colour)}: "
        f"`{printable(it.text)}` keeps nothing quiet; remove it.{_cell(it.spot)}"
        for it in report.unused
    ]
    parts.append(_summary(report))
    return "\n\n".join(parts)


def statistics(report: Report) -> str:
    """How often each rule was told, most first."""
    slugs = {found.code: found.slug for found in report.found}
    rows = [f"{count:6}  {code}  {slugs[code]}" for code, count in report.counts().most_common()]
    return "\n".join([*rows, "" if rows else "no findings"]).rstrip()


def _finding(found: Found, colour: bool) -> str:
    where = f"{place(found.spot)}:{found.column}:"
    return "\n".join(
        [
            f"{_painted(where, 'place', colour)} "
            f"{_painted(f'{found.code} {found.severity}', found.severity, colour)} "
            f"{printable(found.message)}{_painted(_cell(found.spot), 'dim', colour)}",
            *_excerpt(found, colour),
        ]
    )


def _excerpt(found: Found, colour: bool) -> Iterator[str]:
    line = found.source_line.expandtabs(4)
    line = printable(line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…")
    yield f"  {_painted(f'{found.spot.line:5} |', 'dim', colour)} {line}"
    for fix in found.fixes:
        how = "xleak fix" if fix.safe else "xleak fix --unsafe-fixes"
        yield f"        {_painted('fix:', 'fix', colour)} {printable(fix.title)} (`{how}`)"


def place(spot: Spot) -> str:
    """`train.ipynb:cell 3:12`, or for a script `train.py:41`, which editors open at that line."""
    cell = f"cell {spot.cell}:" if spot.in_notebook else ""
    return f"{printable(spot.path)}:{cell}{spot.line}"


def _cell(spot: Spot) -> str:
    """The cell of a script, after the message: before the line, editors could not open the place."""
    return "" if spot.in_notebook or spot.cell is None else f" (cell {spot.cell})"


def _painted(text_: str, what: str, colour: bool) -> str:
    return f"\033[{_COLOURS[what]}m{text_}\033[0m" if colour else text_


def _summary(report: Report) -> str:
    files = counted(report.files, "file")
    severities = [it.severity for it in report.found]
    told = [counted(severities.count(it), it) for it in SEVERITIES if it in severities]
    return f"{', '.join(told) or 'no finding'} in {files}, read from the source alone"
