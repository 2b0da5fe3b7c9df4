"""Worker processes of loaders, and of iterators of one loader, that each iteration makes again."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from xleak import _native
from xleak.cell_names import name_of_run
from xleak.shell.descendants import proportional_bytes
from xleak.shell.fields import fields_of, instances, loaded_class
from xleak.shell.holders.counts import Counts
from xleak.shell.holders.look import Look, may_be_released
from xleak.shell.holders.places import container_of, first_container_of, value_at
from xleak.shell.holders.reruns import identity_of
from xleak.shell.holders.workers import IDLE_CELLS, LOADER, alive

# Two may be streams side by side.
_TURNS = 3
_NAME = re.compile(r"[^\W\d]\w*")
# They take the whole data set in; what other samplers take may differ from loader to loader.
_SAMPLERS = ("SequentialSampler", "RandomSampler")
_SETTINGS = ("dataset", "collate_fn", "batch_size", "num_workers", "drop_last")


@dataclass(frozen=True)
class _Working:
    """A loader or an iterator with workers, for the time of a look."""

    object: Any
    way: str
    pids: list[int]
    cell: int
    """The one that started its workers."""


class RepeatedLoaders:
    """Loaders of one cell with the same settings, each with workers that wait for its next epoch."""

    def __init__(self, counts: Counts) -> None:
        self._counts = counts

    def __call__(self, look: Look) -> Iterator[_native.Holder]:
        """One holder for each cell and data set."""
        groups: dict[Any, list[_Working]] = {}
        for loader, fields in instances(look.live, LOADER, "DataLoader"):
            pids = alive(fields_of(fields.get("_iterator")))
            settings = _settings(fields) if pids else None
            if settings is not None:
                it = _working(look, self._counts, loader, pids)
                groups.setdefault((settings, _identity(look, it)), []).append(it)
        for its in groups.values():
            older = _all_but_the_last(its)
            release = [f"{it.way}._iterator = None" for it in older if may_be_released(it.way)]
            yield from _told("loaders", its, release if len(release) == len(older) else [])


class RepeatedIterators:
    """Iterators of one loader that a cell made and that gave one batch at most, once no batch came
    from them for some cells."""

    def __init__(self, counts: Counts) -> None:
        self._counts = counts
        self._since: dict[tuple[int, ...], int] = {}
        """By the first process of each iterator of a group the cell after which it was there."""

    def __call__(self, look: Look) -> Iterator[_native.Holder]:
        """One holder for each cell and loader."""
        before, self._since = self._since, {}
        for its in self._groups(look):
            key = tuple(sorted(it.pids[0] for it in its))
            since = self._since[key] = before.get(key, look.cell)
            if look.cell - since < IDLE_CELLS:
                look.search_again()
                continue
            look.explained.update(it.way for it in its)
            older = _all_but_the_last(its)
            release = [f"{it.way} = None" for it in older if _may_be_replaced(it.way, look)]
            yield from _told("iterators", its, release if len(release) == len(older) else [])

    def _groups(self, look: Look) -> Iterator[list[_Working]]:
        groups: dict[Any, list[_Working]] = {}
        reused = {
            id(fields.get("_iterator")) for _, fields in instances(look.live, LOADER, "DataLoader")
        }
        for it, fields in instances(look.live, LOADER, "_MultiProcessingDataLoaderIter"):
            given, pids = fields.get("_num_yielded"), alive(fields)
            if id(it) not in reused and pids and type(given) is int and given <= 1:
                working = _working(look, self._counts, it, pids)
                key = id(fields.get("_index_sampler")), _identity(look, working)
                groups.setdefault(key, []).append(working)
        yield from (its for its in groups.values() if _are_of_a_loop(its))


def _working(look: Look, counts: Counts, it: Any, pids: list[int]) -> _Working:
    return _Working(it, look.heap.way_to(it), pids, counts.cell_of_process(pids[0]))


def _settings(fields: dict[str, Any]) -> tuple[Any, ...] | None:
    """What equal loaders have in common; None where what they take is chosen by somebody else."""
    sampler = fields.get("sampler")
    kind = next((it for it in _SAMPLERS if _is_exactly(sampler, it)), None)
    source = fields_of(sampler).get("data_source") if kind else None
    if kind is None or source is not fields.get("dataset"):
        return None
    values = [fields.get(name) for name in _SETTINGS]
    # Objects by identity: to compare them is the user's code.
    return (kind, *(it if _native.is_exactly(it, (int, bool)) else id(it) for it in values))


def _is_exactly(it: object, name: str) -> bool:
    sampler = loaded_class("torch.utils.data.sampler", name)
    return sampler is not None and type(it) is sampler


def _identity(look: Look, it: _Working) -> str:
    return identity_of(it.cell, look.sources.get(it.cell, ""))


def _all_but_the_last(its: list[_Working]) -> list[_Working]:
    return sorted(its, key=lambda it: (it.cell, max(it.pids)))[:-1]


def _are_of_a_loop(its: list[_Working]) -> bool:
    """Whether several came from one place in the code: names of their own tell of several."""
    named = [it for it in its if _NAME.fullmatch(it.way)]
    return len(its) >= _TURNS and len(named) <= 1


def _may_be_replaced(way: str, look: Look) -> bool:
    """Whether another value may take the place of an element."""
    container: Any = value_at(look.watcher.shell.user_ns, container_of(way))
    return may_be_released(way) and _native.is_exactly(container, (list, dict))


def _told(kind: str, its: list[_Working], release: Iterable[str]) -> Iterator[_native.Holder]:
    if not _are_of_a_loop(its):
        return
    pids = [pid for it in its for pid in it.pids]
    held = sum(proportional_bytes(pid) for pid in pids)
    since = min(it.cell for it in its) or None
    made = f"torch.utils.data, from {name_of_run(since)} on" if since else "torch.utils.data"
    ways = [it.way for it in its if it.way] or [made]
    label = first_container_of(min(ways)) or min(ways)
    workers = f"{len(pids)} worker processes"
    yield _native.Holder(kind, label, held, since, workers, len(its), "; ".join(release))
