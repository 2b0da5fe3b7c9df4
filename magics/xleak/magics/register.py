"""Gives a shell what users type."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xleak.magics.leakcheck import LeakcheckMagic
from xleak.magics.memreport import MemreportMagic
from xleak.magics.release_cache import ReleaseCacheMagic
from xleak.magics.xdel import XdelMagic
from xleak.magics.xleak_magic import XleakMagic

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from xleak.shell.watcher import Watcher


def register(shell: InteractiveShell, watcher: Watcher) -> None:
    """Gives the shell every magic; `watcher` follows its cells already."""
    for magics in (LeakcheckMagic, MemreportMagic, ReleaseCacheMagic, XdelMagic, XleakMagic):
        shell.register_magics(magics(shell))
