"""The heap as a graph: what a label keeps is what comes back with it, and the way there is true."""

from __future__ import annotations

import asyncio
import functools
import gc
import io
import subprocess
import sys
import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from xleak import _native
from xleak.shell.heap import saved_memory

MIB = 1 << 20


def snapshot_of(namespace: dict[str, Any], **limits: Any) -> _native.HeapSnapshot | None:
    slots = [(namespace, name, name) for name in namespace]
    options = {"deadline_ms": None, "interrupted": None, **limits}
    return _native.HeapSnapshot.take(slots, [("sys.modules", sys.modules)], [], **options)


def heap_of(namespace: dict[str, Any]) -> _native.HeapSnapshot:
    heap = snapshot_of(namespace)
    assert heap is not None
    return heap


def array(mebibytes: int) -> Any:
    return np.ones(mebibytes * MIB // 8)


class Box:
    def __init__(self, value: Any) -> None:
        self.value = value

    def method(self) -> None: ...


class Slotted:
    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


def closure_over(value: Any) -> Callable[[], Any]:
    return lambda: value


def suspended(value: Any) -> Iterator[Any]:
    yield 1
    yield value


def started(value: Any) -> Iterator[Any]:
    generator = suspended(value)
    next(generator)
    return generator


def cycle(value: Any) -> Any:
    box = Box([value])
    box.value.append(box)
    return box


@functools.lru_cache
def remembered(size: int) -> Any:
    return array(size)


KEEPERS: dict[str, Callable[[Any], Any]] = {
    "the array itself": lambda value: value,
    "a list": lambda value: [value],
    "a dictionary": lambda value: {"key": value},
    "a set of tuples": lambda value: {(id(value), Box(value))},
    "a deque": lambda value: deque([value]),
    "an attribute": Box,
    "a slot": Slotted,
    "a closure": closure_over,
    "a partial": lambda value: functools.partial(print, value),
    "a bound method": lambda value: Box(value).method,
    "a generator": started,
    "an array of objects": lambda value: np.array([value, None], dtype=object),
    "a view": lambda value: value[: len(value) // 2],
    "a cycle": cycle,
}


@pytest.mark.parametrize("keeper", KEEPERS.values(), ids=KEEPERS)
def test_what_a_name_keeps_is_what_malloc_gets_back(keeper: Callable[[Any], Any]) -> None:
    namespace = {"kept": keeper(array(8))}
    retained = heap_of(namespace).retained_bytes("kept")
    gc.collect()
    before = _native.heap().used_bytes
    del namespace["kept"]
    gc.collect()
    returned = before - _native.heap().used_bytes
    assert retained == pytest.approx(returned, rel=0.01)
    assert retained >= 8 * MIB


def test_an_array_over_foreign_memory_waits_for_no_collector() -> None:
    namespace = {"kept": np.frombuffer(bytearray(4 * MIB), dtype=np.uint8)}
    assert not heap_of(namespace).would_wait(["kept"])


def test_objects_that_asyncio_keeps_for_later_stay_unused() -> None:
    loop = asyncio.new_event_loop()
    future = loop.create_future()
    for iterator in [iter(future) for _ in range(8)]:
        del iterator
    heap_of({})
    iterators = [iter(future) for _ in range(16)]
    assert len({id(it) for it in iterators}) == 16
    loop.close()


def test_a_tensor_keeps_its_storage_until_the_last_view_of_it_goes() -> None:
    import torch

    whole = torch.ones(2 * MIB)
    namespace = {"whole": whole, "row": whole[3:5]}
    del whole
    heap = heap_of(namespace)
    assert heap.own_bytes("whole") >= 8 * MIB
    assert heap.retained_bytes("whole") < MIB
    assert heap.other_ways("whole", 5) == ["row._base"]
    namespace.pop("row")
    assert heap_of(namespace).retained_bytes("whole") >= 8 * MIB


def network() -> Any:
    import torch

    return torch.nn.Sequential(
        torch.nn.Linear(100, 1000), torch.nn.ReLU(), torch.nn.Linear(1000, 4)
    )


def with_graphs(namespace: dict[str, Any]) -> _native.HeapSnapshot:
    slots = [(namespace, name, name) for name in namespace]
    heap = _native.HeapSnapshot.take(slots, [], saved_memory(1000)[0], None, None)
    assert heap is not None
    return heap


def test_a_loss_keeps_what_its_graph_has_saved() -> None:
    import torch

    net = network()
    namespace = {"net": net, "loss": net(torch.rand(2000, 100)).sum()}
    retained = with_graphs(namespace).retained_bytes("loss")
    gc.collect()
    before = _native.heap().used_bytes
    del namespace["loss"]
    returned = before - _native.heap().used_bytes
    assert returned > 4 * MIB
    assert retained == pytest.approx(returned, rel=0.02)


def test_after_backward_a_loss_keeps_no_activations() -> None:
    import torch

    net = network()
    namespace = {"net": net, "loss": net(torch.rand(2000, 100)).sum()}
    namespace["loss"].backward()
    heap = with_graphs(namespace)
    assert heap.retained_bytes("loss") < MIB
    assert heap.graphs(64 << 10) == []


def test_every_tensor_whose_graph_keeps_much_is_told_with_the_way_to_it() -> None:
    import torch

    net = network()
    namespace = {"net": net, "losses": [net(torch.rand(2000, 100)).sum() for _ in range(3)]}
    graphs = with_graphs(namespace).graphs(MIB)
    assert sorted(graph.way for graph in graphs) == ["losses[0]", "losses[1]", "losses[2]"]
    assert all(graph.kept > 4 * MIB and graph.own == 4 for graph in graphs)


def test_a_graph_that_two_names_share_goes_when_both_are_detached() -> None:
    import torch

    net = network()
    output = net(torch.rand(2000, 100))
    namespace = {"net": net, "output": output, "loss": output.sum()}
    del output
    heap = with_graphs(namespace)
    ids = {name: id(namespace[name]) for name in ("output", "loss")}
    assert [graph.way for graph in heap.graphs(MIB)] == []
    assert {graph.way for graph in heap.graphs(MIB, shared=True)} >= {"output", "loss"}
    assert heap.freed_by_detaching([ids["loss"]]) < MIB
    promised = heap.freed_by_detaching(list(ids.values()))
    gc.collect()
    before = _native.heap().used_bytes
    namespace["output"], namespace["loss"] = namespace["output"].detach(), None
    assert promised == pytest.approx(before - _native.heap().used_bytes, rel=0.02)


def test_a_tensor_with_another_name_does_not_go_when_one_is_detached() -> None:
    import torch

    net = network()
    namespace = {"net": net, "loss": net(torch.rand(2000, 100)).sum()}
    namespace["again"] = namespace["loss"]
    heap = with_graphs(namespace)
    assert heap.freed_by_detaching([id(namespace["loss"])]) == 0
    assert heap.holders_of(namespace["loss"]) == 2


def test_a_question_of_what_would_be_freed_leaves_the_heap_as_it_was() -> None:
    namespace = {"rows": [array(2)[:3] for _ in range(3)]}
    heap = heap_of(namespace)
    ids = [id(row) for row in namespace["rows"]]
    first = heap.freed_by_copying(ids)
    assert 6 * MIB <= first < 6.1 * MIB
    assert heap.freed_by_copying(ids) == first
    assert heap.retained_bytes("rows") >= 6 * MIB


def test_small_graphs_of_one_container_count_together() -> None:
    import torch

    weight = torch.ones(2000, requires_grad=True)
    namespace = {"losses": [(weight * 2).tanh().square().sum() for _ in range(8)]}
    heap = with_graphs(namespace)
    assert heap.graphs(32 << 10) == []
    together = heap.graphs(32 << 10, together=True)
    assert {graph.way for graph in together} == {f"losses[{at}]" for at in range(8)}
    assert heap.graphs(MIB, together=True) == []


def test_small_views_are_told_with_what_is_behind_them() -> None:
    import torch

    namespace = {
        "head": torch.ones(MIB)[:10].detach(),
        "rows": [array(2)[0:4], array(2).reshape(8, -1)],
        "all rows": list(array(2).reshape(1024, -1)),
        "named": (whole := array(2)),
        "part": whole[:4],
        "leaf": torch.ones(MIB, requires_grad=True)[:10],
        "numbers": torch.ones(MIB).numpy()[:10],
    }
    del whole
    views = {view.way: view for view in heap_of(namespace).pinned_views(MIB, 4)}
    assert set(views) == {"head", "rows[0]", "numbers"}
    assert (views["head"].shown, views["head"].behind) == (40, 4 * MIB)
    assert (views["rows[0]"].shown, views["rows[0]"].object) == (32, id(namespace["rows"][0]))
    assert views["numbers"].behind >= 4 * MIB


def test_a_view_of_an_anonymous_map_has_the_map_behind_it() -> None:
    import mmap

    room = mmap.mmap(-1, 2 * MIB)
    room.write(b"x" * 2 * MIB)
    namespace = {"near": [np.frombuffer(room, dtype="u1")[:100]]}
    del room
    heap = heap_of(namespace)
    (view,) = heap.pinned_views(MIB, 4)
    assert (view.way, view.shown) == ("near[0]", 100)
    assert 2 * MIB <= heap.freed_behind([view.object], [view.memory]) < 2.1 * MIB


def test_a_name_that_a_graph_has_saved_is_also_held_by_the_graph() -> None:
    import torch

    weight = torch.ones(2 * MIB, requires_grad=True)
    namespace = {"x": torch.rand(2 * MIB)}
    namespace["product"] = (weight * namespace["x"]).sum()
    heap = with_graphs(namespace)
    assert heap.retained_bytes("x") < MIB
    assert any(way.startswith("product") for way in heap.other_ways("x", 5))


def test_without_torch_s_graphs_what_they_saved_is_nobody_s() -> None:
    import torch

    weight = torch.ones(2 * MIB, requires_grad=True)
    squared = weight.exp()
    namespace = {"squared": squared, "loss": squared.sum()}
    del squared
    assert heap_of(namespace).retained_bytes("squared") < MIB


def test_a_shared_value_belongs_to_neither_and_each_is_told_of_the_other() -> None:
    value = [array(4)]
    namespace = {"first": value, "second": {"inner": value}}
    del value
    heap = heap_of(namespace)
    assert heap.retained_bytes("first") < MIB
    assert heap.retained_bytes("second") < MIB
    assert heap.other_ways("first", 5) == ["second['inner']"]
    reachable = heap.reachable_bytes("first", 1000)
    assert reachable is not None and reachable >= 4 * MIB
    assert heap.reachable_bytes("first", 0) is None


def test_two_places_with_one_label_are_one_holder() -> None:
    value = array(4)
    shell, out = {"_2": value}, {2: value}
    del value
    slots: list[tuple[dict[Any, Any], object, str]] = [
        (shell, next(iter(shell)), "Out[2]"),
        (out, 2, "Out[2]"),
    ]
    heap = _native.HeapSnapshot.take(slots, [], [], None, None)
    assert heap is not None and heap.retained_bytes("Out[2]") >= 4 * MIB


WAYS: dict[str, Callable[[Any], Any]] = {
    "box.value": Box,
    "box[0]": lambda value: [value],
    "box['a'][2]": lambda value: {"a": (1, 2, value)},
    "box[7]": lambda value: {7: value},
    "box.__closure__[0].cell_contents": closure_over,
    "box.args[0]": lambda value: functools.partial(print, value),
    "box.__self__.value": lambda value: Box(value).method,
    "box.base": lambda value: value[:1],
}


@pytest.mark.parametrize("way", WAYS)
def test_the_way_to_a_value_is_what_the_user_would_write(way: str) -> None:
    value = array(1)
    namespace = {"box": WAYS[way](value)}
    assert heap_of(namespace).way_to(value) == way
    assert eval(way, namespace) is value


def test_a_slot_is_named_as_an_attribute() -> None:
    value = array(1)
    namespace = {"box": Slotted(value)}
    assert heap_of(namespace).way_to(value) == "box.value"


def test_what_a_running_function_holds_is_not_said_to_come_back() -> None:
    value = array(4)
    heap = heap_of({"name": value})
    assert heap.retained_bytes("name") < MIB
    assert len(value)


def test_the_largest_are_told_with_their_bytes() -> None:
    namespace = {"model": {"small": array(1), "large": [array(5)]}}
    way, size = heap_of(namespace).largest("model", 1)[0]
    assert way == "model['large'][0]"
    assert size == pytest.approx(5 * MIB, rel=0.01)


def test_a_cached_result_is_the_cache_s() -> None:
    remembered(3)
    heap = heap_of({})
    assert heap.retained_by(remembered) >= 3 * MIB
    remembered.cache_clear()


HOSTILE = """
class Hostile:
    def _angry(self, *rest, **more): raise AssertionError("xleak ran user code")
    __eq__ = __len__ = __getattribute__ = __repr__ = __str__ = _angry
    __iter__ = __bool__ = __getitem__ = __contains__ = __sizeof__ = _angry
    __hash__ = object.__hash__
"""


def test_no_code_of_an_object_runs() -> None:
    scope: dict[str, Any] = {}
    exec(HOSTILE, scope)
    hostile = scope["Hostile"]()
    namespace = {"hostile": hostile, "held": {hostile: [hostile]}}
    del hostile
    heap = heap_of(namespace)
    assert heap.own_bytes("hostile") > 0
    assert heap.other_ways("hostile", 5)


def test_nothing_is_kept_alive_by_a_snapshot() -> None:
    namespace = {"box": Box(1)}
    gone = weakref.ref(namespace["box"])
    heap = heap_of(namespace)
    del namespace["box"]
    assert gone() is None
    assert heap.other_ways("box", 5) == []


def written() -> io.StringIO:
    stream = io.StringIO()
    for _ in range(8):
        stream.write("x" * (MIB - 1) + "\n")
    return stream


STREAMS = {"made of a text": lambda: io.StringIO("x" * (2 * MIB)), "written": written}


@pytest.mark.parametrize("make", STREAMS.values(), ids=STREAMS)
def test_a_stream_of_text_keeps_its_buffer(make: Callable[[], io.StringIO]) -> None:
    namespace = {"kept": make()}
    retained = heap_of(namespace).retained_bytes("kept")
    before = _native.heap().used_bytes
    del namespace["kept"]
    assert retained == pytest.approx(before - _native.heap().used_bytes, rel=0.01)
    assert retained >= 8 * MIB


@pytest.mark.parametrize("bits", [4_000, 40_000])
def test_an_integer_takes_what_its_digits_take(bits: int) -> None:
    number = 1 << bits
    # What malloc takes beside it, in steps of 16 bytes.
    rounded = (sys.getsizeof(number) + 8 + 15) & ~15
    assert heap_of({"number": number}).own_bytes("number") == rounded


def test_settings_of_the_collector_stay_and_nothing_is_collected() -> None:
    before = (
        gc.isenabled(),
        gc.get_threshold(),
        gc.callbacks[:],
        [s["collections"] for s in gc.get_stats()],
    )
    gc.disable()
    try:
        disabled = [s["collections"] for s in gc.get_stats()]
        heap_of({"box": Box(1)})
        assert [s["collections"] for s in gc.get_stats()] == disabled
    finally:
        gc.enable()
    assert before[:3] == (gc.isenabled(), gc.get_threshold(), gc.callbacks[:])


def test_a_limit_ends_the_search_without_a_result() -> None:
    assert snapshot_of({}, deadline_ms=0.0) is None
    assert snapshot_of({}, interrupted=lambda: True) is None


def test_what_an_interrupt_raises_ends_the_search_and_leaves_no_reference() -> None:
    box = Box(1)
    references = sys.getrefcount(box)

    def raising() -> bool:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        snapshot_of({"box": box}, interrupted=raising)
    assert sys.getrefcount(box) == references
    heap_of({"box": box})
    assert sys.getrefcount(box) == references


def test_threads_may_change_the_heap_while_it_is_read() -> None:
    stop = threading.Event()
    shared: dict[int, Any] = {}

    def busy() -> None:
        while not stop.is_set():
            for number in range(1000):
                shared[number % 50] = [array(1) if number % 100 == 0 else bytes(2000), Box(number)]

    threads = [threading.Thread(target=busy) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        namespace = {"kept": [array(2)]}
        for _ in range(5):
            # Asking lets the other threads run between two objects.
            heap = snapshot_of(namespace, interrupted=lambda: False)
            assert heap is not None and heap.retained_bytes("kept") >= 2 * MIB
            assert heap.other_ways("kept", 3) == []
    finally:
        stop.set()
        for thread in threads:
            thread.join()


LOOKS = """
import ctypes, gc
from xleak import _native

class Info(ctypes.Structure):
    names = "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost"
    _fields_ = [(name, ctypes.c_size_t) for name in names.split()]

mallinfo = ctypes.CDLL(None).mallinfo2
mallinfo.restype = Info
rows = [[number] for number in range(300_000)]
space = {"rows": rows}

def look():
    return _native.HeapSnapshot.take([(space, "rows", "rows")], [], [], None, None)

before = mallinfo().arena
for _ in range(3):
    look()
print((mallinfo().arena - before) // len(rows))
"""


def test_a_look_takes_its_room_from_the_system_and_leaves_the_c_heap_as_it_was() -> None:
    ran = subprocess.run([sys.executable, "-c", LOOKS], capture_output=True, text=True, check=True)
    # The collector's own list has eight bytes for each object; the graph takes a hundred.
    assert int(ran.stdout) < 24
