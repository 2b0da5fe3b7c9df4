"""What a panel may have done. Each gives (freed, lines) of the answer `done`, or raises Refused."""

from __future__ import annotations

import ast
import contextlib
import symtable
import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

from IPython.core.error import UsageError

from xleak import _native
from xleak.magics import release_cache as release_cache_magic
from xleak.magics import xdel as xdel_magic
from xleak.originals import threading
from xleak.panel.requests import Refused
from xleak.shell.counters import read_counters, returned
from xleak.shell.release import forget
from xleak.shell.release_steps import release_cache
from xleak.shell.watcher import printable

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from xleak.shell.watcher import Watcher

Outcome = tuple[dict[str, int], list[str]]


def xdel(name: str, dry_run: bool) -> Outcome:
    """As `%xdel NAME`."""
    try:
        result = forget(name, dry_run=dry_run)
    except ValueError as error:
        raise Refused(f"{error}.") from None
    return _sizes(result.freed), xdel_magic.report(result).splitlines()


def release(dry_run: bool) -> Outcome:
    """As `%release_cache`."""
    steps = release_cache(dry_run=dry_run)
    freed: Counter[str] = Counter()
    for step in steps:
        freed.update(step.freed)
    return _sizes(freed), [release_cache_magic.report(step, dry_run) for step in steps]


def undo(watcher: Watcher, number: int) -> str:
    """As `%xleak journal --undo N`; what to read."""
    try:
        entry = watcher.journal.undo(number)
    except ValueError as error:
        why = str(error)
        raise Refused(f"{why[:1].upper()}{why[1:]}.") from None
    watcher.refresh()
    return f"{entry.what} is back"


def run_fix(shell: InteractiveShell, fix: _native.Fix) -> Outcome:
    """Runs a fix as a cell would, but it is none: no history, no Out, no prompt, no name left."""
    user_ns = shell.user_ns
    made: list[str] = []
    shadowed: dict[str, Any] = {}
    before = read_counters()
    try:
        source = shell.transform_cell(fix.code)
        entries, imported = _native.entries_of(user_ns), set(_imported(source))
        # What a thread of the user's names meanwhile is the user's.
        made = [name for name in _bound(source) if name not in entries]
        shadowed = {name: value for name, value in entries.items() if name in imported}
        del entries
        code = compile(source, "<xleak: a fix>", "exec")
        with contextlib.redirect_stdout(_WithoutThisThread(sys.stdout)):
            exec(code, shell.user_global_ns, user_ns)
    except BaseException as error:
        raise Refused(_failure(fix, error)) from None
    finally:
        for name in made:
            user_ns.pop(name, None)
        user_ns.update(shadowed)
    freed = returned(before, read_counters())
    came = ", ".join(f"{_native.human(size)} to {owner}" for owner, size in freed.items())
    return freed, [f"came back: {came}" if came else "no allocator's counter moved"]


def _failure(fix: _native.Fix, error: BaseException) -> str:
    """What is said of a fix that raised. As with a cell: whatever the user's code raises ends here."""
    # A magic says in a sentence what it lacks: what was found has gone meanwhile.
    if type(error) is UsageError and len(error.args) == 1 and type(error.args[0]) is str:
        return printable(f"{error.args[0].removesuffix('.')}.")
    # The text of others is the user's code, too.
    return f"The fix failed with {printable(_native.type_name(error))}: `{fix.code}`."


def _bound(source: str) -> list[str]:
    """The names that a fix gives."""
    symbols = symtable.symtable(source, "<xleak: a fix>", "exec").get_symbols()
    return [it.get_name() for it in symbols if it.is_assigned() or it.is_imported()]


def _imported(source: str) -> list[str]:
    """The modules that a fix imports, by the names that it gives them."""
    imports = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Import)]
    return [it.asname or it.name for node in imports for it in node.names]


def _sizes(freed: dict[str, int]) -> dict[str, int]:
    return {owner: size for owner, size in freed.items() if size > 0}


class _WithoutThisThread:
    """Standard output, but for what a fix prints: it would land under a cell that has ended."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._thread = threading.get_ident()

    def write(self, text: str) -> int:
        if threading.get_ident() == self._thread:
            return len(text)
        return int(self._stream.write(text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
