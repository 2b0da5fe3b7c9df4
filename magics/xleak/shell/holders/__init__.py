"""Who keeps memory beside the user's names: found in the heap where a cell made it likely."""

from xleak.shell.holders.search import Holders

__all__ = ["Holders"]
