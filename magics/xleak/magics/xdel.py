"""`%xdel`: delete a value and what the shell keeps of it."""

from __future__ import annotations

from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_magic, magics_class

from xleak import _native
from xleak.magics.asked import asked
from xleak.shell.release import ForgetResult, forget

# More would hide the first ones.
_HOLDERS_SHOWN = 10
_USAGE = "%xdel [-n] [--dry-run] NAME or Out[n], or several of them"


@magics_class
class XdelMagic(Magics):
    """In place of IPython's magic of that name."""

    @line_magic
    @asked
    def xdel(self, line: str) -> None:
        """Delete a name, or an output entry, with every hidden reference of the shell's.

        %xdel NAME     delete the name, and its value from the output cache and the last traceback
        %xdel Out[n]   the same for an output entry; no name is touched
        %xdel A B      several of either kind together
        -n             delete the name alone, as IPython's own %xdel -n
        --dry-run      show what would be done

        Other names that you gave the value stay, and are listed.
        """
        words = line.split()
        targets = [word for word in words if not word.startswith("-")]
        options = {word for word in words if word.startswith("-")}
        if not targets or not options <= {"-n", "--dry-run"}:
            raise UsageError(f"{_USAGE}; got {line.strip()!r}")
        refused = ""
        try:
            dry_run = "--dry-run" in options
            result = forget(*targets, dry_run=dry_run, by_name_only="-n" in options)
        except ValueError as error:
            refused = str(error)
        # Not within the except: IPython keeps the last error, and its frames would keep what they looked at.
        if refused:
            raise UsageError(refused)
        print(report(result))


def report(result: ForgetResult) -> str:
    """What was done, and what came back or who still holds it."""
    verb = "would drop" if result.dry_run else "dropped"
    lines = [f"{result.target}: {verb} {', '.join(result.dropped) or 'nothing'}"]
    if returned := returned_bytes(result):
        lines.append(f"{'would come back' if result.dry_run else 'came back'}: {returned}")
    if result.holders:
        rest = len(result.holders) - _HOLDERS_SHOWN
        shown = ", ".join(result.holders[:_HOLDERS_SHOWN])
        lines.append(f"still held by {shown}{f' and {rest} more' if rest > 0 else ''}")
    elif not returned:
        lines.append("no allocator's counter moved: it was small, or something else still holds it")
    return "\n".join(lines)


def returned_bytes(result: ForgetResult) -> str:
    """Sizes by allocator; what no counter tells is an estimate of unknown whereabouts."""
    parts = [f"{_native.human(size)} to {owner}" for owner, size in result.freed.items() if size]
    if result.unknown_bytes:
        parts.append(
            f"unknown: about {_native.human(result.unknown_bytes)}, of an allocator without counter"
        )
    return ", ".join(parts)
