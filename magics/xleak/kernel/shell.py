"""IPython's shell in this kernel: runs cells on the main loop and answers the front end."""

from __future__ import annotations

import asyncio
import builtins
import functools
import getpass
import inspect
import pdb
import sys
import traceback
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, TypeVar

from IPython.core import debugger, page, payloadpage
from IPython.core.autocall import ExitAutocall
from IPython.core.error import StdinNotImplementedError
from IPython.core.events import EventManager
from IPython.core.interactiveshell import (
    InteractiveShell,
    _asyncio_runner,
)
from traitlets import Any as Any_
from traitlets import CBool, Instance, Type
from xeus_python_shell.compiler import XCachingCompiler

from xleak import _kernel, _native
from xleak.kernel.display import KernelDisplayHook, KernelDisplayPublisher, as_json, publish
from xleak.kernel.facade import KernelFacade
from xleak.kernel.history import HistoryManager
from xleak.kernel.info import kernel_info
from xleak.kernel.interrupts import Interrupts
from xleak.kernel.loop import MainLoop
from xleak.kernel.outputs import KernelOutputs
from xleak.kernel.questions import AnsweringShell, Content
from xleak.originals import os
from xleak.shell import tensors
from xleak.shell.entry import entry
from xleak.shell.fields import class_name, is_text
from xleak.shell.loading import load
from xleak.shell.readings import (
    NOT_COUNTED,
    begin_device_cell,
    device_readings,
    end_device_cell,
    python_count,
)
from xleak.shell.rests import Rests

if TYPE_CHECKING:
    from xleak.shell.watcher import Watcher

T = TypeVar("T")


class KernelExit(ExitAutocall):
    """``exit`` and ``quit``; ``exit(keep_kernel=True)`` closes the front end alone."""

    def __call__(self, keep_kernel: bool = False) -> None:
        self._ip.keepkernel_on_exit = keep_kernel
        self._ip.ask_exit()


class KernelCompiler(XCachingCompiler):
    """Names a cell by the file that the debugger knows it by, or as ipykernel does when told to."""

    @_native.out_of_sight
    def get_code_name(self, raw_code: str, code: str, number: int) -> str:
        name = os.environ.get("IPYKERNEL_CELL_NAME") or super().get_code_name(
            raw_code, code, number
        )
        # For each frame of a traceback inspect searches all modules for the one with this file. None has it.
        inspect.modulesbyfile[name] = None
        return name


