"""Numbers as people read them; None is shown as unknown, never as zero."""

from __future__ import annotations

UNKNOWN = "?"
_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def human_bytes(size: int | None) -> str:
    """A size such as `64 MiB` or `1.5 GiB`; `?` where it is unknown."""
    if size is None:
        return UNKNOWN
    value, unit = float(abs(size)), 0
    # 1023.95 KiB would be shown as 1024 KiB.
    while value >= 1023.95 and unit < len(_UNITS) - 1:
        value /= 1024
        unit += 1
    digits = f"{value:.1f}".removesuffix(".0") if value < 100 else f"{value:.0f}"
    return f"{'-' if size < 0 else ''}{digits} {_UNITS[unit]}"


def signed_bytes(size: int | None) -> str:
    """A change such as `+64 MiB`; `0 B` has no sign."""
    return f"+{human_bytes(size)}" if size is not None and size > 0 else human_bytes(size)


def human_seconds(seconds: float | None) -> str:
    """A time such as `0.42 s` or `3 min 5 s`; `?` where it is unknown."""
    if seconds is None:
        return UNKNOWN
    if seconds < 99.95:
        return f"{seconds:.2f} s" if seconds < 9.995 else f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s"


def counted(number: int, noun: str) -> str:
    """`1 cell`, `2 cells`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
