"""Objects of libraries that keep what cells or functions hand to them, one after another, and that no code reads, and
lists of callbacks, which are called by whoever has them."""

from __future__ import annotations

import functools
import types
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from xleak import _native
from xleak.shell.births import Birth, cause_of
from xleak.shell.fields import ancestors_of, class_fields, dictionary_of, fields_of, is_instance
from xleak.shell.heap import running_labels, user_names
from xleak.shell.holders.at_verdict import AtVerdict, IsAsked
from xleak.shell.holders.containers import is_users_class
from xleak.shell.holders.library_uses import Mention, binds, hands_over, mentions
from xleak.shell.holders.look import REPORTED_BYTES, Look, is_the_users, may_be_released
from xleak.shell.holders.repairs import taking_out
from xleak.shell.holders.reruns import code_of
from xleak.shell.holders.uses import first_name
from xleak.shell.modules import is_module

# Fewer are no growth.
_STEPS = 3
_PLAIN: tuple[type, ...] = (list, dict, set, tuple, deque, defaultdict, OrderedDict)
# What the user's code is made of, and data, whose parts the user put there.
_NO_LIBRARY: tuple[type, ...] = (
    type,
    types.FunctionType,
    types.MethodType,
    types.FrameType,
    types.CellType,
    types.GeneratorType,
)
_CALLED = (types.FunctionType, types.MethodType, functools.partial)
# Who reads an element of these takes it out.
_QUEUES = [("queue", "Queue"), ("asyncio.queues", "Queue")]
_SHOWS = ("_repr_html_", "_repr_png_", "_repr_svg_", "_repr_mimebundle_", "_ipython_display_")


@dataclass(frozen=True)
class _Part:
    bytes: int
    births: list[Birth]

    @property
    def cell(self) -> int:
        return self.births[0][0]


@dataclass(frozen=True)
class _Pile:
    object: Any
    way: str
    owner: Any
    """The library's object that has it."""
    parts: list[_Part]


class LibraryPiles(AtVerdict):
    """Objects of libraries that earlier cells or functions hand things to."""

    def holders(self, look: Look, is_asked: IsAsked) -> Iterator[_native.Holder]:
        """One holder for each."""
        for pile in _piles(look):
            if is_asked(pile.way):
                holder = _earlier_runs(look, pile)
                if holder is None and not _are_callbacks(pile.object):
                    holder = _handed_over(look, pile)
                if holder is not None:
                    yield holder


def _piles(look: Look) -> list[_Pile]:
    """The innermost first."""
    found = []
    for it, way, owners, parts in look.heap.piles(REPORTED_BYTES):
        owner = next((own for own in reversed([*owners, it]) if not _is_plain(own)), it)
        way = way.removesuffix(".__dict__")
        is_librarys = not _is_plain(owner) and _is_of_a_library(owner)
        if not (is_librarys or _are_callbacks(it)) or not is_the_users(way):
            continue
        if any(is_module(own) for own in owners):
            continue
        found.append((len(owners), _Pile(it, way, owner, [_Part(*part) for part in parts])))
    return [pile for _, pile in sorted(found, key=lambda it: -it[0])]


def _is_plain(it: object) -> bool:
    return _native.is_exactly(it, _PLAIN)


def _are_callbacks(it: object) -> bool:
    elements = _native.values_of(it) if _is_plain(it) else []
    return bool(elements) and all(_native.is_exactly(element, _CALLED) for element in elements)


def _is_of_a_library(it: object) -> bool:
    if _native.is_kind_of(it, _NO_LIBRARY) or is_users_class(type(it)):
        return False
    return not is_instance(it, "numpy", "ndarray") and not is_instance(it, "torch", "Tensor")


