"""`%xleak`: what is not one of the other magics."""

from __future__ import annotations

import sys

from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_magic, magics_class

from xleak import _native
from xleak.magics.live import live_watcher
from xleak.render.units import human_bytes
from xleak.shell import tensors
from xleak.shell.settings import POLICIES, in_words
from xleak.verdict import versions

_HELP = """\
%xleak policy          show whether cells are watched
%xleak policy off      stop watching: no accounting, no findings
%xleak policy report   watch and report (the default)
%xleak policy ask      the same, and the panel asks whether to release
%xleak policy auto     release what no name reaches once a cell has ended
%xleak env             versions and what is loaded

%leakcheck, %memreport, %xdel and %release_cache do the rest."""


@magics_class
class XleakMagic(Magics):
    """Subcommands by their first word."""

    @line_magic
    def xleak(self, line: str) -> None:
        """Show or set how xleak works: policy, env; alone it prints help."""
        command, *arguments = line.split() or ["help"]
        if command not in self._subcommands:
            known = ", ".join(sorted(self._subcommands))
            raise UsageError(f"%xleak has no subcommand {command!r}; it has {known}")
        self._subcommands[command](self, arguments)

    def _show_help(self, arguments: list[str]) -> None:
        print(_HELP)

    def _policy(self, arguments: list[str]) -> None:
        if arguments and (len(arguments) > 1 or arguments[0] not in POLICIES):
            got = " ".join(arguments)
            raise UsageError(f"%xleak policy takes {in_words(POLICIES)}, got {got!r}")
        if arguments:
            live_watcher().settings.policy = arguments[0]
        print(f"policy: {live_watcher().settings.policy}")

    def _environment(self, arguments: list[str]) -> None:
        if arguments:
            raise UsageError(f"%xleak env takes no arguments, got {' '.join(arguments)!r}")
        print("\n".join(f"{name:<8} {value}" for name, value in environment().items()))

    _subcommands = {"help": _show_help, "policy": _policy, "env": _environment}


def environment() -> dict[str, str]:
    """What a report of a bug should hold: versions, kernel, memory, rules. No paths."""
    torch = {"torch": "not loaded"}
    if "torch" in sys.modules:
        torch = {"tensors": tensors.why_unknown() or "counted"}
    return {
        **versions(),
        **torch,
        "kernel": "xleak" if "xleak._kernel" in sys.modules else "another, by %load_ext xleak",
        "memory": human_bytes(_native.ram_bytes()),
        "rules": ", ".join(smell.code for smell in _native.smells()),
        "policy": live_watcher().settings.policy,
    }
