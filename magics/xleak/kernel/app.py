"""The application around the shell: profile, configuration files, extensions."""

from __future__ import annotations

import logging
import os
import sys
from typing import Any

from IPython.core.application import BaseIPythonApplication
from IPython.core.shellapp import InteractiveShellApp

from xleak import _kernel
from xleak.kernel.shell import ZMQInteractiveShell
from xleak.kernel.streams import OutStream
from xleak.shell.settings import Xleak


class KernelApp(BaseIPythonApplication, InteractiveShellApp):
    """Reads the same files as ipykernel: ``ipython_config.py`` and ``ipython_kernel_config.py``."""

    name = "ipython-kernel"
    classes = [ZMQInteractiveShell, Xleak]

    def __init__(
        self, connection_file: str, connection: dict[str, Any], arguments: list[str]
    ) -> None:
        super().__init__()
        self._connection_file = connection_file
        self._connection = connection
        self._arguments = arguments

    def initialize(self, argv: Any = None) -> None:
        """Called by xeus-python when it is ready for the shell."""
        # Before matplotlib is imported; its inline backend then sets itself up.
        os.environ.setdefault("MPLBACKEND", "module://matplotlib_inline.backend_inline")
        super().initialize(self._arguments)
        # Libraries (tqdm, transformers) take a session for a notebook by this section.
        self.config.IPKernelApp.connection_file = self._connection_file
        self.user_ns: dict[str, Any] = {}
        sys.stdout, sys.stderr = OutStream("stdout", 1), OutStream("stderr", 2)
        self.init_path()
        self.init_shell()
        self.init_gui_pylab()

    def init_shell(self) -> None:
        self.shell = ZMQInteractiveShell.instance(
            parent=self, user_ns=self.user_ns, profile_dir=self.profile_dir
        )
        # tqdm tells a notebook by this module, others by asking whether the shell is of its class.
        sys.modules["ipykernel.zmqshell"] = sys.modules[ZMQInteractiveShell.__module__]
        self.shell.connection = self._connection
        self.shell.configurables.append(self)

    def run_startup(self, terminal: int) -> None:
        """Extensions and start-up files run once output is captured, so that what they print is shown.
        The application's own log goes to the descriptor `terminal`."""
        self.log.setLevel(self.log_level)
        self.log.handlers = [logging.StreamHandler(os.fdopen(terminal, "w", closefd=False))]
        self.init_extensions()
        self.init_code()
        _kernel.flush()

    def init_extensions(self) -> None:
        # The user's extensions may ask for xleak's magics; IPython's own do not.
        if self.extensions or self.extra_extensions:
            self.shell.watch()
        super().init_extensions()

    def exit(self, exit_status: int = 0) -> None:
        """The protocol ends a kernel, not an application."""