class KernelShell(AnsweringShell):
    """The interactive shell behind ``xleak._kernel``."""

    displayhook_class = Type(KernelDisplayHook)
    display_pub_class = Type(KernelDisplayPublisher)
    compiler_class = Type(KernelCompiler)
    colors_force = CBool(True)
    exiter = Instance(KernelExit)
    kernel = Any_()
    keepkernel_on_exit = False
    _rests: Rests | None = None
    connection: Content = {}
    _allow_stdin = False
    _exit_asked = False
    _cell = 0
    _last_traceback: list[str] | None = None
    _failed_display: tuple[str, str] | None = None

    def _exiter_default(self) -> KernelExit:
        return KernelExit(self)

    # --- set-up ------------------------------------------------------------------------------

    def configured(self) -> None:
        """The last step of the kernel's set-up, after xeus-python has put its own parts in."""
        self.kernel = KernelFacade(self)
        # xeus-python's own publishers answer to the request that its core dispatched last; cells never pass it.
        self.display_pub.__dict__.pop("clear_output", None)
        self._main_loop = MainLoop()
        code_regions = (
            KernelShell.run_code,
            InteractiveShell.run_code,
            InteractiveShell.user_expressions,
            EventManager.trigger,
            KernelShell._call,
        )
        self._interrupts = Interrupts(
            self._main_loop.loop,
            (function.__code__ for function in code_regions),
            _kernel.is_forking,
            _kernel.look_again,
        )
        self._main_loop.bring_signals(self._interrupts.looked)
        os.register_at_fork(
            before=_kernel.fork_begins,
            after_in_parent=_kernel.fork_ended,
            after_in_child=_kernel.fork_ended,
        )
        self._pid = os.getpid()
        builtins.input = self._input
        getpass.getpass = self._getpass

    @functools.cached_property
    def _watcher(self) -> Watcher:
        """Made on first use: no front end waits for it before the first cell."""
        from xleak.shell.install import attach

        watcher = attach(
            self,
            events=False,
            outputs=KernelOutputs(),
            loop=self._main_loop.loop,
            tell_live=_kernel.tell_live_cells,
            write=functools.partial(_kernel.write, 2),
        )
        self._rests = Rests(watcher, self._request_waits)
        return watcher

    def init_history(self) -> None:
        self.history_manager = HistoryManager(shell=self, parent=self)
        self.configurables.append(self.history_manager)

    @_native.out_of_sight
    def watch(self) -> None:
        """Adds the magics and starts to watch the cells."""
        _ = self._watcher

    def _watches(self) -> bool:
        """Starts to watch where that is not done yet. False: a request came before it was."""
        if "_watcher" not in vars(self):
            if not load("xleak.shell.install", _kernel.request_waits):
                return False
            self.watch()
        return True

    def init_hooks(self) -> None:
        super().init_hooks()
        self.set_hook("show_in_pager", page.as_hook(payloadpage.page), 99)

    def init_pdb(self) -> None:
        """``breakpoint()`` and ``pdb`` are IPython's debugger, which an interrupt can stop."""
        super().init_pdb()
        debugger.Pdb = debugger.InterruptiblePdb
        pdb.Pdb = debugger.Pdb  # type: ignore[misc]
        pdb.set_trace = debugger.set_trace

    def init_environment(self) -> None:
        """Programs started by a cell must not wait for keys or hide colours."""
        os.environ.update(TERM="xterm-color", CLICOLOR="1", FORCE_COLOR="1", CLICOLOR_FORCE="1")
        os.environ.update(PAGER="cat", GIT_PAGER="cat")

    @_native.out_of_sight
    def enable_gui(self, gui: str | None = None) -> None:
        """Only the inline backend draws here; it needs no loop of its own."""

    def ports(self) -> Content:
        """The content of a connect_reply."""
        return {"status": "ok", **{k: v for k, v in self.connection.items() if k.endswith("_port")}}

    def kernel_info(self) -> Content:
        """The content of a kernel_info_reply."""
        return kernel_info(self.banner)

    @entry(-1)
    def work_descriptor(self) -> int:
        """Can be read once idle() has something to do; -1 where it has already."""
        return self._main_loop.work_descriptor() if "_watcher" in vars(self) else -1

    @_native.out_of_sight
    def idle(self, shell: int, wake: int, quiet: bool) -> None:
        """Called by the kernel when no request waits, until one of the descriptors can be read. quiet: none
        has come for a while."""
        try:
            self._begin_rest(quiet)
            if not _kernel.request_waits():
                self._main_loop.wait(shell, wake)
        except BaseException:
            # A signal handler or a task of the user's raised. Between cells nothing may end the kernel.
            traceback.print_exc(file=sys.stderr)

    @entry()
    def _begin_rest(self, quiet: bool) -> None:
        if self._watches() and self._rests is not None:
            self._rests.begin(self._main_loop.loop, quiet=quiet)

    def _request_waits(self) -> bool:
        """For what the loop runs between cells: it ends, because a socket that was asked tells the loop of
        the same request no more."""
        if waits := bool(_kernel.request_waits()):
            self._main_loop.loop.stop()
        return waits

    # --- what the front end asks beside cells: the magics are part of the answer -----------------

    def complete_reply(self, code: str, cursor: int) -> Content:
        self.watch()
        return super().complete_reply(code, cursor)

    def inspect_reply(self, code: str, cursor: int, detail: int) -> Content:
        self.watch()
        return super().inspect_reply(code, cursor, detail)

    # --- cells -------------------------------------------------------------------------------

    @entry((None, [], None, None))
    def before_request(
        self, stored: bool, silent: bool, code: str
    ) -> tuple[int | None, list[Any], None, int | None]:
        """Before a request runs code. What is not stored comes from a tool and is no cell."""
        if stored:
            self._watcher.about_to_run(code, self.execution_count)
        else:
            self._watcher.before_tool_request()
        # Nothing is said of what a tool's request did.
        python = python_count.before_first_cell() if stored else NOT_COUNTED
        return python.blocks, device_readings(), None, python.bytes

    @entry()
    def cell_begun(self, index: int) -> None:
        """The cell's record is open, under this index."""
        self._cell = index
        tensors.begin_cell(index)
        begin_device_cell(index)
        python_count.begin_cell()
        _native.begin_line_times()

    @_native.out_of_sight
    def expect_interrupts(self) -> None:
        """The front end is about to hear that the cell runs: from here on SIGINT stops it."""
        self._interrupts.expect()

    @entry((None, [], None, None))
    def interpreter_reading(
        self,
    ) -> tuple[int | None, list[Any], tensors.TensorReading | None, int | None]:
        """(blocks of Python's allocator, devices, host tensors, bytes in Python's pools) at the end of a cell."""
        python, devices = python_count.end_cell(), end_device_cell(self._cell)
        return python.blocks, devices, tensors.end_cell(self._cell), python.bytes

    @entry(False)
    def after_request(self, index: int, code: str, execution_count: int) -> bool:
        """After the cell's record is complete and before its reply is sent: no walk of the heap. True: what
        follows shows nothing under the cell, and after_reply() is to be called."""
        if self._exit_asked:
            _kernel.request_stop()
        if not index:
            self._watcher.after_tool_request()
            return False
        if self._watcher.may_show(code):
            self.after_reply(index, code, execution_count)
            return False
        return True

    @entry()
    def after_reply(self, index: int, code: str, execution_count: int) -> None:
        """What is noted of a cell before another request comes."""
        self._watcher.after_cell(index, code, execution_count)

    @_native.out_of_sight
    def execute(
        self,
        code: str,
        silent: bool,
        store_history: bool,
        user_expressions: Content,
        allow_stdin: bool,
        cell_id: str | None,
    ) -> bytes:
        """Run one request and return the content of its reply, as JSON. SIGINT stops it until
        forbid_interrupts(), and may then raise out of here."""
        if store_history:
            self._watcher.before_cell()
        self._allow_stdin = allow_stdin
        self._last_traceback, self._failed_display = None, None
        try:
            error = self._run(self._run_request(code, silent, store_history, cell_id))
        except BaseException as escaped:
            error = self._name_and_text(escaped)
            _native.in_sight(self.showtraceback)
        if _kernel.in_forked_child():
            # A child of os.fork() reached the end of the cell. The loop it came from is its parent's.
            os._exit(1 if error else 0)
        return as_json(self._reply(error, user_expressions))

    @_native.out_of_sight
    def run_cell(self, *args: Any, **kwargs: Any) -> Any:
        self.watch()
        return _native.in_sight(super().run_cell, *args, **kwargs)

    @_native.out_of_sight
    def safe_execfile(self, *args: Any, **kwargs: Any) -> None:
        self.watch()
        _native.in_sight(super().safe_execfile, *args, **kwargs)

    def _run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        if self._rests is not None:
            self._rests.close()
        task = self._main_loop.start(coroutine)
        self._interrupts.allow(task)
        return self._main_loop.finish(task, self._interrupts.cancel)

    @_native.out_of_sight
    def run_code(self, *args: Any, **kwargs: Any) -> Any:
        self._interrupts.raise_late()
        return super().run_code(*args, **kwargs)

    @_native.out_of_sight
    def forbid_interrupts(self) -> None:
        """From here on SIGINT stops nothing."""
        self._interrupts.forbid()

    @_native.out_of_sight
    def escaped_reply(self, name: str) -> bytes:
        """The reply where an interrupt hit the lines around the user's code."""
        self._publish_error(name, "", [f"{name}: while the cell was starting or ending"])
        return as_json(self._reply((name, ""), {}))

    async def _run_request(
        self, code: str, silent: bool, store_history: bool, cell_id: str | None
    ) -> tuple[str, str] | None:
        """As IPython's run_cell, on the loop that runs already. Returns (ename, evalue) of an error."""
        try:
            transformed, preprocessing_error = self.transform_cell(code), None
        except Exception:
            transformed, preprocessing_error = code, sys.exc_info()
        if self.loop_runner is not _asyncio_runner:
            result = self.run_cell(
                code, store_history=store_history, silent=silent, cell_id=cell_id
            )
            return self._error_of(result)
        result = None
        try:
            result = await self.run_cell_async(
                code,
                store_history=store_history,
                silent=silent,
                transformed_cell=transformed,
                preprocessing_exc_tuple=preprocessing_error,
                cell_id=cell_id,
            )
        finally:
            self.events.trigger("post_execute")
            if not silent:
                self.events.trigger("post_run_cell", result)
        return self._error_of(result)

    @_native.out_of_sight
    def _error_of(self, result: Any) -> tuple[str, str] | None:
        error = result.error_before_exec
        error = result.error_in_exec if error is None else error
        return self._failed_display if error is None else self._name_and_text(error)

    def _name_and_text(self, error: BaseException) -> tuple[str, str]:
        if _native.is_kind_of(error, asyncio.CancelledError) and self._is_interrupt(error):
            return "KeyboardInterrupt", ""
        return class_name(type(error)), self._text_of(error)

    def _reply(self, error: tuple[str, str] | None, user_expressions: Content) -> Content:
        reply: Content = {
            "status": "error" if error else "ok",
            "execution_count": self.execution_count - 1,
            "payload": self.payload_manager.read_payload(),
            "user_expressions": {},
        }
        self.payload_manager.clear_payload()
        if error:
            reply.update(ename=error[0], evalue=error[1], traceback=self._last_traceback or [])
        elif user_expressions:
            self._interrupts.raise_late()
            reply["user_expressions"] = _native.in_sight(self.user_expressions, user_expressions)
        return reply

    @property
    def parent_header(self) -> Content:
        """Header and metadata of the request that is being served, as ipykernel's shell has them."""
        return _kernel.parent() or {}

    # --- errors ------------------------------------------------------------------------------

    @staticmethod
    def _text_of(error: BaseException | None) -> str:
        try:
            return _native.in_sight(str, error)
        except Exception:
            return "<the text of this exception cannot be made>"

    @staticmethod
    def _is_interrupt(error: BaseException | None) -> bool:
        arguments: Any = BaseException.args
        its: tuple[Any, ...] = () if error is None else arguments.__get__(error)
        return len(its) == 1 and is_text(its[0], "interrupted")

    @_native.out_of_sight
    def showtraceback(self, exc_tuple: Any = None, *args: Any, **kwargs: Any) -> None:
        """An interrupted ``await`` ends in a cancellation; what the user did is an interrupt."""
        etype, value, trace = exc_tuple or sys.exc_info()
        if etype is not None and "_watcher" in vars(self):
            self._watcher.about_to_show(etype)
        self._interrupts.leave_out(trace, KernelShell.run_code.__code__)
        if etype is asyncio.CancelledError and self._is_interrupt(value):
            value = KeyboardInterrupt()
            exc_tuple = (KeyboardInterrupt, value, trace)
        try:
            _native.in_sight(super().showtraceback, exc_tuple, *args, **kwargs)
        except RecursionError:
            # IPython has no room to show it.
            name, text = class_name(type(value)), self._text_of(value)
            self._publish_error(name, text, [f"{name}: {text}"])

    @_native.out_of_sight
    def _showtraceback(
        self, etype: type[BaseException], evalue: BaseException, stb: list[str]
    ) -> None:
        if _kernel.in_forked_child():
            print("\n".join(stb), file=sys.stderr)
            return
        name, text = class_name(etype), self._text_of(evalue)
        if self.displayhook.is_showing:
            # As ipykernel: a cell whose value cannot be shown has failed.
            self._failed_display = (name, text)
        self._publish_error(name, text, list(stb))

    def _publish_error(self, name: str, text: str, lines: list[str]) -> None:
        self._last_traceback = lines
        publish("error", {"ename": name, "evalue": text, "traceback": lines})

    # --- input and exit ----------------------------------------------------------------------

    @_native.out_of_sight
    def _input(self, prompt: object = "", /) -> str:
        return self._ask(_native.in_sight(str, prompt), password=False)

    @_native.out_of_sight
    def _getpass(self, prompt: str = "Password: ", stream: Any = None, **_: Any) -> str:
        return self._ask(_native.in_sight(str, prompt), password=True)

    def _ask(self, prompt: str, password: bool) -> str:
        if not self._allow_stdin:
            raise StdinNotImplementedError(
                "input was asked for, but this front end does not support input requests."
            )
        answer = str(_kernel.ask(prompt, password))
        if answer == "\x04":
            raise EOFError
        return answer

    @_native.out_of_sight
    def ask_exit(self) -> None:
        """End the session once the cell's reply is sent."""
        self._exit_asked = not self.keepkernel_on_exit
        self.payload_manager.write_payload(
            {"source": "ask_exit", "keepkernel": self.keepkernel_on_exit}
        )

    @_native.out_of_sight
    def set_next_input(self, text: str, replace: bool = False) -> None:
        self.payload_manager.write_payload(
            {"source": "set_next_input", "text": text, "replace": replace}
        )

    # --- comms ---------------------------------------------------------------------------------

    @_native.out_of_sight
    def comm_message(self, message: Content) -> bytes:
        """A comm_open, comm_msg or comm_close of the front end; the handlers are the user's code."""
        self.watch()
        self._interrupts.expect()
        handler = getattr(self.kernel.comm_manager, message["header"]["msg_type"])
        try:
            self._run(self._call(handler, message))
        except BaseException:
            _native.in_sight(self.showtraceback)
        return b"null"

    async def _call(self, handler: Any, message: Content) -> None:
        self._interrupts.raise_late()
        handler(None, None, message)

    def comm_info_reply(self, content: Content) -> Content:
        target = content.get("target_name")
        comms_ = self.kernel.comm_manager.comms.items()
        wanted = {
            key: {"target_name": c.target_name}
            for key, c in comms_
            if target in (None, c.target_name)
        }
        return {"status": "ok", "comms": wanted}


class ZMQInteractiveShell(KernelShell):
    """The name of ipykernel's shell: libraries (rich) tell a notebook by it, and users configure by it."""
