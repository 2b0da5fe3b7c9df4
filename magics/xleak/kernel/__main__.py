"""``python -m xleak.kernel -f CONNECTION_FILE`` serves one front end."""

from __future__ import annotations

import argparse
import atexit
import faulthandler
import json
import os
import signal
import sys
from pathlib import Path

_NEEDED = (
    "transport",
    "ip",
    "key",
    "signature_scheme",
    *(f"{channel}_port" for channel in ("shell", "control", "stdin", "iopub", "hb")),
)


def _arguments() -> tuple[argparse.Namespace, list[str]]:
    parser = argparse.ArgumentParser(prog="python -m xleak.kernel", description=__doc__)
    parser.add_argument("-f", dest="connection_file", required=True, metavar="CONNECTION_FILE")
    return parser.parse_known_args()


def _connection(path: str) -> dict[str, object]:
    """The parsed connection file; ends the process with one sentence where there is none."""
    try:
        connection = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        sys.exit(
            f"xleak: cannot read the connection file {path}: {error}. Jupyter writes this file and passes it by -f."
        )
    if not isinstance(connection, dict):
        sys.exit(f"xleak: {path} is no connection file: it holds no JSON object.")
    missing = [key for key in _NEEDED if key not in connection]
    if missing:
        sys.exit(f"xleak: {path} is no connection file: it lacks {', '.join(missing)}.")
    return connection


def main() -> None:
    arguments, rest = _arguments()
    connection = _connection(arguments.connection_file)
    # Until the loop runs there is nothing that an interrupt could stop.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Registered before IPython and the user register theirs, so that it runs after them.
    atexit.register(_end)
    try:
        from xleak import _kernel
    except ImportError as error:
        sys.exit(
            f"xleak: the native kernel cannot be loaded: {error}. It is built where xeus-python's development "
            "files are (Debian 12: apt install xeus-python-dev); %load_ext xleak works in every other kernel."
        )
    from xleak.kernel.info import banner_before_import, kernel_info

    # From here on front ends are answered, so the 0.1 s and more of IPython's import keep nobody waiting.
    _kernel.bind(arguments.connection_file, json.dumps(kernel_info(banner_before_import())))
    from xleak.kernel.later import import_asyncio

    import_asyncio()
    from xleak.kernel.app import KernelApp

    application = KernelApp(arguments.connection_file, connection, rest)
    _kernel.create(application, sys.executable)
    _kernel.capture_output()
    terminal = _kernel.original_stderr()
    faulthandler.enable(file=terminal)
    application.run_startup(terminal)
    _kernel.run()


def _end() -> None:
    _kernel = sys.modules.get("xleak._kernel")
    if _kernel is None:
        return
    sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__
    if _kernel.in_forked_child():
        os._exit(0)
    from xleak.kernel.children import end_children

    end_children()
    faulthandler.disable()
    _kernel.close()


if __name__ == "__main__":
    main()
