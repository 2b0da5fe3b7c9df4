"""What each cell kept, as one bar a cell: a piece for each holder that findings name, and the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xleak.cell_names import cell_name
from xleak.render.escape import escape
from xleak.render.table import holder_of, printable, shorten, users_cells
from xleak.render.units import counted, human_bytes
from xleak.verdict import Cell, Finding, Verdict

# Less is a stroke nobody sees.
_LEAST_BYTES = 1 << 20
_CELLS_SHOWN = 16
# As many colours as can be told apart; further holders share one.
_COLOURS = 6
_OTHERS = "other holders"
_REST = "what else it kept"
_NAME_WIDTH = 32

_ROW, _BAR, _LEFT, _WIDTH, _TOTAL = 24, 14, 64, 560, 720
_TEXT_WIDTH = 30


@dataclass(frozen=True)
class Bar:
    """One cell. pieces: (holder, bytes), the same order in every bar. rest: of what the process
    grew by, what no finding tells."""

    cell: int
    name: str
    pieces: list[tuple[str, int]]
    rest: int

    @property
    def total(self) -> int:
        """Its length in bytes."""
        return sum(size for _, size in self.pieces) + self.rest


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
    rest = max(0, (cell.host.kept_bytes or 0) - sum(sizes.values()))
    return Bar(cell.index, cell_name(cell.index, cell.execution_count), pieces, rest)


# --- as text -------------------------------------------------------------------------------------


def plain(chart: Chart) -> str:
    """One line a cell: a bar, its length and its pieces. Empty without bars."""
    longest = max((bar.total for bar in chart.bars), default=1)
    lines = [f"{bar.name:<9} {_strokes(bar, longest)}  {_told(bar)}" for bar in chart.bars]
    return "\n".join([*lines, *_left_out(chart)])


def _strokes(bar: Bar, longest: int) -> str:
    held = round((bar.total - bar.rest) / longest * _TEXT_WIDTH)
    whole = max(1, round(bar.total / longest * _TEXT_WIDTH))
    return f"{'█' * held}{'░' * (whole - held)}".ljust(_TEXT_WIDTH)


def _told(bar: Bar) -> str:
    pieces = [f"{_shown(holder)} {human_bytes(size)}" for holder, size in bar.pieces]
    pieces += [f"{_REST} {human_bytes(bar.rest)}"] if bar.rest else []
    return f"{human_bytes(bar.total):>9}: {', '.join(pieces)}"


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
    for holder, size in [*bar.pieces, (_REST, bar.rest)]:
        width = size / longest * _WIDTH
        if width:
            title = escape(f"{bar.name}: {_shown(holder)} {human_bytes(size)}")
            marks += (
                f'<rect class="{_colour(holder, chart)}" x="{x:.1f}" y="{top + 5}" '
                f'width="{width:.1f}" height="{_BAR}"><title>{title}</title></rect>'
            )
        x += width
    middle = top + _ROW // 2 + 4
    return (
        f'<text class="end" x="{_LEFT - 8}" y="{middle}">{bar.name}</text>{marks}'
        f'<text x="{x + 8:.1f}" y="{middle}">{human_bytes(bar.total)}</text>'
    )


def _legend(chart: Chart) -> str:
    names = [*chart.holders, *([_REST] if any(bar.rest for bar in chart.bars) else [])]
    return "".join(
        f'<span><i class="swatch {_colour(name, chart)}"></i>{escape(_shown(name))}</span>'
        for name in names
    )


def _colour(holder: str, chart: Chart) -> str:
    return f"holder-{chart.holders.index(holder)}" if holder in chart.holders else "rest"
