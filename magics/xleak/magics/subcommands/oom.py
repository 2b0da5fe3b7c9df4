"""`%xleak oom`: what to look at when memory runs out, at any time."""

from __future__ import annotations

import json
from dataclasses import asdict

from IPython.core.error import UsageError
from IPython.display import display

from xleak.magics.live import live_watcher

HELP = {
    "oom": "what holds memory, the usual causes, what is releasable, the last post-mortem",
    "oom --json": "the same as JSON",
}


def run(arguments: list[str]) -> None:
    """Shows the page."""
    if arguments not in ([], ["--json"]):
        raise UsageError(f"%xleak oom takes --json or nothing, got {' '.join(arguments)!r}")
    # No session has it imported before it is wanted.
    from xleak.magics.oom_page import look
    from xleak.render import oom

    page = look(live_watcher())
    if arguments:
        print(json.dumps(asdict(page), indent=2))
    else:
        display({"text/plain": oom.plain(page), "text/html": oom.fragment(page)}, raw=True)
