"""`%release_cache`: give back what the session keeps and nobody uses."""

from __future__ import annotations

from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_magic, magics_class

from xleak import _native
from xleak.magics.asked import asked
from xleak.shell.release_steps import STEPS, Step, release_cache

_DRY_RUN = "--dry-run"


@magics_class
class ReleaseCacheMagic(Magics):
    """One line per step."""

    @line_magic("release_cache")
    @asked
    def release(self, line: str) -> None:
        """Let go of garbage cycles, tracebacks, output entries that nobody uses, gradients that keep
        their own Parameters, caches of frameworks and free pages of the C heap, in that order.

        %release_cache               all of them
        %release_cache --tracebacks  this one alone; the others are --garbage, --outputs, --gradients,
                                     --caches and --heap, and several may be named
        --dry-run                    show what would come back

        What a name, `_`, `__` or `___` reaches, or an output entry that your code uses, stays.
        """
        options = {f"--{step}": step for step in STEPS}
        words = line.split()
        if unknown := [word for word in words if word not in (_DRY_RUN, *options)]:
            known = ", ".join([_DRY_RUN, *options])
            raise UsageError(f"%release_cache takes {known}, or nothing; got {unknown[0]!r}")
        dry_run = _DRY_RUN in words
        only = [options[word] for word in words if word != _DRY_RUN]
        for step in release_cache(*only, dry_run=dry_run):
            print(report(step, dry_run))


def report(step: Step, dry_run: bool) -> str:
    """One line: what was found, and what came back where."""
    sizes = ", ".join(
        f"{_native.human(size)} {'unknown where' if owner == 'unknown' else f'to {owner}'}"
        for owner, size in step.freed.items()
        if size
    )
    if not sizes:
        return f"{step.title}: {step.detail}"
    return f"{step.title}: {step.detail}; {'would return' if dry_run else 'returned'} {sizes}"
