"""What stops a command."""

from __future__ import annotations


class Problem(Exception):
    """Bad usage or input, as one sentence for the user. The command ends with code 2."""


class Unwritten(Exception):
    """What a command had to say could not be written, as one sentence. It ends with code 4."""
