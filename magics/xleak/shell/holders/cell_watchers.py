"""What reads something after each cell, whether or not the heap is searched."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from xleak.shell.holders.asked_for import AskedFor
from xleak.shell.holders.counts import Counts
from xleak.shell.holders.frameworks import KERAS, ON_CUDA, PARALLEL_SEARCHES, any_imported
from xleak.shell.holders.open_files import OpenFiles
from xleak.shell.holders.timed_lines import TimedLines
from xleak.shell.holders.uses import Uses
from xleak.shell.widgets import is_imported as widgets_are_imported

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from xleak.shell.holders.cuda_paths import CudaPaths
    from xleak.shell.holders.of_tensorflow import OfTensorFlow
    from xleak.shell.holders.of_torch import OfTorch
    from xleak.shell.holders.search_workers import SearchWorkers
    from xleak.shell.holders.stray_widgets import StrayWidgets


class CellWatchers:
    """Those of a library are imported and made once the library is, or by the first search: a session
    without them does not hold their code in memory."""

    def __init__(self) -> None:
        self.counts = Counts()
        self.files = OpenFiles()
        self.timed = TimedLines()
        self.uses = Uses()
        self.asked = AskedFor(self.uses)
        if widgets_are_imported():
            self.widgets.history.before_cell()
        if "torch" in sys.modules:
            self.torch.before_session()

    @cached_property
    def torch(self) -> OfTorch:
        from xleak.shell.holders.of_torch import OfTorch

        return OfTorch(self.counts)

    @cached_property
    def tensorflow(self) -> OfTensorFlow:
        from xleak.shell.holders.of_tensorflow import OfTensorFlow

        return OfTensorFlow()

    @cached_property
    def widgets(self) -> StrayWidgets:
        from xleak.shell.holders.stray_widgets import StrayWidgets

        return StrayWidgets()

    @cached_property
    def search_workers(self) -> SearchWorkers:
        from xleak.shell.holders.search_workers import SearchWorkers

        return SearchWorkers()

    @cached_property
    def cuda(self) -> CudaPaths:
        from xleak.shell.holders.cuda_paths import CudaPaths

        return CudaPaths()

    def before_cell(self, source: str, shell: InteractiveShell) -> None:
        """Notes what the cell is to let go of, and what was there before it."""
        if widgets_are_imported():
            self.widgets.history.before_cell()
        self.asked.before_cell(source, shell.user_ns)
        if "torch" in sys.modules:
            self.torch.deleted.before_cell(source, shell.user_ns)

    def after_cell(self, index: int, sources: Mapping[int, str], shell: InteractiveShell) -> bool:
        """Whether one of them has a reason to search."""
        source = sources[index]
        noticed = [
            self.counts.after_cell(index, source),
            widgets_are_imported() and self.widgets.history.after_cell(index, source),
            self.files.after_cell(index, source),
            self.timed.after_cell(index, sources, shell),
            self.asked.after_cell(index, source, shell.user_ns),
        ]
        if any_imported(PARALLEL_SEARCHES):
            noticed.append(self.search_workers.after_cell(index))
        if any_imported(ON_CUDA):
            noticed.append(self.cuda.after_cell(index))
        if "torch" in sys.modules:
            noticed += self.torch.after_cell(index, source, sources, shell)
        if any_imported(KERAS):
            noticed += self.tensorflow.after_cell(index, source)
        return any(noticed)
