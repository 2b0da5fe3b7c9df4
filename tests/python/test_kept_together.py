"""What several labels, or several objects, keep only together."""

from __future__ import annotations

import sys
import types
from typing import Any

import numpy as np
from xleak import _native

MIB = 1 << 20


class Part:
    """Something that leads on."""

    def __init__(self, *parts: Any) -> None:
        self.parts = parts


def heap_of(namespace: dict[str, Any], **shared_labels: str) -> _native.HeapSnapshot:
    slots = [(namespace, name, shared_labels.get(name, name)) for name in namespace]
    heap = _native.HeapSnapshot.take(slots, [("sys.modules", sys.modules)], [], None, None)
    assert heap is not None
    return heap


def test_an_object_is_kept_by_all_labels_that_lead_to_it_together() -> None:
    names: dict[str, Any] = {"first": Part(Part())}
    names["second"] = Part(names["first"].parts[0])
    heap = heap_of(names)
    both = [names["first"].parts[0], names["second"]]
    assert heap.kept_by(["first"], both) == []
    assert heap.kept_by(["second"], both) == both[1:]
    assert heap.kept_by(["first", "second"], both) == both


def test_entries_of_one_label_are_one_holder() -> None:
    names: dict[str, Any] = {"first": Part(Part())}
    names["second"] = names["first"].parts[0]
    heap = heap_of(names, first="the registry", second="the registry")
    assert heap.kept_by(["the registry"], [names["second"]]) == [names["second"]]


def test_what_native_code_or_nothing_known_keeps_is_no_labels() -> None:
    names: dict[str, Any] = {"first": Part()}
    held = names["first"]
    heap = heap_of(names)
    assert heap.kept_by(["first", "no such label"], [held, Part()]) == []


def test_objects_lead_to_what_they_are_and_to_their_parts() -> None:
    names: dict[str, Any] = {"whole": Part(Part(), Part()), "other": Part()}
    heap = heap_of(names)
    parts = list(names["whole"].parts)
    wanted = [*parts, names["other"], names["whole"]]
    assert heap.led_to([names["whole"]], wanted) == [*parts, names["whole"]]
    assert heap.led_to([names["other"], parts[1]], wanted) == [parts[1], names["other"]]
    assert heap.led_to([], wanted) == []


def test_nothing_leads_through_modules_types_and_namespaces() -> None:
    names: dict[str, Any] = {"goal": Part()}
    module = types.ModuleType("library")
    vars(module)["goal"] = names["goal"]
    names["start"] = Part(module, type("Local", (), {"goal": names["goal"]}), names)
    heap = heap_of(names)
    assert heap.led_to([names["start"]], [names["goal"]]) == []


def test_what_objects_share_is_freed_without_all_of_them() -> None:
    shared = np.ones(4 * MIB // 8)
    names: dict[str, Any] = {"first": Part(shared), "second": Part(shared), "third": Part()}
    del shared
    heap = heap_of(names)
    assert heap.freed_without([names["first"]]) < MIB
    both = heap.freed_without([names["first"], names["second"]])
    assert 4 * MIB <= both < 4 * MIB + 2000
    assert heap.freed_without([]) == 0