def _earlier_runs(look: Look, pile: _Pile) -> _native.Holder | None:
    """What each run of one cell added, where nothing has gone since the first; what the last one added is in use."""
    keys = _keys(look)
    kept: dict[int, dict[int, int]] = defaultdict(dict)
    for part in pile.parts:
        of_runs = kept[keys.get(part.cell, 0)]
        of_runs[part.cell] = of_runs.get(part.cell, 0) + part.bytes
    for key, by_run in kept.items():
        runs = [run for run, its in keys.items() if its == key and run >= min(by_run)]
        earlier = [run for run in runs[:-1] if run in by_run]
        size = sum(by_run[run] for run in earlier)
        is_growth = len(runs) >= _STEPS and all(run in by_run or _failed(run) for run in runs[:-1])
        if not is_growth or len(earlier) < _STEPS - 1 or size < REPORTED_BYTES:
            continue
        births = [it for part in pile.parts if part.cell in earlier for it in part.births]
        are_called = _are_callbacks(pile.object)
        if not are_called and _is_read(look, pile, births, min(by_run)):
            continue
        cause = cause_of(look.watcher.shell, births)
        covered = _covered(pile.owner) >= len(earlier)
        is_shown = _is_shown(pile.owner) and not covered
        return _native.Holder(
            "callbacks of earlier runs"
            if are_called
            else "earlier runs in sight"
            if is_shown
            else "earlier runs",
            pile.way,
            size,
            cause.cell if cause else earlier[0],
            _native.type_name(pile.owner),
            len(earlier),
            _removing(look, pile, len(earlier), covered),
            line=cause.line if cause else None,
        )
    return None


def _removing(look: Look, pile: _Pile, count: int, covered: bool) -> str:
    """Empty where it is not known which are the earlier ones."""
    if not may_be_released(pile.way):
        return ""
    if covered:
        return f"[it.remove() for it in {pile.way}.images[:-1]];"
    first = _native.values_of(pile.object, 0, count) if type(pile.object) is list else []
    alone = [it for it in first if look.heap.keeps(pile.object, it)]
    is_theirs = _are_callbacks(pile.object) and len(alone) == count
    return f"del {pile.way}[:{count}]" if is_theirs else ""


def _keys(look: Look) -> dict[int, int]:
    """The runs of one cell have one key: by the front end's id, and by the code, which a copy has too."""
    by_id: dict[str, int] = {}
    by_code: dict[str, int] = {}
    keys: dict[int, int] = {}
    for run, source in look.sources.items():
        record = _native.record(run)
        cell_id = record.cell_id if record is not None else None
        code = code_of(source)
        key = by_id.get(cell_id or "", by_code.get(code, run))
        keys[run] = by_code[code] = key
        if cell_id:
            by_id[cell_id] = key
    return keys


def _failed(run: int) -> bool:
    record = _native.record(run)
    return record is not None and record.status == "error"


def _is_read(look: Look, pile: _Pile, births: list[Birth], since: int) -> bool:
    """Whether code has read something of the object, but where it handed over what is kept."""
    return any(mention.reads for _, mention in _mentions(look, pile, births, since))


def _mentions(
    look: Look, pile: _Pile, births: list[Birth], since: int
) -> Iterator[tuple[int, Mention]]:
    """(cell, mention) of all names that lead there, but where code handed over what is kept."""
    names = set(look.heap.names_leading_to(pile.object)) & set(user_names(look.watcher))
    lines = _lines(look, births)
    functions = {place[2] for _, place, _ in births if place is not None}
    for source, cell in {source: cell for cell, source in look.sources.items()}.items():
        adding = lines.get(code_of(source), set())
        if cell < since and not _defines(source):
            continue
        for it in mentions(source, names):
            if adding.isdisjoint(it.lines) and it.to not in functions:
                yield cell, it


def _defines(source: str) -> bool:
    return "def " in source or "lambda" in source


def _lines(look: Look, births: list[Birth]) -> dict[str, set[int]]:
    """By the code of the cell, the lines in which the births were."""
    found: dict[str, set[int]] = defaultdict(set)
    for birth in births:
        cause = cause_of(look.watcher.shell, [birth])
        if cause is not None and cause.line is not None:
            found[code_of(look.sources.get(cause.cell, ""))].add(cause.line)
    return found


