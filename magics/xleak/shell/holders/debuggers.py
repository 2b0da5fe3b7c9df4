"""Debuggers that keep the frames they were last in."""

from __future__ import annotations

from collections.abc import Iterator

from xleak import _native
from xleak.shell.fields import instances
from xleak.shell.holders.look import REPORTED_BYTES, Look, may_be_released
from xleak.shell.holders.origin import is_of_the_user, module_of

# How the user reaches the one that `%debug` and `%pdb` open.
_OF_THE_SHELL = "get_ipython().InteractiveTB.pdb"


def debuggers(look: Look) -> Iterator[_native.Holder]:
    """Those that a name leads to, and the shell's own."""
    for debugger, _ in instances(look.live, "bdb", "Bdb"):
        held = look.heap.retained_by(debugger)
        # A class of the user's may keep more than frames.
        if held < REPORTED_BYTES or is_of_the_user(module_of(type(debugger))):
            continue
        is_shells = debugger is shells_debugger(look)
        way = _OF_THE_SHELL if is_shells else look.heap.way_to(debugger)
        if is_shells or may_be_released(way):
            name = _native.type_name(debugger)
            release = (
                f'{way}.reset(); vars({way}).pop("curframe_locals", None); '
                '__import__("gc").collect();'
            )
            yield _native.Holder("debugger", way, held, None, name, 1, release)


def shells_debugger(look: Look) -> object:
    """The debugger that IPython keeps for the next error; None before the first."""
    return vars(look.watcher.shell.InteractiveTB).get("pdb")
