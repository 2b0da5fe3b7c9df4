"""The connection between a browser and a server, as what cuts it."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit


class Wire:
    """A way from the browser to a server that can be cut and mended."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._server = (parts.hostname or "", parts.port or 0)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}{parts.path}"
        self._is_cut = False
        self._lock = threading.Lock()
        self._open: set[socket.socket] = set()
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """Ends every connection, and each new one at once, until it is mended."""
        with self._lock:
            self._is_cut = True
            for end in self._open:
                shut(end)

    def mend(self) -> None:
        with self._lock:
            self._is_cut = False

    def close(self) -> None:
        self.cut()
        # What waits in accept wakes by this, and not by a mere close.
        shut(self._listener)
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                browser, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._carry, args=(browser,), daemon=True).start()

    def _carry(self, browser: socket.socket) -> None:
        with browser, socket.create_connection(self._server) as server:
            ends = {browser, server}
            with self._lock:
                if self._is_cut:
                    return
                self._open |= ends
            back = threading.Thread(target=copy, args=(server, browser), daemon=True)
            back.start()
            copy(browser, server)
            back.join()
            with self._lock:
                self._open -= ends


def copy(source: socket.socket, target: socket.socket) -> None:
    """Until either is shut, which shuts the other one too."""
    with suppress(OSError):
        while data := source.recv(1 << 16):
            target.sendall(data)
    shut(source)
    shut(target)


def shut(end: socket.socket) -> None:
    # It may be shut already.
    with suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)


@contextmanager
def wired(url: str) -> Iterator[Wire]:
    wire = Wire(url)
    try:
        yield wire
    finally:
        wire.close()
