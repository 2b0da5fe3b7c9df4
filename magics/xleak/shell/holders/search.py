"""When the heap is searched for holders, and by whom."""

from __future__ import annotations

import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from xleak import _native
from xleak.shell.heap import take_snapshot
from xleak.shell.holders.anomaly import TrainedUnderAnomaly
from xleak.shell.holders.autocasts import Autocasts
from xleak.shell.holders.captures import Captures
from xleak.shell.holders.churn import Churn
from xleak.shell.holders.collected_widgets import CollectedWidgets
from xleak.shell.holders.contexts import kept_contexts
from xleak.shell.holders.counts import Counts
from xleak.shell.holders.cuda_paths import FRAMEWORKS, CudaPaths
from xleak.shell.holders.cycles import GarbageCycles
from xleak.shell.holders.dataset_copies import DatasetCopies
from xleak.shell.holders.debuggers import debuggers
from xleak.shell.holders.default_graph import DefaultGraph
from xleak.shell.holders.deleted import DeletedTensors
from xleak.shell.holders.device_mismatches import mismatched_devices
from xleak.shell.holders.device_passes import DevicePasses, parallels
from xleak.shell.holders.doubled_peaks import DoubledPeaks, peaked_again
from xleak.shell.holders.dropped_traces import DroppedTraces
from xleak.shell.holders.exceptions import exceptions
from xleak.shell.holders.exit_hooks import ExitHooks, finalizers
from xleak.shell.holders.failed_retries import failed_retries
from xleak.shell.holders.figures import open_figures
from xleak.shell.holders.forward_attributes import ForwardAttributes
from xleak.shell.holders.free_heap import FreeHeap
from xleak.shell.holders.futures import ReadFutures
from xleak.shell.holders.gathered_outputs import GatheredOutputs
from xleak.shell.holders.gradients import GradientsWithGraph, orphans
from xleak.shell.holders.graph_constants import GraphConstants
from xleak.shell.holders.graphs import ContainersOfGraphs
from xleak.shell.holders.grown_by_cat import GrownByCat
from xleak.shell.holders.growth import GrowingContainers
from xleak.shell.holders.handlers import AddedHandlers
from xleak.shell.holders.hooks import Hooks
from xleak.shell.holders.kept_optimizers import KeptOptimizers
from xleak.shell.holders.keras_models import KerasModels
from xleak.shell.holders.keras_passes import KerasPasses
from xleak.shell.holders.lambda_layers import lambda_layers
from xleak.shell.holders.last_traceback import last_traceback
from xleak.shell.holders.long_cells import LongCell
from xleak.shell.holders.look import LEAST_BYTES, Look, Teller
from xleak.shell.holders.made_in_forward import MadeInForward
from xleak.shell.holders.method_caches import method_caches
from xleak.shell.holders.mutable_defaults import MutableDefaults
from xleak.shell.holders.open_files import OpenFiles
from xleak.shell.holders.passes import GraphsOfPasses
from xleak.shell.holders.pictures import DecodedPictures
from xleak.shell.holders.process_groups import ProcessGroups
from xleak.shell.holders.products import MatrixProducts
from xleak.shell.holders.recompilations import Recompilations
from xleak.shell.holders.recompiled_models import RecompiledModels
from xleak.shell.holders.registries import Registries
from xleak.shell.holders.repeated_loaders import RepeatedIterators, RepeatedLoaders
from xleak.shell.holders.repeaters import RepeatedBatches
from xleak.shell.holders.replay_memories import ReplayMemories
from xleak.shell.holders.retraced_functions import RetracedFunctions
from xleak.shell.holders.running import LeftRunning
from xleak.shell.holders.scalers import Scalers
from xleak.shell.holders.search_workers import SearchWorkers
from xleak.shell.holders.signs import SourceSigns
from xleak.shell.holders.squares import Squares
from xleak.shell.holders.stray_devices import StrayTensors
from xleak.shell.holders.stray_widgets import StrayWidgets
from xleak.shell.holders.tapes import Tapes
from xleak.shell.holders.tf_sessions import OpenSessions
from xleak.shell.holders.timed_lines import TimedLines
from xleak.shell.holders.unbounded_caches import UnboundedCaches
from xleak.shell.holders.uncleared_gradients import UnclearedGradients
from xleak.shell.holders.views import PinnedViews
from xleak.shell.holders.weights_on_meta import WeightsOnMeta
from xleak.shell.holders.workers import IdleWorkers
from xleak.shell.widgets import is_imported as widgets_are_imported

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from xleak.shell.watcher import Watcher

