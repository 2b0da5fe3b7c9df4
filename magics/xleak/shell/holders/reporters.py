"""All that a search asks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xleak.shell.holders.anomaly import TrainedUnderAnomaly
from xleak.shell.holders.attached_data import AttachedData
from xleak.shell.holders.captures import Captures
from xleak.shell.holders.collected_widgets import CollectedWidgets
from xleak.shell.holders.contexts import kept_contexts
from xleak.shell.holders.cycles import GarbageCycles
from xleak.shell.holders.dataset_copies import DatasetCopies
from xleak.shell.holders.debuggers import debuggers
from xleak.shell.holders.device_mismatches import mismatched_devices
from xleak.shell.holders.device_passes import parallels
from xleak.shell.holders.doubled_peaks import DoubledPeaks
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
from xleak.shell.holders.graphs_behind import GraphsBehindObjects
from xleak.shell.holders.growth import GrowingContainers
from xleak.shell.holders.handlers import AddedHandlers
from xleak.shell.holders.kept_optimizers import KeptOptimizers
from xleak.shell.holders.lambda_layers import lambda_layers
from xleak.shell.holders.last_traceback import last_traceback
from xleak.shell.holders.left_parameters import LeftParameters
from xleak.shell.holders.library_piles import LibraryPiles
from xleak.shell.holders.made_in_forward import MadeInForward
from xleak.shell.holders.method_caches import method_caches
from xleak.shell.holders.mutable_defaults import MutableDefaults
from xleak.shell.holders.out_of_reach import out_of_reach
from xleak.shell.holders.pictures import DecodedPictures
from xleak.shell.holders.products import MatrixProducts
from xleak.shell.holders.pruned_weights import PrunedWeights
from xleak.shell.holders.rebound_values import ReboundValues
from xleak.shell.holders.registries import Registries
from xleak.shell.holders.repeated_loaders import RepeatedIterators, RepeatedLoaders
from xleak.shell.holders.repeaters import RepeatedBatches
from xleak.shell.holders.replay_memories import ReplayMemories
from xleak.shell.holders.running import LeftRunning
from xleak.shell.holders.single_graphs import SingleGraphs
from xleak.shell.holders.squares import Squares
from xleak.shell.holders.tapes import Tapes
from xleak.shell.holders.unbounded_caches import UnboundedCaches
from xleak.shell.holders.unread_additions import UnreadAdditions
from xleak.shell.holders.unread_elements import UnreadElements
from xleak.shell.holders.unread_entries import UnreadEntries
from xleak.shell.holders.unread_parts import UnreadParts
from xleak.shell.holders.unused_categories import UnusedCategories
from xleak.shell.holders.unused_values import UnusedValues
from xleak.shell.holders.views import PinnedViews
from xleak.shell.holders.waiting_threads import WaitingThreads
from xleak.shell.holders.workers import IdleWorkers

if TYPE_CHECKING:
    from xleak.shell.holders.cell_watchers import CellWatchers
    from xleak.shell.holders.look import Reporter
    from xleak.shell.holders.signs import SourceSigns


def all_reporters(watching: CellWatchers, signs: SourceSigns) -> list[Reporter]:
    """Of what two could report, the first one's counts."""
    counts = watching.counts
    torch, tensorflow = watching.torch, watching.tensorflow
    return [
        last_traceback,
        failed_retries,
        method_caches,
        exceptions,
        open_figures,
        debuggers,
        ReplayMemories(signs),
        torch.hooks,
        MadeInForward(signs),
        KeptOptimizers(),
        ContainersOfGraphs(),
        GraphsBehindObjects(),
        finalizers,
        ReadFutures(),
        ExitHooks(counts),
        TrainedUnderAnomaly(counts),
        AddedHandlers(counts),
        LeftRunning(counts),
        RepeatedLoaders(counts),
        RepeatedIterators(counts),
        IdleWorkers(),
        watching.widgets,
        CollectedWidgets(watching.widgets.history),
        torch.passes,
        DecodedPictures(),
        GatheredOutputs(),
        MutableDefaults(signs),
        Registries(signs),
        ForwardAttributes(signs),
        GrowingContainers(signs),
        GarbageCycles(),
        GradientsWithGraph(),
        orphans,
        torch.deleted,
        PinnedViews(),
        UnboundedCaches(signs),
        kept_contexts,
        watching.asked,
        Captures(watching.uses),
        FreeHeap(),
        DoubledPeaks(),
        torch.grown,
        torch.traces,
        RepeatedBatches(),
        torch.compiled,
        torch.groups,
        watching.files,
        watching.search_workers,
        watching.cuda,
        lambda_layers,
        torch.churn,
        Squares(),
        torch.strays,
        mismatched_devices,
        torch.loaded,
        torch.scalers,
        torch.autocasts,
        torch.device_passes,
        torch.uncleared,
        tensorflow.models,
        tensorflow.passes,
        parallels,
        MatrixProducts(),
        GraphConstants(),
        tensorflow.retraced,
        tensorflow.recompiled,
        tensorflow.sessions,
        tensorflow.graph,
        DatasetCopies(),
        watching.timed,
        Tapes(),
        out_of_reach,
        UnreadAdditions(),
        ReboundValues(),
        LibraryPiles(),
        UnreadParts(),
        UnreadEntries(),
        UnreadElements(),
        AttachedData(),
        SingleGraphs(),
        UnusedCategories(),
        LeftParameters(),
        WaitingThreads(),
        PrunedWeights(),
        UnusedValues(watching.uses),
    ]
