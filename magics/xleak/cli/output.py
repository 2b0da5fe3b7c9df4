"""What a command writes: to stdout, to stderr, and files, whole or not at all."""

from __future__ import annotations

import contextlib
import io
import os
import stat
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from xleak.cli.problem import Problem, Unwritten
from xleak.render.table import printable


def writable(path: str, option: str, notebook: Path) -> Path:
    """Where to write. Raises Problem where that cannot work, before anything is run."""
    named = Path(path)
    if _is_planted(named):
        raise Problem(
            f"{option} {path} is another user's link in a folder that all may write. Choose another file."
        )
    target = named.resolve()
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
    # JSON can spell half of a surrogate pair, as it is spelled here too.
    replace_bytes(target, text.encode(errors="backslashreplace"))


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
            os.fchmod(handle, _mode(target))
        draft.replace(target)
    except OSError as refused:
        draft.unlink(missing_ok=True)
        raise Problem(f"cannot write {target}: {refused.strerror}.") from None


def take_standard_streams() -> None:
    """Makes a stdout that refuses what is written, and a stderr that swallows it, where the command was
    started without: Python has None there, and the next file that is opened would take the place."""
    if sys.stdin is None:
        os.open(os.devnull, os.O_RDONLY)
    if sys.stdout is None:
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_RDONLY), "w", closefd=False)
    if sys.stderr is None:
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", closefd=False)


@contextlib.contextmanager
def to_stdout() -> Iterator[TextIO]:
    """Stdout for a report: in any encoding, and for a reader that goes away as `head` does. Raises
    Unwritten where it is closed or its disk is full."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        yield sys.stdout
        sys.stdout.flush()
    except BrokenPipeError:
        _give_up(sys.stdout)
    except OSError as refused:
        _give_up(sys.stdout)
        raise Unwritten(f"cannot write to stdout: {refused.strerror}.") from None


def check_stdout() -> None:
    """Raises Unwritten where stdout is closed: what takes long is not begun for nobody."""
    try:
        os.write(sys.stdout.fileno(), b"")
    except io.UnsupportedOperation:
        # It is not a file.
        return
    except OSError as refused:
        raise Unwritten(f"cannot write to stdout: {refused.strerror}. Nothing was run.") from None


def say(sentence: str) -> None:
    """Writes one line to stderr. Where that cannot be written, nobody is told."""
    try:
        print(printable(sentence), file=sys.stderr, flush=True)
    except OSError:
        _give_up(sys.stderr)


def _give_up(stream: TextIO) -> None:
    # Python flushes once more at its end.
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def _is_planted(path: Path) -> bool:
    """Whether the system would not follow this link (protected_symlinks, proc_sys_fs(5)): resolve() does."""
    try:
        link, folder = path.lstat(), path.absolute().parent.stat()
    except OSError:
        return False
    return (
        stat.S_ISLNK(link.st_mode)
        and bool(folder.st_mode & stat.S_IWOTH)
        and link.st_uid not in (os.geteuid(), folder.st_uid)
    )


def _mode(target: Path) -> int:
    with contextlib.suppress(OSError):
        there = target.lstat()
        # What others put there does not say who may read a report.
        if stat.S_ISREG(there.st_mode) and there.st_uid == os.geteuid():
            return there.st_mode & 0o777
    # There is no way to read the mask without setting it.
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
