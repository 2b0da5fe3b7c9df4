"""``sys.stdout`` and ``sys.stderr`` of the kernel."""

from __future__ import annotations

import io

from xleak import _kernel, _native


class OutStream(io.TextIOBase):
    """Text for the front end. In a forked child the text goes to the file descriptor."""

    encoding = "UTF-8"
    errors = "backslashreplace"

    def __init__(self, name: str, descriptor: int) -> None:
        self.name = name
        self._descriptor = descriptor

    @_native.out_of_sight
    def write(self, text: str, /) -> int:
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        _kernel.write(self._descriptor, text)
        return len(text)

    @_native.out_of_sight
    def flush(self) -> None:
        _kernel.flush()

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return False

    def fileno(self) -> int:
        return self._descriptor

    @property
    def buffer(self) -> io.FileIO:
        """Bytes written here are shown too, in order with the text."""
        return io.FileIO(self._descriptor, "w", closefd=False)
