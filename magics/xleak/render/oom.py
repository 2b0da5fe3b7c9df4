"""The page of `%xleak oom` as plain text and as HTML."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xleak import resources
from xleak.cell_names import name_of_run
from xleak.render import postmortem
from xleak.render.postmortem import listed, markup
from xleak.render.table import printable
from xleak.render.units import human_bytes

if TYPE_CHECKING:
    from xleak.magics.oom_page import Allocator, Check, OomPage

_ANSWERS = {True: "yes", False: "no", None: "unknown"}


def plain(page: OomPage) -> str:
    """Allocators, the usual causes, the last post-mortem."""
    parts = [
        "\n".join([it.allocator, *(f"  {line}" for line in _state(it))]) for it in page.allocators
    ]
    checks = [f"  {_ANSWERS[it.found]:<8} {printable(_said(it))}" for it in page.checks]
    parts.append("\n".join(["usual causes", *checks]))
    parts += [f"last time\n{postmortem.plain(page.last, name_of_run)}"] if page.last else []
    return "\n\n".join(parts)


def fragment(page: OomPage) -> str:
    """The same in the colours of the page that it is put into."""
    style = resources.style("report.css")
    parts = []
    for it in page.allocators:
        parts.append(f"<p><b>{markup(it.allocator)}</b></p>")
        parts += [f'<p class="legend">{markup(line)}</p>' for line in _state(it)]
    rows = "".join(
        f"<tr><td>{_ANSWERS[it.found]}</td><td>{markup(_said(it))}</td></tr>" for it in page.checks
    )
    parts.append(f'<div class="scroll"><table><tbody>{rows}</tbody></table></div>')
    parts += [postmortem.card(page.last, name_of_run)] if page.last else []
    return f'<style>{style}</style><div class="xleak">{"".join(parts)}</div>'


def _state(on: Allocator) -> list[str]:
    sizes = {
        "allocated": on.allocated_bytes,
        "reserved": on.reserved_bytes,
        "peak": on.peak_bytes,
        "free": on.free_bytes,
    }
    lines = [", ".join(f"{human_bytes(size)} {name}" for name, size in sizes.items())]
    if on.names:
        lines.append(f"names: {listed(on.names)}")
    if on.cells:
        cells = ", ".join(
            f"{name_of_run(it.index)} kept {human_bytes(it.kept_bytes)}" for it in on.cells
        )
        lines.append(f"cells: {cells}")
    by = f" with `{on.fix}`" if on.fix else ""
    return [*lines, f"releasable: {human_bytes(on.releasable_bytes)}{by}"]


def _said(check: Check) -> str:
    evidence = f": {check.evidence}" if check.evidence else ""
    fix = f" Fix: `{check.fix}`" if check.fix else ""
    code = "" if check.code in check.question else f"{check.code} "
    return f"{code}{check.question}{evidence}{fix}"
