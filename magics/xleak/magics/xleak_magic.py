"""`%xleak`: what is not one of the other magics."""

from __future__ import annotations

from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_magic, magics_class

from xleak.magics.asked import asked
from xleak.magics.subcommands import devices, env, guard, journal, oom, policy, watch

_SUBCOMMANDS = {
    "policy": policy,
    "guard": guard,
    "oom": oom,
    "watch": watch,
    "devices": devices,
    "journal": journal,
    "env": env,
}


@magics_class
class XleakMagic(Magics):
    """Subcommands by their first word."""

    @line_magic
    @asked
    def xleak(self, line: str) -> None:
        """Show or set how xleak works; alone, or with --help, it prints help."""
        command, *arguments = line.split() or ["help"]
        if command in ("help", "--help"):
            print(_help())
        elif command in _SUBCOMMANDS:
            _SUBCOMMANDS[command].run(arguments)
        else:
            known = ", ".join(sorted([*_SUBCOMMANDS, "help"]))
            raise UsageError(f"%xleak has no subcommand {command!r}; it has {known}")


def _help() -> str:
    forms = {form: does for module in _SUBCOMMANDS.values() for form, does in module.HELP.items()}
    width = max(map(len, forms))
    lines = [f"%xleak {form:<{width}}   {does}" for form, does in forms.items()]
    return "\n".join(
        [
            *lines,
            "",
            "A cell with a new finding of 16 MiB or more gets a line (1 % of the memory limit where that",
            "is less). Another size in bytes: `%config Xleak.notice_bytes = 1 << 20` in the session,",
            "`c.Xleak.notice_bytes` in IPython's configuration, XLEAK_NOTICE_BYTES in the environment.",
            "",
            "%leakcheck, %memreport, %xdel and %release_cache do the rest.",
        ]
    )
