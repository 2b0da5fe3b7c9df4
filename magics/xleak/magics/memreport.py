"""`%memreport`: what the cells of the session did to memory, and what its names hold."""

from __future__ import annotations

from typing import Any

from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import Magics, line_cell_magic, magics_class
from IPython.display import display

from xleak import _native
from xleak.magics import snapshot as snapshots
from xleak.magics.asked import asked
from xleak.magics.live import cell_sources, live_verdict, live_watcher
from xleak.render import account as accounts
from xleak.render import chart, holders, html, lines, table, text
from xleak.render import tensors as tensor_table
from xleak.shell import tensors
from xleak.shell.heap import label_of, largest_names, name_facts, take_snapshot
from xleak.shell.lines import account_of_lines
from xleak.shell.live_tensors import largest_tensors
from xleak.shell.process_account import account_of, resident_pages
from xleak.shell.torch_modes import mode_line
from xleak.shell.watcher import Watcher, watcher
from xleak.verdict import with_account

_LINES = "--lines"
_NAMES_SHOWN = 10
_TENSORS_SHOWN = 10
_WAYS_SHOWN = 5
_INSIDE_SHOWN = 3


@magics_class
class MemreportMagic(Magics):
    """Shows the session by cell and by name."""

    def __init__(self, shell: InteractiveShell) -> None:
        super().__init__(shell)
        shell.input_transformers_cleanup.append(snapshots.without_mark)
        watching = watcher()
        if watching is not None:
            recorded = snapshots.RecordedCells()
            watching.before_run.append(recorded.before_run)
            watching.after_account.append(recorded.after_account)
            watching.after_cells.append(recorded.after_cell)
            watching.showing.append(snapshots.is_recorded)

    @line_cell_magic
    @asked
    def memreport(self, line: str, cell: str | None = None) -> None:
        """Show what each cell kept, and what each name holds.

        %memreport         by cell, by name and by tensor, the totals, and where all memory is
        %memreport NAME    what would come back if the name went, and who else holds its value;
                           takes Out[n] too
        %memreport --lines what each line of the cells made: alive now, and at the peaks
        %memreport --snapshot FILE.pickle   torch's own snapshot of a device, for its viewer; without
                           a device, or for FILE.json, the memory of all cells over time
        %%memreport --snapshot FILE.pickle  as first line: torch records this cell, then stops
        """
        words = line.split()
        if cell is not None or words[:1] == [snapshots.OPTION]:
            file = snapshots.file_of(line)
            # A cell that is recorded never comes here: its first line is gone before.
            if cell is not None or file is None:
                raise UsageError(
                    f"%memreport {snapshots.OPTION} takes a file.pickle or a file.json"
                )
            print(snapshots.written(file))
            return
        if words == [_LINES]:
            self._show_lines()
            return
        if len(words) > 1:
            raise UsageError(f"%memreport takes one name or nothing, got {line.strip()!r}")
        if words:
            print(name_report(live_watcher(), words[0]))
            return
        verdict = live_verdict()
        if not table.users_cells(verdict):
            print("No cell has ended yet, so there is nothing to report.")
            return
        sources = cell_sources(self.shell, verdict)
        pages = resident_pages()
        heap = snapshot(live_watcher())
        names = largest_names(live_watcher(), heap, _NAMES_SHOWN)
        found = account_of(live_watcher(), heap, pages)
        account = None
        if found is not None:
            verdict = with_account(verdict, *found)
            account = verdict.account
        largest = largest_tensors(heap, _TENSORS_SHOWN)
        plain = [text.cell_table(verdict, sources), table.totals(verdict), table.devices(verdict)]
        plain.append(chart.plain(chart.chart_of(verdict)))
        plain += [accounts.plain(account)] if account else []
        plain += [holders.name_table(names)] if names else []
        plain += [tensor_table.plain(largest), mode_line()]
        page = html.fragment(verdict, sources) + (accounts.fragment(account) if account else "")
        page += holders.name_fragment(names) if names else ""
        page += tensor_table.fragment(largest) + html.legend(mode_line())
        display(
            {"text/plain": "\n\n".join(part for part in plain if part), "text/html": page}, raw=True
        )
        if unknown := tensors.why_unknown():
            print(f"xleak: {unknown}")

    def _show_lines(self) -> None:
        try:
            account = account_of_lines(self.shell)
        except _native.MonitorError as error:
            print(f"xleak: {error}")
            return
        print(lines.plain(account))


def snapshot(watching: Watcher) -> _native.HeapSnapshot:
    """The whole heap. Raises UsageError where the user interrupted it."""
    heap = take_snapshot(watching, interrupted=lambda: False)
    if heap is None:
        raise UsageError("the search through the heap was interrupted: nothing to report")
    return heap


def name_report(watching: Watcher, target: str) -> str:
    """What one name, or one entry of the output cache, holds. Raises UsageError for another."""
    refused = ""
    try:
        label = label_of(watching, target)
    except ValueError as error:
        refused = f"%memreport: {error}"
    # Not within the except: IPython keeps the last error, and its frames would keep what they looked at.
    if refused:
        raise UsageError(refused)
    # Before the value is looked at, which would be one more reference to it.
    heap = snapshot(watching)
    facts = name_facts(heap, label, _value_of(watching, label))
    others = heap.other_ways(label, _WAYS_SHOWN + 1)
    inside = heap.largest(label, _INSIDE_SHOWN)
    return holders.name_lines(facts, others[:_WAYS_SHOWN], len(others) > _WAYS_SHOWN, inside)


def _value_of(watching: Watcher, label: str) -> Any:
    """The value behind a label that label_of gave."""
    for number, value in watching.caches.values(scalars=True).items():
        if label == f"Out[{number}]":
            return value
    return _native.value_at(watching.shell.user_ns, label)
