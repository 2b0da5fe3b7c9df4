"""Few rows of a categorical column that keep all categories of the table which they were taken from."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from xleak import _native
from xleak.originals import gc
from xleak.shell.births import cause_of
from xleak.shell.fields import fields_of, is_instance, loaded_class
from xleak.shell.holders.at_verdict import AtVerdict, IsAsked
from xleak.shell.holders.look import LEAST_BYTES, REPORTED_BYTES, Look, is_the_users
from xleak.shell.holders.places import place_of, value_at
from xleak.shell.holders.uses import first_name

_DTYPE = ("pandas.core.dtypes.dtypes", "CategoricalDtype")
# Most categories are there for a reason where more of them have a row.
_MOSTLY = 0.5


class UnusedCategories(AtVerdict):
    """By the table or series that has the columns."""

    def holders(self, look: Look, is_asked: IsAsked) -> Iterator[_native.Holder]:
        """One holder for each."""
        base = loaded_class("pandas.core.arrays.categorical", "Categorical")
        found: dict[str, int] = defaultdict(int)
        for column in look.live.instances(base) if base is not None else ():
            way = look.heap.way_to(column)
            owner, _, behind = way.partition("._mgr")
            if behind and is_the_users(owner) and is_asked(owner):
                found[owner] += _unused_bytes(look, owner, column)
        for owner, kept in found.items():
            if kept < REPORTED_BYTES:
                continue
            births = look.births_with(first_name(owner))
            cause = cause_of(look.watcher.shell, births)
            yield _native.Holder(
                "unused categories",
                owner,
                kept,
                cause.cell if cause else None,
                "categories",
                1,
                _release(look, owner),
                line=cause.line if cause else None,
            )


def _unused_bytes(look: Look, owner: str, column: Any) -> int:
    """What would be freed without the categories that no row has, by their share."""
    # They are members of a class in C.
    parts = gc.get_referents(column)
    dtype = next((it for it in parts if is_instance(it, *_DTYPE)), None)
    categories = fields_of(dtype).get("_categories")
    kept = look.heap.retained_by(categories) if categories is not None else 0
    table = value_at(look.watcher.shell.user_ns, owner)
    if kept < LEAST_BYTES or not look.heap.keeps(table, categories):
        return 0
    numpy = sys.modules["numpy"]
    codes: list[Any] = [it for it in parts if type(it) is numpy.ndarray]
    count, used = _count(categories), sum(int(numpy.unique(it).size) for it in codes)
    if not count or not codes or used > _MOSTLY * count:
        return 0
    return int(kept * (1 - used / count))


def _count(categories: Any) -> int:
    """How many there are, by the plain array that an index has at last."""
    numpy = sys.modules["numpy"]
    data = fields_of(categories).get("_data")
    inner: Any = fields_of(data).get("_ndarray", data)
    if type(inner) is numpy.ndarray:
        return int(inner.size)
    arrow: Any = fields_of(data).get("_pa_array")
    return int(arrow.length()) if is_instance(arrow, "pyarrow.lib", "ChunkedArray") else 0


def _release(look: Look, owner: str) -> str:
    """Code that leaves the values as they are."""
    namespace = look.watcher.shell.user_ns
    value = value_at(namespace, owner)
    if place_of(namespace, owner) != owner:
        return ""
    if is_instance(value, "pandas.core.series", "Series"):
        return f"{owner} = {owner}.cat.remove_unused_categories()"
    if not is_instance(value, "pandas.core.frame", "DataFrame"):
        return ""
    return (
        f"{owner} = {owner}.assign(**{{c: {owner}[c].cat.remove_unused_categories() "
        f"for c in {owner}.select_dtypes('category')}})"
    )
