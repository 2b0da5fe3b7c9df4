"""`xleak run`: runs a notebook and reports what its cells kept."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from xleak.cli import output
from xleak.cli.problem import Problem
from xleak.render import html, table, text
from xleak.verdict import SEVERITIES, Verdict, to_json

try:
    import nbformat
    from jupyter_client.kernelspec import NoSuchKernel
    from jupyter_client.manager import AsyncKernelManager

    from xleak.cli import account, notebook
    from xleak.cli.cell_facts import write_facts
    from xleak.cli.kernels import KernelSpecs
    from xleak.cli.watched import Options, WatchedRun
except ImportError as missing:
    raise Problem(f"needs {missing.name}. Install it with: pip install 'xleak[run]'") from missing

if TYPE_CHECKING:
    from nbformat import NotebookNode

CLEAN, FOUND, BAD_USAGE, FAILED = 0, 1, 2, 3


def run(arguments: argparse.Namespace) -> int:
    """Runs the notebook and writes the report. Returns one of the codes that --help lists."""
    if not arguments.output:
        output.check_stdout()
    path = Path(arguments.notebook)
    cells = notebook.read(path)
    manager = _manager(arguments.kernel)
    places = _places(arguments, path)
    verdict = _verdict(cells, manager, arguments)
    sources = {at: cell.source for at, cell in enumerate(notebook.code_cells(cells), start=1)}
    try:
        if "--save-executed" in places:
            write_facts(cells, verdict)
            output.replace(places["--save-executed"], nbformat.writes(cells) + "\n")
        if "--output" in places:
            output.replace(places["--output"], _formatted(verdict, sources, arguments.format))
            output.say(f"Report: {places['--output']}")
    finally:
        # Also where a file could not be written: the run was not for nothing.
        form = "text" if "--output" in places else arguments.format
        _show(verdict, sources, form)
    return _code(verdict, arguments.fail_on)


def _manager(kernel: str) -> AsyncKernelManager:
    specs = KernelSpecs()
    manager = AsyncKernelManager(kernel_name=kernel, kernel_spec_manager=specs)
    try:
        spec = manager.kernel_spec
    except NoSuchKernel:
        known = ", ".join(sorted(specs.find_kernel_specs()))
        raise Problem(f"there is no kernel {kernel!r}. Jupyter knows: {known or 'none'}.") from None
    assert spec is not None
    if spec.language.lower() != "python":
        raise Problem(f"the kernel {kernel!r} runs {spec.language}, and xleak watches Python.")
    return manager


def _places(arguments: argparse.Namespace, path: Path) -> dict[str, Path]:
    wanted = {"--output": arguments.output, "--save-executed": arguments.save_executed}
    places = {
        option: output.writable(name, option, path) for option, name in wanted.items() if name
    }
    if len(set(places.values())) < len(places):
        raise Problem("--output and --save-executed name the same file. Choose two.")
    return places


def _verdict(
    cells: NotebookNode, manager: AsyncKernelManager, arguments: argparse.Namespace
) -> Verdict:
    options = Options(
        Path(arguments.notebook).resolve().parent, arguments.timeout, arguments.allow_errors
    )
    with _progress(len(notebook.code_cells(cells))) as on_cell:
        watched = WatchedRun(cells, manager, options, on_cell)
        asyncio.run(watched.run())
    return account.joined(
        arguments.notebook, cells, watched.verdict, watched.statuses, watched.failure
    )


@contextlib.contextmanager
def _progress(total: int) -> Iterator[Callable[[int, str], None]]:
    """A bar on stderr while a person looks at it; else nothing."""
    try:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
    except ImportError:
        yield lambda number, source: None
        return
    count = TextColumn("cell {task.fields[cell]} of {task.total}")
    # What the cell says is data, so its column must not read markup.
    line = TextColumn("{task.description}", markup=False)
    console = Console(stderr=True)
    with Progress(
        count,
        BarColumn(),
        TimeElapsedColumn(),
        line,
        console=console,
        transient=True,
        disable=not console.is_terminal,
    ) as bar:
        task = bar.add_task("starting the kernel", total=total, cell=0)
        yield lambda number, source: bar.update(
            task,
            completed=number - 1,
            cell=number,
            description=table.shorten(table.first_line(source), 40),
        )


def _show(verdict: Verdict, sources: dict[int, str], form: str) -> None:
    whole = None if form == "text" else _formatted(verdict, sources, form)
    with output.to_stdout() as stream:
        if whole is None:
            text.write(verdict, sources, stream)
        else:
            stream.write(whole)


def _formatted(verdict: Verdict, sources: dict[int, str], form: str) -> str:
    if form == "json":
        return json.dumps(to_json(verdict), indent=2) + "\n"
    if form == "html":
        return html.page(verdict, sources)
    return text.report(verdict, sources) + "\n"


def _code(verdict: Verdict, fail_on: str) -> int:
    if verdict.failure is not None:
        return FAILED
    if fail_on == "never":
        return CLEAN
    counting = SEVERITIES[: [*SEVERITIES].index(fail_on) + 1]  # type: ignore[arg-type]
    return FOUND if any(finding.severity in counting for finding in verdict.findings) else CLEAN
