"""Holders of PyTorch's: what watches each cell once torch is imported, and what is asked by each search."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from xleak.shell.holders.autocasts import Autocasts
from xleak.shell.holders.churn import Churn
from xleak.shell.holders.deleted import DeletedTensors
from xleak.shell.holders.device_passes import DevicePasses
from xleak.shell.holders.dropped_traces import DroppedTraces
from xleak.shell.holders.grown_by_cat import GrownByCat
from xleak.shell.holders.hooks import Hooks
from xleak.shell.holders.passes import GraphsOfPasses
from xleak.shell.holders.process_groups import ProcessGroups
from xleak.shell.holders.recompilations import Recompilations
from xleak.shell.holders.scalers import Scalers
from xleak.shell.holders.stray_devices import StrayTensors
from xleak.shell.holders.uncleared_gradients import UnclearedGradients
from xleak.shell.holders.weights_on_meta import WeightsOnMeta

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from xleak.shell.holders.counts import Counts


class OfTorch:
    """Made when torch is imported first."""

    def __init__(self, counts: Counts) -> None:
        self.passes = GraphsOfPasses()
        self.deleted = DeletedTensors(self.passes)
        self.hooks = Hooks()
        self.grown = GrownByCat()
        self.compiled = Recompilations()
        self.groups = ProcessGroups()
        self.churn = Churn()
        self.strays = StrayTensors()
        self.loaded = WeightsOnMeta()
        self.scalers = Scalers(counts)
        self.autocasts = Autocasts(counts)
        self.device_passes = DevicePasses(counts)
        self.uncleared = UnclearedGradients(counts)
        self.traces = DroppedTraces()

    def before_session(self) -> None:
        """Notes what is there already, which no cell made."""
        self.traces.before_session()

    def after_cell(
        self, index: int, source: str, sources: Mapping[int, str], shell: InteractiveShell
    ) -> list[bool]:
        """Whether one of them has a reason to search."""
        self.deleted.after_cell(index, shell.user_ns)
        return [
            self.hooks.after_cell(index),
            self.grown.after_cell(index, sources),
            self.compiled.after_cell(index),
            self.groups.after_cell(index, source),
            self.churn.after_cell(index, sources, shell.user_ns),
            self.strays.after_cell(source),
            self.loaded.after_cell(index, source),
            self.scalers.after_cell(index, source),
            self.autocasts.after_cell(index),
            self.device_passes.after_cell(index),
            self.uncleared.after_cell(index, source),
        ]
