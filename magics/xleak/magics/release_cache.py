"""`%release_cache`: give back what the session keeps and nobody uses."""

from __future__ import annotations

from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_magic, magics_class

from xleak import _native
from xleak.shell.release import Step, release_cache


@magics_class
class ReleaseCacheMagic(Magics):
    """One line per step."""

    @line_magic("release_cache")
    def release(self, line: str) -> None:
        """Let go of tracebacks, output entries that nobody uses, gradients that keep their own
        Parameters, garbage cycles, caches of frameworks and free pages of the C heap, in that order.
        --dry-run shows what there is.

        What a name, `_`, `__` or `___` reaches, or an output entry that your code uses, stays.
        """
        words = line.split()
        if words not in ([], ["--dry-run"]):
            raise UsageError(f"%release_cache takes --dry-run or nothing, got {line.strip()!r}")
        dry_run = bool(words)
        for step in release_cache(dry_run=dry_run):
            print(report(step, dry_run))


def report(step: Step, dry_run: bool) -> str:
    """One line: what was found, and what came back where."""
    sizes = ", ".join(
        f"{_native.human(size)} to {owner}" for owner, size in step.freed.items() if size
    )
    if not sizes:
        return f"{step.title}: {step.detail}"
    return f"{step.title}: {step.detail}; {'would return' if dry_run else 'returned'} {sizes}"
