"""`%leakcheck` and `%%leakcheck`: what the session, or one cell, keeps that nobody uses."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import takewhile

from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import Magics, line_cell_magic, magics_class

from xleak.explain import explanation
from xleak.magics.live import live_verdict, live_watcher
from xleak.render import table, text
from xleak.render.units import counted, human_bytes, human_seconds, signed_bytes
from xleak.shell.watcher import watcher
from xleak.verdict import Verdict, to_json

_MARK = "%%leakcheck"
_USAGE = "%leakcheck takes --json, --all or --explain CODE"


@dataclass(frozen=True)
class Request:
    """What one `%leakcheck` line asks for."""

    as_json: bool = False
    with_notes: bool = False
    rule: str | None = None


def parse(line: str) -> Request:
    """The request of a line. Raises UsageError."""
    words = line.split()
    if words[:1] == ["--explain"]:
        if len(words) != 2:
            raise UsageError("%leakcheck --explain takes one rule, such as XL401")
        return Request(rule=words[1])
    if unknown := [word for word in words if word not in ("--json", "--all")]:
        raise UsageError(f"{_USAGE}, got {' '.join(unknown)!r}")
    return Request(as_json="--json" in words, with_notes="--all" in words)


@magics_class
class LeakcheckMagic(Magics):
    """Shows findings; a cell that starts with `%%leakcheck` gets its own below it."""

    def __init__(self, shell: InteractiveShell) -> None:
        super().__init__(shell)
        shell.input_transformers_cleanup.append(without_mark)
        watching = watcher()
        if watching is not None:
            watching.after_judgement.append(report_marked_cell)

    @line_cell_magic
    def leakcheck(self, line: str, cell: str | None = None) -> None:
        """Report what the session keeps that nobody uses.

        %leakcheck [--all]         findings; --all shows notes too
        %leakcheck --json          the verdict as xleak.verdict/1
        %leakcheck --explain CODE  what a rule means
        %%leakcheck                as first line: run the cell and report what it kept
        """
        if cell is not None:
            # A marked cell never comes here: its first line is gone before IPython reads it.
            raise UsageError(f"{_MARK} takes no arguments and stands alone on the first line")
        request = parse(line)
        if request.rule is not None:
            print(_explained(request.rule))
        elif request.as_json:
            print(json.dumps(to_json(live_verdict()), indent=2))
        else:
            print(session_report(live_verdict(), request.with_notes))
            if live_watcher().settings.policy == "off":
                print("\nCells are not watched now; %xleak policy report starts it again.")


def _explained(rule: str) -> str:
    try:
        return explanation(rule)
    except LookupError as unknown:
        raise UsageError(str(unknown.args[0])) from None


def session_report(verdict: Verdict, with_notes: bool) -> str:
    """Findings of the session and its totals; notes are counted when they are not shown."""
    shown = [found for found in verdict.findings if with_notes or found.severity != "note"]
    parts = [text.findings(shown), table.totals(verdict)]
    if hidden := len(verdict.findings) - len(shown):
        parts.append(f"{counted(hidden, 'note')} not shown; %leakcheck --all shows them too")
    return "\n\n".join(parts)


# --- %%leakcheck: the cell runs as any other; its mark is taken away, its report comes after it.


def is_marked(source: str) -> bool:
    """Whether a bare `%%leakcheck` is among the cell magics that a cell starts with."""
    lines = source.lstrip().splitlines()
    magics = takewhile(lambda line: line.startswith("%%"), lines)
    return _MARK in (magic.rstrip() for magic in magics)


def without_mark(lines: list[str]) -> list[str]:
    """An input transformer of IPython: the cell without its mark, with line numbers kept."""
    if not lines or lines[0].rstrip() != _MARK or watcher() is None:
        return lines
    body = lines[1:]
    # Another cell magic below must come first to be seen as one.
    return body if body and body[0].startswith("%%") else ["\n", *body]


def report_marked_cell(index: int, source: str) -> None:
    """Prints what a cell kept, once it was judged, where it asked for that."""
    if _MARK in source and is_marked(source):
        print(cell_report(live_verdict(), index))


def cell_report(verdict: Verdict, index: int) -> str:
    """The numbers of one cell and the findings that it caused or made."""
    of_cell = [found for found in verdict.findings if index in (found.cell, found.cause_cell)]
    numbers = [
        f"cell {cell.index}: kept {signed_bytes(cell.host.kept_bytes)}, "
        f"peak {human_bytes(cell.host.resident_peak_bytes)}, {human_seconds(cell.seconds)}"
        for cell in verdict.cells
        if cell.index == index
    ]
    return "\n".join([*numbers, text.findings(of_cell)])
