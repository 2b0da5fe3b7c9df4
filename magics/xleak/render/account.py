"""Where the memory of the process is, as a table."""

from __future__ import annotations

from xleak.render import columns
from xleak.render.units import human_bytes
from xleak.verdict import Account

_TITLE = "where the memory of the process is"
_NUMERIC = frozenset({"bytes"})
_PARTS = {
    "names_bytes": "names lead to it",
    "shown_bytes": "shown outputs and the last traceback",
    "unnamed_bytes": "made by cells, and no name leads to it",
    "native_bytes": "made by cells, and no Python object shows it",
    "imports_bytes": "libraries and what their imports made",
    "small_bytes": "small blocks of libraries",
    "free_bytes": "free, kept by allocators for later",
    "shared_bytes": "shared with other processes",
    "unknown_bytes": "unknown",
}


def plain(account: Account) -> str:
    """One line for each part that is not empty, their sum, and what other processes of the session take."""
    return columns.plain(("bytes", _TITLE), _rows(account), _NUMERIC)


def fragment(account: Account) -> str:
    """The same as HTML, in the style that the report's fragment brings."""
    return columns.fragment(_TITLE.capitalize(), ("bytes", "part"), _rows(account), _NUMERIC)


def _rows(account: Account) -> list[tuple[str, ...]]:
    sizes = {text: int(getattr(account, name)) for name, text in _PARTS.items()}
    rows: list[tuple[str, ...]] = [
        (human_bytes(size), text) for text, size in sizes.items() if size
    ]
    rows.append((human_bytes(account.resident_bytes), "all of it"))
    if children := account.child_processes_bytes:
        rows.append((human_bytes(children), "processes that it started, beside it"))
    return rows
