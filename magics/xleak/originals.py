"""Python's own functions as they were when xleak was imported: a program may put others in their places, which
raise, or count who calls them.

Every module of xleak has a copy of the builtins for its own. What lives in the modules below is copied too, and
is imported from here.
"""

from __future__ import annotations

import builtins
import sys
from importlib.machinery import (
    BYTECODE_SUFFIXES,
    EXTENSION_SUFFIXES,
    SOURCE_SUFFIXES,
    ExtensionFileLoader,
    FileFinder,
    ModuleSpec,
    SourceFileLoader,
    SourcelessFileLoader,
)
from types import ModuleType
from typing import TYPE_CHECKING

# Functions use the builtins that their module has when they are made.
BUILTINS = globals()["__builtins__"] = dict(vars(builtins))


def _copy(module: ModuleType) -> ModuleType:
    copied = ModuleType(module.__name__, module.__doc__)
    vars(copied).update(vars(module))
    return copied


if TYPE_CHECKING:
    import gc as gc
    import os as os
    import threading as threading
    import time as time
    from sys import _current_frames as _current_frames
    from sys import _getframe as _getframe
    from sys import getallocatedblocks as getallocatedblocks
    from sys import getrecursionlimit as getrecursionlimit
    from sys import getrefcount as getrefcount
    from sys import gettrace as gettrace
else:
    import gc
    import os
    import threading
    import time

    gc, os, threading, time = map(_copy, (gc, os, threading, time))
    _current_frames, _getframe = sys._current_frames, sys._getframe
    getallocatedblocks, getrefcount = sys.getallocatedblocks, sys.getrefcount
    getrecursionlimit, gettrace = sys.getrecursionlimit, sys.gettrace


class _Loader(SourceFileLoader):
    """Loads a module of xleak's with these builtins."""

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = ModuleType(spec.name)
        vars(module)["__builtins__"] = BUILTINS
        for folder in spec.submodule_search_locations or ():
            use_in(folder)
        return module


def use_in(folder: str) -> None:
    """The modules of this folder of xleak's are loaded with these builtins. Finders of the program's own keep
    their order, and are asked as before."""
    sys.path_importer_cache[folder] = FileFinder(
        folder,
        (ExtensionFileLoader, EXTENSION_SUFFIXES),
        (_Loader, SOURCE_SUFFIXES),
        (SourcelessFileLoader, BYTECODE_SUFFIXES),
    )
