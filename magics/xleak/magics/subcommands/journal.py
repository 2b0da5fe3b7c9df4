"""`%xleak journal`: what was released, when, why, and how many bytes came back."""

from __future__ import annotations

import json
from typing import Any

from IPython.core.error import UsageError
from traitlets import TraitError

from xleak.cell_names import name_of_run
from xleak.magics.live import live_watcher
from xleak.render import table
from xleak.render.units import human_bytes
from xleak.shell.journal import Entry

HELP = {
    "journal": "what was released, when, why and what came back",
    "journal --json": "the same for programs",
    "journal --undo N": "put back the output entry that entry N of the journal released",
    "journal --keep-undo N": "keep the last N output entries that are released by themselves",
}
_USAGE = "%xleak journal takes --json, --undo N, --keep-undo N or nothing"


def run(arguments: list[str]) -> None:
    """Shows the journal, or does what is asked of it."""
    match arguments:
        case []:
            print(listed(live_watcher().journal.entries))
        case ["--json"]:
            entries = [shape(entry) for entry in live_watcher().journal.entries]
            print(json.dumps(entries, indent=2))
        case ["--undo", number] if _is_count(number):
            print(_undo(int(number)))
        case ["--keep-undo", number] if _is_count(number):
            print(_keep(int(number)))
        case _:
            raise UsageError(f"{_USAGE}, got {' '.join(arguments)!r}")


def _is_count(text: str) -> bool:
    return text.isdecimal() and len(text) < 10


def listed(entries: list[Entry]) -> str:
    """The journal as text, the latest entry last; says so where it is empty."""
    return "\n".join(map(_line, entries)) or "Nothing was released in this session."


def shape(entry: Entry) -> dict[str, Any]:
    """An entry as JSON. Sizes in bytes; kept_bytes: what is kept for undo, about."""
    return {
        "number": entry.number,
        "time": entry.time.isoformat(timespec="seconds"),
        "cell": entry.cell,
        "who": entry.who,
        "what": entry.what,
        "why": entry.why,
        "freed": entry.freed,
        "kept_bytes": entry.kept_bytes,
        "undo": entry.undo,
        "undone": entry.undone,
    }


def _line(entry: Entry) -> str:
    when = f"{entry.time:%H:%M:%S}"
    return (
        f"{entry.number:>3}  {when}  {name_of_run(entry.cell)}  {entry.who}: {table.printable(entry.what)}"
        f" ({table.printable(entry.why)}), {_came(entry)}"
    )


def _came(entry: Entry) -> str:
    if entry.undone:
        return "undone"
    if entry.undo:
        return f"about {human_bytes(entry.kept_bytes)} kept for undo"
    sizes = ", ".join(f"{human_bytes(size)} to {owner}" for owner, size in entry.freed.items())
    return f"came back: {sizes}" if sizes else "no allocator's counter moved"


def _undo(number: int) -> str:
    try:
        entry = live_watcher().journal.undo(number)
    except ValueError as error:
        raise UsageError(f"%xleak journal: {error}") from None
    live_watcher().refresh()
    return f"{entry.what} is back"


def _keep(number: int) -> str:
    try:
        live_watcher().settings.keep_undo = number
    except TraitError as error:
        raise UsageError(f"%xleak journal --keep-undo: {error}") from None
    if number == 0:
        return "What is released is freed at once."
    return f"The last {number} output entries that are released by themselves are kept for undo."
