"""The ledger of large blocks, switched on and off."""

from __future__ import annotations

from xleak import _native

_SWITCHED_OFF = (
    "the ledger is off. Run `%config Xleak.ledger = True` before the cells that make it, and see that XLEAK_LEDGER is "
    "not 0."
)
_lines_unknown = ""


def use_ledger(wanted: bool) -> None:
    """From here on blocks of 64 KiB and more are known, with the lines that made them; or they no longer are."""
    global _lines_unknown
    if not wanted:
        _native.uninstall_ledger()
        _lines_unknown = _SWITCHED_OFF
        return
    try:
        _native.install_line_reader()
        _lines_unknown = ""
    except _native.MonitorError as error:
        _lines_unknown = str(error)
    _native.install_ledger()


def why_lines_are_unknown() -> str:
    """A reason; empty where lines are known."""
    return _lines_unknown or _native.ledger_state().reason
