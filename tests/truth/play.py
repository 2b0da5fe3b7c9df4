"""Runs one case in a real IPython shell, as a kernel would, and prints what it measured as JSON.

python tests/truth/play.py CASE.py
Started by verify.py, in a process and a folder of its own.
"""

import asyncio
import json
import os
import resource
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import cases
import counters

# The rounds of a clean case. The second may still fill what fills once, a table that a library makes at
# its second use; so the third decides, and all are printed.
ROUNDS = 3
_REST = 0.02
_LOCAL = ("127.", "localhost", "::1")


@dataclass
class Played:
    """What one run showed."""

    readings: list[int] = field(default_factory=list)
    parts: list[str] = field(default_factory=list)
    raised: dict[int, str] = field(default_factory=dict)
    imported: list[str] = field(default_factory=list)
    written: list[str] = field(default_factory=list)
    wall: float = 0.0
    processor: float = 0.0
    peak: int = 0
    problem: str | None = None


class Player:
    """A shell in which the cells of a case run, inside an event loop that stays, as in a kernel."""

    def __init__(self, case: cases.Case, folder: Path) -> None:
        from IPython.core.interactiveshell import InteractiveShell
        from traitlets.config import Config

        config = Config()
        config.HistoryManager.hist_file = ":memory:"
        config.InteractiveShell.colors = "NoColor"
        self._shell: Any = InteractiveShell.instance(config=config)
        self._case = case
        self._folder = folder
        self.played = Played()

    async def play(self) -> None:
        started = time.monotonic(), time.process_time()
        await self.run_cells(first=True)
        self.played.wall = time.monotonic() - started[0]
        self.played.processor = time.process_time() - started[1]
        await self._read()
        if self._case.leak:
            if error := await self._run(self._case.leak.repair):
                self.played.problem = f"`repair` raises {error}"
            await self._read()
            return
        for _ in range(ROUNDS - 1):
            await self.run_cells()
            await self._read()

    async def run_cells(self, first: bool = False) -> None:
        """The whole notebook once, in its order."""
        for cell in self._case.executed:
            error = await self._run(cell.source)
            if error and first:
                self.played.raised[cell.number] = error

    async def _run(self, source: str) -> str | None:
        result = await self._cell(source, store_history=True)
        error = result.error_before_exec or result.error_in_exec
        self._shell.events.trigger("post_execute")
        self._shell.events.trigger("post_run_cell", result)
        # Threads and tasks of the cell go on while nobody runs anything.
        await asyncio.sleep(_REST)
        return f"{type(error).__name__}: {error}"[:200] if error else None

    async def _cell(self, source: str, store_history: bool) -> Any:
        try:
            transformed, failure = self._shell.transform_cell(source), None
        except Exception:
            transformed, failure = source, sys.exc_info()
        return await self._shell.run_cell_async(
            source,
            store_history=store_history,
            transformed_cell=transformed,
            preprocessing_exc_tuple=failure,
        )

    async def _read(self) -> None:
        # What the shell keeps of its last cell alone is the same at every reading.
        await self._cell("pass", store_history=False)
        await asyncio.sleep(_REST)
        held = counters.held(self._folder)
        self.played.readings.append(held.total)
        self.played.parts.append(str(held))


def _watch(written: list[str], folder: Path) -> Callable[[str, tuple[Any, ...]], None]:
    """Refuses the network, and notes what is written outside the folder."""
    free = (str(folder), "/dev/", "/proc/", os.environ["MPLCONFIGDIR"])

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "socket.connect" and isinstance(arguments[1], tuple):
            if not str(arguments[1][0]).startswith(_LOCAL):
                raise OSError("a case has no network")
        elif event == "open" and isinstance(arguments[0], str) and arguments[2] is not None:
            path = os.path.abspath(arguments[0])
            writes = arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
            if writes and not path.startswith(free) and "__pycache__" not in path:
                written.append(path)

    return hook


def main() -> int:
    counters.prepare()
    report = os.dup(1)
    folder = Path.cwd()
    with open("output.txt", "w", encoding="utf-8") as output:
        os.dup2(output.fileno(), 1)
        os.dup2(output.fileno(), 2)
    case = cases.read(Path(sys.argv[1]))
    before = {*sys.modules}
    player = Player(case, folder)
    played = player.played
    sys.addaudithook(_watch(played.written, folder))
    try:
        asyncio.run(player.play())
    except BaseException:
        played.problem = traceback.format_exc()
    played.imported = sorted({name.partition(".")[0] for name in {*sys.modules} - before})
    played.peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    os.write(report, json.dumps(asdict(played)).encode())
    # Threads that a case left behind are not waited for.
    os._exit(0)


if __name__ == "__main__":
    sys.exit(main())
