"""Files that a command writes: whole or not at all, and never over its input."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from xleak.cli.problem import Problem


def writable(path: str, option: str, notebook: Path) -> Path:
    """Where to write. Raises Problem where that cannot work, before anything is run."""
    target = Path(path).resolve()
    if target == notebook.resolve() or (target.exists() and target.samefile(notebook)):
        raise Problem(f"{option} {path} is the notebook itself. Choose another file.")
    if target.exists() and not target.is_file():
        raise Problem(f"{option} {path} is not a regular file. Choose another.")
    if not target.parent.is_dir():
        raise Problem(f"{option} {path}: there is no folder {target.parent}. Make it first.")
    try:
        with tempfile.TemporaryFile(dir=target.parent):
            pass
    except OSError as refused:
        raise Problem(f"cannot write {path}: {refused.strerror}. Choose another place.") from None
    return target


def replace(target: Path, text: str) -> None:
    """Writes the text in place of the file. Raises Problem, and then the old file is untouched."""
    replace_bytes(target, text.encode())


def replace_bytes(target: Path, data: bytes) -> None:
    """The same for bytes."""
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    except OSError as refused:
        raise Problem(f"cannot write {target}: {refused.strerror}.") from None
    draft = Path(name)
    try:
        with open(handle, "wb") as stream:
            stream.write(data)
        draft.chmod(_mode(target))
        draft.replace(target)
    except OSError as refused:
        draft.unlink(missing_ok=True)
        raise Problem(f"cannot write {target}: {refused.strerror}.") from None


@contextlib.contextmanager
def to_stdout() -> Iterator[TextIO]:
    """Stdout for a report: in any encoding, and for a reader that goes away as `head` does."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        yield sys.stdout
        sys.stdout.flush()
    except BrokenPipeError:
        # Python flushes once more at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _mode(target: Path) -> int:
    if target.exists():
        return target.stat().st_mode & 0o777
    # There is no way to read the mask without setting it.
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
