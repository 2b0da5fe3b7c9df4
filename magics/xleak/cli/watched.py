"""One run of a notebook on a kernel that is asked, after every cell, what it has kept so far."""

from __future__ import annotations

import ast
import asyncio
import contextlib
import json
import os
import signal
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, replace
from pathlib import Path
from queue import Empty
from typing import Any

from jupyter_client.asynchronous.client import AsyncKernelClient
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode

from xleak import verdict
from xleak.cli import last_record
from xleak.cli.notebook import code_cells
from xleak.cli.problem import Problem
from xleak.verdict import CellStatus, Failure, Verdict

# A kernel that is slow to import on a busy machine; nbclient waits as long.
_START_SECONDS = 60
# How long an interrupted kernel may take to give its account before the run ends without it.
_LAST_WORD_SECONDS = 10
_EXPRESSION = "__import__('xleak.verdict', fromlist=['verdict']).verdict_json({}, {})"
_LOAD = "__import__('IPython').get_ipython().extension_manager.load_extension('xleak')"


@dataclass
class Options:
    """How to run: `folder` is where the kernel works, `timeout` in seconds for each cell."""

    folder: Path
    timeout: int | None
    allow_errors: bool


class WatchedRun:
    """Runs the code cells of a notebook in order; its results are there however it ends."""

    def __init__(
        self,
        notebook: NotebookNode,
        manager: AsyncKernelManager,
        options: Options,
        on_cell: Callable[[int, str], None],
    ) -> None:
        self.failure: Failure | None = None
        self.statuses: dict[int, CellStatus] = {}
        self._notebook = notebook
        self._manager = manager
        self._options = options
        self._on_cell = on_cell
        self._client = NotebookClient(
            notebook, km=manager, timeout=options.timeout, allow_errors=options.allow_errors
        )
        self._latest: Verdict | None = None
        """Its cells are those that are new."""
        self._cells: dict[int, verdict.Cell] = {}
        self._stage: asyncio.Task[None] | None = None
        self._interrupted = False
        self._running: int | None = None

    @property
    def verdict(self) -> Verdict | None:
        """What the kernel said last, over all cells that ran."""
        if self._latest is None:
            return None
        cells = [self._cells[index] for index in sorted(self._cells)]
        whole = verdict.assemble(self._latest.source, cells, self._latest.findings)
        return replace(self._latest, cells=cells, summary=whole.summary)

    async def run(self) -> None:
        """Runs to the end, a failure or a signal. Raises Problem where nothing can be watched."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self._interrupt)
        try:
            await self._do(self._start())
            if self.failure is None:
                await self._do(self._run_cells())
                if self.failure is not None and self.failure.kind in ("timeout", "interrupted"):
                    await self._do(self._last_word())
            if self.failure is not None and self.failure.kind == "died":
                message = await last_record.told_of(self._manager)
                self.failure = replace(self.failure, message=message)
        finally:
            await self._stop()

    def _interrupt(self) -> None:
        self._interrupted = True
        if self._stage is not None:
            self._stage.cancel()

    async def _do(self, stage: Coroutine[Any, Any, None]) -> None:
        """Runs a stage that a signal or the end of the kernel may cut short."""
        self._stage = asyncio.ensure_future(stage)
        try:
            await self._stage
        except (asyncio.CancelledError, DeadKernelError):
            # nbclient takes a cancelled cell for a dead kernel.
            self.failure = self.failure or self._cut_short()

    def _cut_short(self) -> Failure:
        if self._interrupted:
            return Failure("interrupted", self._running, "the run was interrupted")
        return Failure("died", self._running, "the kernel died")

    async def _start(self) -> None:
        try:
            await self._manager.start_kernel(
                extra_arguments=_without_history(self._manager),
                cwd=str(self._options.folder),
                env=_environment(),
                # The kernel's own descriptor 1 would land in the report.
                stdout=2,
            )
            client = self._manager.client()
            client.start_channels()
            self._client.kc = client
            await client.wait_for_ready(timeout=_START_SECONDS)
        except (OSError, RuntimeError) as failed:
            self.failure = Failure("not_started", None, f"the kernel did not start: {failed}")
            return
        client.allow_stdin = False
        await self._load()

    async def _load(self) -> None:
        if not await self._ask():
            await _evaluate(self._kernel(), _LOAD)
            if await self._ask():
                return
            raise Problem(
                f"the kernel {self._manager.kernel_name!r} cannot watch its cells. Install xleak "
                "in its environment, and see that XLEAK_DISABLE is not set."
            )

    def _kernel(self) -> AsyncKernelClient:
        client = self._client.kc
        assert isinstance(client, AsyncKernelClient)
        return client

    async def _ask(self, at_end: bool = False) -> bool:
        """Whether the kernel gave an account. Before the end it is asked for the cells that are new: all of them after
        each one would take longer than a long notebook runs."""
        after = 0 if at_end else max(self._cells, default=0)
        text = await _evaluate(self._kernel(), _EXPRESSION.format(at_end, after))
        if text is None:
            return False
        self._latest = verdict.from_json(json.loads(ast.literal_eval(text)))
        self._cells.update((cell.index, cell) for cell in self._latest.cells)
        return True

    async def _run_cells(self) -> None:
        numbers = {id(cell): at for at, cell in enumerate(code_cells(self._notebook), start=1)}
        for position, cell in enumerate(self._notebook.cells):
            number = numbers.get(id(cell))
            if number is None or not cell.source.strip():
                continue
            self._on_cell(number, cell.source)
            await self._run_cell(cell, position, number)
            if self.failure is not None:
                return
        await self._ask(at_end=True)
        self._client.set_widgets_metadata()

    async def _run_cell(self, cell: NotebookNode, position: int, number: int) -> None:
        self._running = number
        self.statuses[number] = "aborted"
        # The session's metadata goes into every request; front ends send the cell's id there.
        self._kernel().session.metadata = {"cellId": cell.id}
        try:
            await self._client.async_execute_cell(cell, position)
            self.statuses[number] = "error" if _raised(cell) else "ok"
        except CellExecutionError as error:
            self.statuses[number] = "error"
            reason = f"{error.ename}: {(error.evalue.splitlines() or [''])[0]}"
            self.failure = Failure("error", number, reason)
        except CellTimeoutError:
            limit = f"the cell ran longer than {self._options.timeout} s"
            self.failure = Failure("timeout", number, limit)
            return
        self._kernel().session.metadata = {}
        await self._ask()
        self._running = None

    async def _last_word(self) -> None:
        """Interrupts the kernel and asks once more: the cell that was stopped has numbers too."""
        await self._manager.interrupt_kernel()
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._ask(), _LAST_WORD_SECONDS)

    async def _stop(self) -> None:
        if self._client.kc is not None:
            self._kernel().stop_channels()
        if self._manager.has_kernel:
            hurry = self.failure is not None and self.failure.kind != "error"
            await self._manager.shutdown_kernel(now=hurry)
            if hurry and self.failure is not None and self.failure.kind != "died":
                last_record.forget(self._manager)


def _without_history(manager: AsyncKernelManager) -> list[str]:
    # A headless run has no place in what the user typed. Other kernels may not know the option.
    argv = manager.kernel_spec.argv if manager.kernel_spec else []
    known = "xleak.kernel" in argv or "ipykernel_launcher" in argv
    return ["--HistoryManager.hist_file=:memory:"] if known else []


def _raised(cell: NotebookNode) -> bool:
    return any(output.output_type == "error" for output in cell.outputs)


def _environment() -> dict[str, str]:
    # The kernel starts in the notebook's folder, where a relative entry would point elsewhere.
    environment = dict(os.environ)
    if entries := environment.get("PYTHONPATH"):
        environment["PYTHONPATH"] = os.pathsep.join(
            os.path.abspath(entry) for entry in entries.split(os.pathsep) if entry
        )
    return environment


async def _evaluate(client: AsyncKernelClient, expression: str) -> str | None:
    """The text form of an expression in the kernel, by a request that leaves no trace there.

    None where it raised. Raises DeadKernelError.
    """
    while True:
        request = client.execute(
            "pass", silent=True, store_history=False, user_expressions={"it": expression}
        )
        content = await _reply(client, request)
        # A cell that is stopped takes the requests behind it down with it.
        if content["status"] != "aborted":
            answer = content.get("user_expressions", {}).get("it", {})
            return answer["data"]["text/plain"] if answer.get("status") == "ok" else None


async def _reply(client: AsyncKernelClient, request: str) -> dict[str, Any]:
    while True:
        try:
            reply = await client.get_shell_msg(timeout=1)
        except Empty:
            if not await client.is_alive():
                raise DeadKernelError("Kernel died") from None
            continue
        if reply["parent_header"].get("msg_id") == request:
            content: dict[str, Any] = reply["content"]
            return content