# A cell that moved less leaves nothing to look for.
_SUSPECT_BYTES = 1 << 20
# Where a cell wants memory back, it matters whether it came.
_LETS_GO = re.compile(r"\bdel\b|=\s*None\b|\.(?:pop|clear|close)\(")
# Of the time before a reply; of a pause, which ends when somebody asks.
_GRAPHS_MS = 10.0
_ALL_GRAPHS_MS = 1000.0
_ENTRY = re.compile(r"Out\[(\d+)\]")


class Holders:
    """The facts of the last search, and whether it is time for another."""

    def __init__(self) -> None:
        self.facts: list[_native.Holder] = []
        self.suspected = False
        """Whether the next look() searches."""
        self._counts = Counts()
        signs = SourceSigns()
        graphs = GraphsOfPasses()
        self._deleted = DeletedTensors(graphs)
        self._hooks = Hooks()
        self._widgets = StrayWidgets()
        self._grown = GrownByCat()
        self._compiled = Recompilations()
        self._groups = ProcessGroups()
        self._files = OpenFiles()
        self._search_workers = SearchWorkers()
        self._cuda = CudaPaths()
        self._churn = Churn()
        self._strays = StrayTensors()
        self._loaded = WeightsOnMeta()
        self._scalers = Scalers(self._counts)
        self._autocasts = Autocasts(self._counts)
        self._passes = DevicePasses(self._counts)
        self._uncleared = UnclearedGradients(self._counts)
        self._keras_models = KerasModels()
        self._keras_passes = KerasPasses()
        self._retraced = RetracedFunctions()
        self._recompiled = RecompiledModels()
        self._sessions = OpenSessions()
        self._timed = TimedLines()
        self._default_graph = DefaultGraph()
        self._tellers: list[Teller] = [
            last_traceback,
            failed_retries,
            method_caches,
            exceptions,
            open_figures,
            debuggers,
            ReplayMemories(signs),
            self._hooks,
            MadeInForward(signs),
            KeptOptimizers(),
            ContainersOfGraphs(),
            finalizers,
            ReadFutures(),
            ExitHooks(self._counts),
            TrainedUnderAnomaly(self._counts),
            AddedHandlers(self._counts),
            LeftRunning(self._counts),
            RepeatedLoaders(self._counts),
            RepeatedIterators(self._counts),
            IdleWorkers(),
            self._widgets,
            CollectedWidgets(self._widgets.history),
            graphs,
            DecodedPictures(),
            GatheredOutputs(),
            MutableDefaults(signs),
            Registries(signs),
            ForwardAttributes(signs),
            GrowingContainers(signs),
            GarbageCycles(),
            GradientsWithGraph(),
            orphans,
            self._deleted,
            PinnedViews(),
            UnboundedCaches(signs),
            kept_contexts,
            Captures(),
            FreeHeap(),
            DoubledPeaks(),
            self._grown,
            DroppedTraces(),
            RepeatedBatches(),
            self._compiled,
            self._groups,
            self._files,
            self._search_workers,
            self._cuda,
            lambda_layers,
            self._churn,
            Squares(),
            self._strays,
            mismatched_devices,
            self._loaded,
            self._scalers,
            self._autocasts,
            self._passes,
            self._uncleared,
            self._keras_models,
            self._keras_passes,
            parallels,
            MatrixProducts(),
            GraphConstants(),
            self._retraced,
            self._recompiled,
            self._sessions,
            self._default_graph,
            DatasetCopies(),
            self._timed,
            Tapes(),
        ]
        self.graphs_of_outputs: Mapping[int, int] = {}
        """By number of an entry of Out the bytes that the graphs of its tensors alone keep."""
        self._long_cell = LongCell()
        self._running = ""
        """The source of the cell that runs or ran last."""
        self._sources: dict[int, str] = {}
        self._failed_cell: int | None = None
        self._crept_bytes = 0
        """What the cells since the last search have kept, each too little for one."""
        self._cost_ms = 0.0

    def before_cell(self, source: str, shell: InteractiveShell) -> None:
        """Notes what the cell is to let go of, and what was there before it."""
        self._running = source
        if widgets_are_imported():
            self._widgets.history.before_cell()
        if "torch" in sys.modules:
            self._deleted.before_cell(source, shell.user_ns)

    def while_running(self, shell: InteractiveShell) -> list[_native.Holder]:
        """What the cell that runs does, without a search."""
        return list(self._long_cell(self._running, self._sources, shell))

    def after_cell(self, index: int, source: str, shell: InteractiveShell) -> None:
        """Looks at the cell's counters, and whether its code raised or lets go of something."""
        self._sources[index] = source
        result = shell.last_execution_result
        failed = result is not None and result.error_in_exec is not None
        if failed:
            self._failed_cell = index
        noticed = [
            failed,
            self._counts.after_cell(index, source),
            widgets_are_imported() and self._widgets.history.after_cell(index, source),
            self._files.after_cell(index, source),
            self._timed.after_cell(index, self._sources, shell),
        ]
        if "joblib" in sys.modules or "loky" in sys.modules:
            noticed.append(self._search_workers.after_cell(index))
        if not sys.modules.keys().isdisjoint(FRAMEWORKS):
            noticed.append(self._cuda.after_cell(index))
        if "torch" in sys.modules:
            self._deleted.after_cell(index, shell.user_ns)
            noticed += [
                self._hooks.after_cell(index),
                self._grown.after_cell(index, self._sources),
                self._compiled.after_cell(index),
                self._groups.after_cell(index, source),
                self._churn.after_cell(index, self._sources, shell.user_ns),
                self._strays.after_cell(source),
                self._loaded.after_cell(index, source),
                self._scalers.after_cell(index, source),
                self._autocasts.after_cell(index),
                self._passes.after_cell(index),
                self._uncleared.after_cell(index, source),
            ]
        if "keras" in sys.modules:
            noticed += [
                self._keras_models.after_cell(index, source),
                self._keras_passes.after_cell(index, source),
            ]
        if "tensorflow" in sys.modules:
            noticed += [
                self._retraced.after_cell(index),
                self._recompiled.after_cell(index, source),
                self._sessions.after_cell(index, source),
                self._default_graph.after_cell(index, source),
            ]
        if any(noticed) or self._changed_much(index, source):
            self.suspect()

    def _changed_much(self, index: int, source: str) -> bool:
        moved, kept, spike = _native.change_of(index)
        self._crept_bytes += kept
        if moved is None or max(moved, self._crept_bytes) >= _SUSPECT_BYTES:
            return True
        return bool(_LETS_GO.search(source)) or peaked_again(spike, index, self._sources)

    def _tell(
        self,
        heap: _native.HeapSnapshot,
        live: _native.LiveObjects,
        watcher: Watcher,
        index: int,
    ) -> list[_native.Holder]:
        look = Look(heap, live, watcher, index, self._failed_cell, self._sources, self.suspect)
        told: dict[str, _native.Holder] = {}
        for teller in self._tellers:
            for holder in teller(look):
                # What two could tell of is the first one's.
                told.setdefault(holder.label, holder)
        return list(told.values())

    def suspect(self) -> None:
        """Something may be kept: the next look() searches."""
        self.suspected = True

    def look(
        self,
        watcher: Watcher,
        index: int,
        deadline_ms: float | None,
        interrupted: Callable[[], bool] | None,
    ) -> bool:
        """Searches the heap after cell `index`, where something is suspected. False: it takes
        another call."""
        if not self.suspected:
            return True
        if deadline_ms is not None and self._cost_ms > deadline_ms:
            return False
        start = time.perf_counter()
        graphs_ms = _ALL_GRAPHS_MS if deadline_ms is None else _GRAPHS_MS
        heap = take_snapshot(watcher, deadline_ms, interrupted, graphs_ms)
        if heap is not None:
            self.suspected = False
            self._crept_bytes = 0
            # After the snapshot, to which it would be a holder of everything.
            with _native.LiveObjects() as live:
                self.facts = self._tell(heap, live, watcher, index)
            self.graphs_of_outputs = {} if watcher.caches.unused else _graphs_of_outputs(heap)
        cost_ms = (time.perf_counter() - start) * 1000
        # One that a request cut short says nothing of what a whole one takes.
        self._cost_ms = cost_ms if heap is not None else max(cost_ms, self._cost_ms)
        return heap is not None


def _graphs_of_outputs(heap: _native.HeapSnapshot) -> Mapping[int, int]:
    kept: Counter[int] = Counter()
    for graph in heap.graphs(LEAST_BYTES):
        if entry := _ENTRY.match(graph.way):
            kept[int(entry[1])] += graph.kept
    return kept
