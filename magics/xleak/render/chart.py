"""What each cell kept, as one bar a cell: a piece for each holder that findings name, for what is alive beside them,
and for the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xleak.cell_names import cell_name
from xleak.render.escape import escape
from xleak.render.table import holder_of, printable, root_of, shorten, users_cells
from xleak.render.units import counted, human_bytes
from xleak.verdict import Alive, Cell, Finding, Owner, Verdict

# Less is a stroke nobody sees.
_LEAST_BYTES = 1 << 20
_CELLS_SHOWN = 16
# As many colours as can be told apart; further holders share one.
_COLOURS = 6
_OTHERS = "other holders"
# What a piece of it is that no block of 64 KiB and more makes up.
_IMPORTS = "imports"
_SMALL = "small objects"
_REST = "imports, " + _SMALL
_ALIVE = "what else is alive"
_NO_NAME: dict[Owner, str] = {
    "names": "other names",
    "shown": "other outputs",
    "unnamed": "no name",
    "native": "native code",
}
_NAME_WIDTH = 32

_ROW, _BAR, _LEFT, _WIDTH, _TOTAL = 24, 14, 64, 560, 720
_TEXT_WIDTH = 30


@dataclass(frozen=True)
class Bar:
    """One cell. pieces: (holder, bytes) of findings, the same order in every bar. alive: (owner, bytes) of what else it
    made that is in memory, where that is known. rest: what it kept beside, and why."""

    cell: int
    name: str
    pieces: list[tuple[str, int]]
    rest: int
    alive: list[tuple[str, int]] = field(default_factory=list)
    of_imports: bool = False

    @property
    def held(self) -> int:
        """What findings tell, in bytes."""
        return sum(size for _, size in self.pieces)

    @property
    def total(self) -> int:
        """Its length in bytes."""
        return self.held + sum(size for _, size in self.alive) + self.rest


@dataclass(frozen=True)
class Chart:
    """The bars in the order of their cells; `holders`: of all bars, most first."""

    bars: list[Bar]
    holders: list[str]
    cells_left_out: int


def chart_of(verdict: Verdict) -> Chart:
    """The chart of a session; without bars where no finding tells bytes."""
    told = [found for found in verdict.findings if found.bytes]
    holders = _holders(told)
    ran = [cell for cell in users_cells(verdict) if cell.status != "not_run"]
    bars = [_bar(cell, told, holders) for cell in ran]
    large = [bar for bar in bars if bar.total >= _LEAST_BYTES] if told else []
    shown = sorted(large, key=lambda bar: bar.total, reverse=True)[:_CELLS_SHOWN]
    shown.sort(key=lambda bar: bar.cell)
    return Chart(shown, holders, len(large) - len(shown))


def _holders(told: Sequence[Finding]) -> list[str]:
    sizes: dict[str, int] = {}
    for found in told:
        sizes[holder_of(found)] = sizes.get(holder_of(found), 0) + (found.bytes or 0)
    names = sorted(sizes, key=lambda name: sizes[name], reverse=True)
    return names if len(names) <= _COLOURS else [*names[: _COLOURS - 1], _OTHERS]


def _bar(cell: Cell, told: Sequence[Finding], holders: Sequence[str]) -> Bar:
    sizes = dict.fromkeys(holders, 0)
    for found in told:
        if (found.cause_cell or found.cell) == cell.index:
            name = holder_of(found)
            sizes[name if name in sizes else _OTHERS] += found.bytes or 0
    pieces = [(holder, size) for holder, size in sizes.items() if size]
    alive = _beside(cell.alive or [], dict(pieces))
    there = sum(sizes.values()) + sum(size for _, size in alive)
    return Bar(
        cell.index,
        cell_name(cell.index, cell.execution_count),
        pieces,
        max(0, (cell.host.bar_bytes or 0) - _freed_since(cell) - there),
        alive,
        any(it.owner == "imports" for it in cell.alive or []),
    )


def _freed_since(cell: Cell) -> int:
    """What of its large blocks has gone since its end, in bytes."""
    at_end, now = cell.host.allocated_alive_bytes, cell.alive_now_bytes
    return 0 if at_end is None or now is None else max(0, at_end - now)


def _beside(alive: Sequence[Alive], told: dict[str, int]) -> list[tuple[str, int]]:
    """(owner, bytes) of what is alive and in no finding. told: bytes of findings by holder."""
    owned = [(it, root_of(it.name or "")) for it in alive if it.owner != "imports"]
    left = dict(told)
    # What hooks, registries and native code have is behind no name.
    elsewhere = sum(left.pop(name) for name in told.keys() - {root for _, root in owned})
    beside = []
    for it, root in sorted(owned, key=lambda it: it[0].name is not None):
        known = left.get(root, elsewhere)
        size = max(0, it.bytes - known)
        if root in left:
            left[root] -= it.bytes - size
        else:
            elsewhere -= it.bytes - size
        if size:
            name = it.name or _NO_NAME[it.owner]
            beside.append((f"more of {name}" if root in told else name, size))
    return sorted(beside, key=lambda it: it[1], reverse=True)


# --- as text -------------------------------------------------------------------------------------


def plain(chart: Chart) -> str:
    """One line a cell: a bar, its length and its pieces. Empty without bars."""
    longest = max((bar.total for bar in chart.bars), default=1)
    lines = [f"{bar.name:<9} {_strokes(bar, longest)}  {_told(bar)}" for bar in chart.bars]
    return "\n".join([*lines, *_left_out(chart)])


def _strokes(bar: Bar, longest: int) -> str:
    held = round(bar.held / longest * _TEXT_WIDTH)
    whole = max(1, round(bar.total / longest * _TEXT_WIDTH))
    return f"{'█' * held}{'░' * (whole - held)}".ljust(_TEXT_WIDTH)


def _told(bar: Bar) -> str:
    pieces = [f"{_shown(holder)} {human_bytes(size)}" for holder, size, _ in _parts(bar)]
    return f"{human_bytes(bar.total):>9}: {', '.join(pieces)}"


def _parts(bar: Bar) -> list[tuple[str, int, str]]:
    """(what, bytes, kind) of all its pieces; what is less than a stroke is one of the rest."""
    alive = [(name, size, "alive") for name, size in bar.alive if size >= _LEAST_BYTES]
    rest = bar.total - bar.held - sum(size for _, size, _ in alive)
    why = _IMPORTS if bar.of_imports else _SMALL
    found = [(holder, size, "finding") for holder, size in bar.pieces]
    return [*found, *alive, *([(why, rest, "rest")] if rest else [])]


def _left_out(chart: Chart) -> list[str]:
    more = chart.cells_left_out
    return [f"and {counted(more, 'cell')} that kept less"] if more else []


def _shown(holder: str) -> str:
    return printable(shorten(holder, _NAME_WIDTH))


# --- as HTML -------------------------------------------------------------------------------------


def fragment(chart: Chart) -> str:
    """The bars as inline SVG and their legend, in the style of report.css. Empty without bars."""
    if not chart.bars:
        return ""
    height = _ROW * len(chart.bars)
    longest = max(bar.total for bar in chart.bars)
    rows = "".join(_row(bar, at * _ROW, longest, chart) for at, bar in enumerate(chart.bars))
    left_out = "".join(f'<p class="legend">{line}</p>' for line in _left_out(chart))
    return (
        f'<figure class="chart"><svg viewBox="0 0 {_TOTAL} {height}" role="img" '
        f'aria-label="Kept bytes by cell and holder">{rows}</svg>'
        f"<figcaption>{_legend(chart)}</figcaption>{left_out}</figure>"
    )


def _row(bar: Bar, top: int, longest: int, chart: Chart) -> str:
    x, marks = float(_LEFT), ""
    for what, size, kind in _parts(bar):
        width = size / longest * _WIDTH
        colour = f"holder-{chart.holders.index(what)}" if kind == "finding" else kind
        title = escape(f"{bar.name}: {_shown(what)} {human_bytes(size)}")
        marks += (
            f'<rect class="{colour}" x="{x:.1f}" y="{top + 5}" '
            f'width="{width:.1f}" height="{_BAR}"><title>{title}</title></rect>'
        )
        x += width
    middle = top + _ROW // 2 + 4
    return (
        f'<text class="end" x="{_LEFT - 8}" y="{middle}">{bar.name}</text>{marks}'
        f'<text x="{x + 8:.1f}" y="{middle}">{human_bytes(bar.total)}</text>'
    )


def _legend(chart: Chart) -> str:
    swatches = [(name, f"holder-{at}") for at, name in enumerate(chart.holders)]
    swatches += [(_ALIVE, "alive")] if any(bar.alive for bar in chart.bars) else []
    swatches += [(_REST, "rest")] if any(bar.rest for bar in chart.bars) else []
    return "".join(
        f'<span><i class="swatch {colour}"></i>{escape(_shown(name))}</span>'
        for name, colour in swatches
    )
