"""`%xleak policy`: what xleak may do by itself."""

from __future__ import annotations

from IPython.core.error import UsageError

from xleak.magics.live import live_watcher
from xleak.shell.settings import POLICIES, in_words

HELP = {
    "policy": "show whether cells are watched",
    "policy off": "stop watching: no accounting, no findings",
    "policy report": "watch and report (the default)",
    "policy ask": "the same, and the panel asks whether to release",
    "policy auto": "release what no name reaches once a cell has ended",
}


def run(arguments: list[str]) -> None:
    """Shows or sets the policy."""
    if arguments and (len(arguments) > 1 or arguments[0] not in POLICIES):
        got = " ".join(arguments)
        raise UsageError(f"%xleak policy takes {in_words(POLICIES)}, got {got!r}")
    if arguments:
        live_watcher().settings.policy = arguments[0]
    print(f"policy: {live_watcher().settings.policy}")