def _is_shown(owner: object) -> bool:
    """Whether what it has is on the screen."""
    if is_instance(owner, "matplotlib.artist", "Artist"):
        return True
    fields = [class_fields(base) for base in ancestors_of(type(owner))]
    return any(name in its for its in fields for name in _SHOWS)


def _covered(owner: object) -> int:
    """How many images of a diagram lie under another one that lets nothing through."""
    if not is_instance(owner, "matplotlib.artist", "Artist"):
        return 0
    images = [
        fields_of(it)
        for it in _native.values_of(fields_of(owner).get("_children"))
        if is_instance(it, "matplotlib.image", "AxesImage")
    ]
    extents = Counter(
        repr(_numbers(it.get("_extent"))) for it in images if it.get("_alpha") is None
    )
    return max(extents.values(), default=1) - 1


def _numbers(it: object) -> list[Any]:
    values = _native.values_of(it)
    return values if all(_native.is_exactly(value, (int, float)) for value in values) else []


def _handed_over(look: Look, pile: _Pile) -> _native.Holder | None:
    """What functions handed over, call after call, to an object that was there before and that nobody reads."""
    sites = Counter(part.births[0][1] for part in pile.parts)
    site, count = sites.most_common(1)[0]
    parts = [part for part in pile.parts if part.births[0][1] == site]
    births = [it for part in parts for it in part.births]
    cause = cause_of(look.watcher.shell, births)
    size = sum(part.bytes for part in parts)
    if site is None or cause is None or cause.line is None or size < REPORTED_BYTES:
        return None
    if count < _STEPS or _is_shown(pile.owner):
        return None
    last = max(part.cell for part in parts)
    if any(is_instance(pile.owner, *queue) for queue in _QUEUES):
        if not _is_left_over(look, pile, site[2], last):
            return None
    elif not (
        hands_over(look.sources.get(cause.cell, ""), cause.line)
        and _is_behind_the_scenes(look, pile, parts, births)
    ):
        return None
    # The dictionary of an object's attributes is not to be emptied.
    may_be_emptied = _is_plain(pile.object) and pile.object is not dictionary_of(pile.owner)
    release = f"{pile.way}.clear()" if may_be_emptied and "._" not in pile.way else ""
    return _native.Holder(
        "handed over",
        pile.way,
        size,
        cause.cell,
        _native.type_name(pile.owner),
        count,
        (release if may_be_released(pile.way) else "") or taking_out(look, pile.way, size),
        line=cause.line,
    )


def _is_left_over(look: Look, pile: _Pile, function: str, last: int) -> bool:
    """Whether a queue without a bound has what nobody will take."""
    fields = fields_of(pile.owner)
    limit = fields.get("maxsize", fields.get("_maxsize"))
    if type(limit) is not int or limit > 0 or _is_of_a_cell(function):
        return False
    names = set(look.heap.names_leading_to(pile.owner))
    if names & set(running_labels()):
        return False
    of_user = names & set(user_names(look.watcher))
    later = [source for cell, source in look.sources.items() if cell > last]
    return not any(True for source in later for _ in mentions(source, of_user))


def _is_of_a_cell(function: str) -> bool:
    """Whether a code object's name is that of a cell itself."""
    return function.startswith("<") and function != "<lambda>"


def _is_behind_the_scenes(look: Look, pile: _Pile, parts: list[_Part], births: list[Birth]) -> bool:
    """Whether the cells in which it was made do not name the object themselves, and none reads it or uses it later."""
    name = first_name(pile.way)
    cells = {part.cell for part in parts}
    first, last = min(cells), max(cells)
    made = max((cell for cell, source in look.sources.items() if binds(source, name)), default=0)
    if not 0 < made < first:
        return False
    for cell, it in _mentions(look, pile, births, made):
        if it.reads:
            return False
        if it.function is None and (cell > last or (cell in cells and it.name == name)):
            return False
    own = [it for cell in cells for it in mentions(look.sources.get(cell, ""), {name})]
    return all(it.function is not None for it in own)
