"""What stops a command before it has done anything."""

from __future__ import annotations


class Problem(Exception):
    """Bad usage or input, as one sentence for the user. The command ends with code 2."""
