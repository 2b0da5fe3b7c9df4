"""What follows a cell that failed because memory ran out."""

from xleak.shell.out_of_memory.watch import watch_for_failures

__all__ = ["watch_for_failures"]
