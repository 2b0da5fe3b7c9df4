"""The command `xleak`."""

from __future__ import annotations

from xleak.cli.main import main

__all__ = ["main"]
