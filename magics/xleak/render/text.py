"""The report for a terminal: plain text, with colours where rich is and a person looks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TextIO

from xleak.cell_names import Naming
from xleak.render import chart, postmortem, table
from xleak.render.units import human_bytes
from xleak.verdict import Finding, Verdict

_COLOURS = {"error": "bold red", "warning": "yellow", "note": "cyan", "ok": "green"}


def report(verdict: Verdict, sources: Mapping[int, str]) -> str:
    """Table, totals and findings as plain text without a trailing newline."""
    parts = [cell_table(verdict, sources), table.totals(verdict), stopped(verdict)]
    told = [cell.postmortem for cell in verdict.cells if cell.postmortem is not None]
    parts += [postmortem.plain(it, verdict.name_of) for it in told]
    parts += [chart.plain(chart.chart_of(verdict)), findings(verdict.findings, verdict.name_of)]
    parts += [] if verdict.findings else [table.kept_openly(verdict)]
    return "\n\n".join(part for part in parts if part)


def cell_table(verdict: Verdict, sources: Mapping[int, str]) -> str:
    """One line a cell under a header; columns that hold nothing are left out. The last line
    lists xleak's own cells."""
    lines = [table.HEADER, *table.rows(table.users_cells(verdict), sources)]
    shown = [at for at in range(len(table.HEADER)) if any(line[at] for line in lines[1:])]
    widths = [max(len(line[at]) for line in lines) for at in range(len(table.HEADER))]
    written = [
        "  ".join(_aligned(line[at], table.HEADER[at], widths[at]) for at in shown).rstrip()
        for line in lines
    ]
    return "\n".join(line for line in [*written, table.own_line(verdict)] if line)


def _aligned(text: str, column: str, width: int) -> str:
    return text.rjust(width) if column in table.NUMERIC or column == "cell" else text.ljust(width)


def findings(found: Sequence[Finding], named: Naming) -> str:
    """Every finding with where, how much, held by what, and what to type."""
    return "\n\n".join([table.verdict_line(found), *(_finding(each, named) for each in found)])


def grouped(found: Sequence[Finding], named: Naming) -> str:
    """The same below a line for each rule and holder; its counts are not among it."""
    return "\n\n".join(_group(group, named) for group in table.grouped(found))


def _group(group: table.Group, named: Naming) -> str:
    head = f"{group.code} {group.slug.replace('_', ' ')}: {table.printable(group.holder)}"
    if len(group.findings) > 1:
        head += f"  {human_bytes(group.bytes)} in {len(group.findings)} places"
    lines = [line for each in group.findings for line in _lines(each, f"{each.severity}  ", named)]
    return "\n".join([head, *(f"  {line}" for line in lines)])


def _finding(found: Finding, named: Naming) -> str:
    return "\n".join(_lines(found, f"{found.code} {found.severity}  ", named))


def _lines(found: Finding, start: str, named: Naming) -> list[str]:
    lines = [f"{start}{table.where(found, named)}  {human_bytes(found.bytes)}"]
    lines.append(f"  {table.printable(found.message)}")
    if found.path:
        lines.append("  held by " + table.printable(" → ".join(found.path)))
    lines += [f"  {table.printable(fix.title)}: {table.printable(fix.code)}" for fix in found.fixes]
    return lines


def stopped(verdict: Verdict) -> str:
    """Why the run ended early, or nothing."""
    if verdict.failure is None:
        return ""
    return f"The run stopped{table.stopped_in(verdict)}: {table.printable(verdict.failure.message)}"


def write(verdict: Verdict, sources: Mapping[int, str], stream: TextIO) -> None:
    """Writes the report to a stream, in colours where it is a terminal and rich is installed."""
    plain = report(verdict, sources)
    if stream.isatty():
        try:
            _write_coloured(plain, stream)
            return
        except ImportError:
            pass
    stream.write(plain + "\n")


def _write_coloured(plain: str, stream: TextIO) -> None:
    from rich.console import Console
    from rich.text import Text

    # A Text is data: brackets in a user's name are not markup.
    text = Text(plain)
    for word, colour in _COLOURS.items():
        text.highlight_regex(rf"(?m)^(?:XL\d{{3}} | *\d+  ){word}\b", colour)
    text.highlight_regex(r"(?m)^cell .*$", "bold")
    text.highlight_regex(r"%(?:xdel|release_cache)\b.*$", "bold")
    Console(file=stream, soft_wrap=True).print(text)
