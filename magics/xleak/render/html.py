"""The report as one HTML file that needs no network, and its table as a fragment for a notebook."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from xleak import resources
from xleak.cell_names import Naming
from xleak.render import account as accounts
from xleak.render import bars, chart, postmortem, table
from xleak.render.escape import escape
from xleak.render.units import human_bytes, human_seconds, signed_bytes
from xleak.verdict import Cell, Finding, Verdict

_CONTEXT_LINES = 2
_LINE_WIDTH = 160
_LEGEND = (
    '<p class="legend"><span class="swatch kept"></span>kept<span class="swatch freed"></span>'
    'given back<span class="swatch peak"></span>peak above the cell’s start</p>'
)


def page(verdict: Verdict, sources: Mapping[int, str]) -> str:
    """A whole document. `sources`: the code of a cell by its index."""
    title = _data(verdict.source.path or "This session")
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title} · xleak</title>"
        f"<style>{_css('report.css')}{_css('page.css')}</style></head>"
        f'<body><main class="xleak"><p class="brand">xleak</p><h1>{title}</h1>'
        f"{_lead(verdict)}{_stats(verdict)}{_postmortems(verdict)}{_findings(verdict, sources)}"
        f"{_chart(verdict)}<h2>Cells</h2>{_cells(verdict, sources)}{_account(verdict)}{_footer(verdict)}</main></body>"
        "</html>\n"
    )


def fragment(verdict: Verdict, sources: Mapping[int, str]) -> str:
    """The table of cells with its totals, in the colours of the page that it is put into."""
    return (
        f'<style>{_css("report.css")}</style><div class="xleak">{_cells(verdict, sources)}'
        f'<p class="legend">{_data(table.totals(verdict))}</p>{_devices(verdict)}'
        f"{chart.fragment(chart.chart_of(verdict))}</div>"
    )


def findings_fragment(
    head: str,
    shown: Sequence[Finding],
    sources: Mapping[int, str],
    below: Sequence[str],
    named: Naming,
) -> str:
    """Findings as cards between lines of text, in the colours of the page that it is put into."""
    cards = "".join(_finding(found, sources, named, link=False) for found in shown)
    said = [line for part in below for line in part.splitlines()]
    lines = "".join(f'<p class="legend">{_message(line)}</p>' for line in said)
    return (
        f'<style>{_css("report.css")}</style><div class="xleak"><p>{_data(head)}</p>'
        f"{cards}{lines}</div>"
    )


def legend(line: str) -> str:
    """A line below tables; nothing where it is empty."""
    return f'<div class="xleak"><p class="legend">{_data(line)}</p></div>' if line else ""


def _css(name: str) -> str:
    return resources.style(name)


def _data(text: str) -> str:
    # Whatever came from the user's code or file names is text, not markup.
    return escape(table.printable(text))


def _devices(verdict: Verdict) -> str:
    lines = table.devices(verdict).splitlines()
    return "".join(f'<p class="legend">{_data(line)}</p>' for line in lines)


def _lead(verdict: Verdict) -> str:
    line = _data(table.verdict_line(verdict.findings))
    beside = "" if verdict.findings else _data(table.kept_openly(verdict))
    lead = f'<p class="lead">{line}</p>' + (f"<p>{beside}.</p>" if beside else "")
    if verdict.failure is None:
        return lead
    at = table.stopped_in(verdict)
    return f'{lead}<p class="lead error">Stopped{at}: {_data(verdict.failure.message)}</p>'


def _stats(verdict: Verdict) -> str:
    ran = [cell for cell in table.users_cells(verdict) if cell.status != "not_run"]
    values = {
        "Releasable": human_bytes(verdict.summary.releasable_bytes),
        "Process grew by": signed_bytes(verdict.summary.kept_bytes),
        "Peak of the process": human_bytes(verdict.summary.peak_bytes),
        "Time in cells": human_seconds(sum(cell.seconds or 0.0 for cell in ran)),
    }
    tiles = "".join(f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in values.items())
    return f'<dl class="stats">{tiles}</dl>'


def _postmortems(verdict: Verdict) -> str:
    told = [cell.postmortem for cell in verdict.cells if cell.postmortem is not None]
    cards = "".join(postmortem.card(it, verdict.name_of) for it in told)
    return f"<h2>Out of memory</h2>{cards}" if cards else ""


def _findings(verdict: Verdict, sources: Mapping[int, str]) -> str:
    if not verdict.findings:
        return ""
    cards = "".join(
        _finding(found, sources, verdict.name_of, link=True) for found in verdict.findings
    )
    return f"<h2>Findings</h2>{cards}"


def _finding(found: Finding, sources: Mapping[int, str], named: Naming, link: bool) -> str:
    cause = found.cause_cell if found.cause_cell is not None else found.cell
    title = _data(found.slug.replace("_", " ").capitalize())
    where = _data(table.where(found, named).capitalize())
    if link:
        where = f'<a href="#cell-{cause}">{where}</a>'
    path = f"<p>Held by {_data(' → '.join(found.path))}</p>" if found.path else ""
    return (
        f'<article class="finding {_data(found.severity)}"><header><h3>{title}</h3>'
        f'<span class="badge">{_data(found.code)} {_data(found.severity)}</span>'
        f'<span class="size">{human_bytes(found.bytes)}</span></header>'
        f'<p class="where">{where}</p>'
        f"<p>{_message(found.message)}</p>{_snippet(sources.get(cause, ''), found.line)}"
        f"{path}{_fixes(found)}</article>"
    )


def _message(text: str) -> str:
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", _data(text))


def _fixes(found: Finding) -> str:
    return "".join(
        f'<div class="fix"><span>{_data(fix.title)}</span><code>{_data(fix.code)}</code></div>'
        for fix in found.fixes
    )


def _snippet(source: str, guilty: int | None) -> str:
    lines = source.rstrip().splitlines()
    if not lines:
        return ""
    # Where no line is known, the last ones: they make the value that a cell shows.
    middle = guilty if guilty is not None else len(lines) - _CONTEXT_LINES
    first = max(1, middle - _CONTEXT_LINES)
    shown = enumerate(lines[first - 1 : middle + _CONTEXT_LINES], start=first)
    return f"<pre>{''.join(_code_line(at, text, at == guilty) for at, text in shown)}</pre>"


def _code_line(number: int, text: str, guilty: bool) -> str:
    mark = ' class="guilty"' if guilty else ""
    line = _data(table.shorten(text.expandtabs(4), _LINE_WIDTH))
    return f"<span{mark}><i>{number}</i><code>{line}</code></span>"


def _chart(verdict: Verdict) -> str:
    drawn = chart.fragment(chart.chart_of(verdict))
    return f"<h2>Kept, by cell and holder</h2>{drawn}" if drawn else ""


def _account(verdict: Verdict) -> str:
    return accounts.fragment(verdict.account) if verdict.account else ""


def _cells(verdict: Verdict, sources: Mapping[int, str]) -> str:
    shown, own = table.users_cells(verdict), table.own_cells(verdict)
    if not own:
        return _table(shown, sources) + _LEGEND
    apart = f"<summary>{_data(table.own_line(verdict))}</summary>{_table(own, sources)}"
    return f'{_table(shown, sources)}{_LEGEND}<details class="own">{apart}</details>'


def _table(cells: Sequence[Cell], sources: Mapping[int, str]) -> str:
    on = bars.scale(cells)
    device = any(cell.devices for cell in cells)
    rows = table.rows(cells, sources)
    body = "".join(_row(cell, row, on, device) for cell, row in zip(cells, rows, strict=True))
    head = (
        '<th class="number">cell</th><th class="wide">status</th><th class="number wide">time</th>'
        '<th class="number">kept</th><th></th><th class="number wide">process</th><th class="number">peak</th>'
        + ('<th class="number wide">device</th>' if device else "")
        + '<th class="source wide">source</th>'
    )
    return (
        f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
        "</div>"
    )


def _row(cell: Cell, row: tuple[str, ...], on: bars.Scale, device: bool) -> str:
    number, status, seconds, kept, process, peak, on_device, source = (_data(text) for text in row)
    return (
        f'<tr id="cell-{cell.index}" class="status-{cell.status}"><td class="number">{number}</td>'
        f'<td class="wide">{status}</td><td class="number wide">{seconds}</td>'
        f'<td class="number">{kept}</td><td class="bar">{bars.svg(cell, on)}</td>'
        f'<td class="number wide">{process}</td><td class="number">{peak}</td>'
        + (f'<td class="number wide">{on_device}</td>' if device else "")
        + f'<td class="source wide"><code>{source}</code></td></tr>'
    )


def _footer(verdict: Verdict) -> str:
    versions = ", ".join(f"{name} {number}" for name, number in verdict.source.versions.items())
    return f"<footer>{_data(versions)}. A ? is a number that could not be had.</footer>"
