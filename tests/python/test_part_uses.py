"""What cells take of the objects in a container, by their source, and what an object's own methods read."""

from __future__ import annotations

import functools
import threading
from typing import Any

import pytest
from xleak.shell.holders.method_reads import may_read
from xleak.shell.holders.part_uses import PartUses, Step, code_in, uses_in
from xleak.shell.source import parsed

EACH = Step("list", frozenset([None]))
LIST = [EACH]
TABLE = [Step("dict", frozenset(["a", "b"]))]
ROWS = [EACH, Step("tuple", frozenset([1]))]
SHOWN_BY = ("_repr_html_", "_repr_mimebundle_", "_ipython_display_")
RECORDS = [EACH, Step("dict", frozenset(["run"]))]


def uses(steps: list[Step], *cells: str) -> PartUses:
    trees = {cell: parsed(cell) for cell in cells}
    code = {name: node for tree in trees.values() if tree for name, node in code_in(tree)}
    return uses_in(list(trees.items()), "xs", steps, code)


@pytest.mark.parametrize(
    ("steps", "cell", "operations"),
    [
        (LIST, "print(len(xs))", set()),
        (LIST, "print(xs[0].rms)", {"rms"}),
        (LIST, "best = max(xs, key=lambda x: x.rms)\nprint(best.name)", {"rms", "name"}),
        (LIST, "print([x.name for x in xs if x.peak > 1])", {"name", "peak"}),
        (LIST, "for i, x in enumerate(xs):\n    print(i, x.rms)", {"rms"}),
        (LIST, "for x, y in zip(xs, range(3)):\n    print(x.rms, y)", {"rms"}),
        (LIST, "for x in sorted(xs, key=lambda x: x.rms)[:3]:\n    print(x.name)", {"rms", "name"}),
        (LIST, "def show(x):\n    return x.rms\nprint(*map(show, xs))", {"rms"}),
        (LIST, "def show():\n    return xs[0].rms\nprint(show())", {"rms"}),
        (LIST, "for x in xs:\n    print(x)", {"__str__", "__repr__"}),
        (TABLE, "print(xs)", {"__str__", "__repr__"}),
        (LIST, "xs", {"__str__", "__repr__", *SHOWN_BY}),
        (LIST, "xs[0](3)", set()),
        (TABLE, "print(', '.join(xs))", set()),
        (TABLE, "print(*xs)", set()),
        (TABLE, "print(list(xs), 'a' in xs, xs.keys())", set()),
        (TABLE, "print({k: x.rms for k, x in xs.items()})", {"rms"}),
        (TABLE, "print(sum(x.rms for x in xs.values()))", {"rms"}),
        (TABLE, "print(xs['a'].rms, xs.get('b').rms)", {"rms"}),
        (TABLE, "for c in ('u', 'v'):\n    print(xs[c].rms)", set()),
        (TABLE, "print({c: xs[c].rms for c in ['u', 'a']})", {"rms"}),
        (TABLE, "for c in ('u', 'v'):\n    c = 'a'\n    print(xs[c].rms)", {"rms"}),
        (TABLE, "for c in ('u', *keys):\n    print(xs[c].rms)", {"rms"}),
        (TABLE, "for s in 'uv':\n    print(xs[f'test_{s}'].mean())", set()),
        (ROWS, "for k, x in xs:\n    print(k, x.rms)", {"rms"}),
        (ROWS, "print([row[0] for row in xs])", set()),
        (RECORDS, "print([r['err'] for r in xs], xs[0]['run'].lr)", {"lr"}),
    ],
)
def test_what_is_taken_of_the_objects_is_known(
    steps: list[Step], cell: str, operations: set[str]
) -> None:
    found = uses(steps, cell)
    assert found.operations >= operations
    assert found.operations - operations <= {"__call__"}
    assert not found.anything


@pytest.mark.parametrize(
    ("steps", "cell"),
    [
        (LIST, "pickle.dump(xs, f)"),
        (LIST, "plot(xs[0])"),
        (LIST, "ys = [x for x in xs]\nplot(ys)"),
        (LIST, "box.first = xs[0]"),
        (LIST, "def last():\n    return xs[-1]\nplot(last())"),
        (LIST, "xs[0] + xs[1]"),
        (LIST, "with xs[0]:\n    pass"),
        (TABLE, "pd.DataFrame(xs.values())"),
        (TABLE, "print(*xs.values())\nplot(*xs.values())"),
        (ROWS, "for row in xs:\n    plot(row)"),
        (LIST, "frame.query('a in @xs')"),
        (LIST, "%timeit xs[0].run()"),
    ],
)
def test_what_goes_elsewhere_may_be_used_in_any_way(steps: list[Step], cell: str) -> None:
    assert uses(steps, cell).anything


class Track:
    def __init__(self) -> None:
        self.wave = bytes(10)
        self.rms = 1.0

    @property
    def level(self) -> float:
        return self.rms

    @functools.cached_property
    def spectrum(self) -> Any:
        return self.loud()

    def loud(self) -> Any:
        return [it for it in self.wave]

    def quiet(self) -> float:
        return max(self.rms, self.level)

    def itself(self) -> Track:
        return self

    def handed(self) -> Any:
        return len(vars(self))


class Worker(threading.Thread):
    def run(self) -> None:
        self.result = bytes(10)

    def answer(self) -> bytes:
        return self.result


class AnyName(Track):
    def __getattr__(self, name: str) -> Any:
        return getattr(self, "wave")[0]  # noqa: B009


@pytest.mark.parametrize(
    ("owner", "operation", "reads"),
    [
        (Track, "wave", True),
        (Track, "rms", False),
        (Track, "level", False),
        (Track, "quiet", False),
        (Track, "spectrum", True),
        (Track, "loud", True),
        (Track, "itself", True),
        (Track, "handed", True),
        (Track, "__str__", False),
        (Track, "__len__", False),
        (Track, "not_there", False),
        (AnyName, "not_there", True),
    ],
)
def test_a_method_reads_the_names_in_its_code_and_in_what_it_calls(
    owner: type, operation: str, reads: bool
) -> None:
    it = owner()
    assert may_read(it, operation, {"wave"}, set(vars(it))) is reads


def test_methods_of_a_library_are_read_too() -> None:
    worker = Worker()
    worker.run()
    assert not may_read(worker, "is_alive", {"result"}, set(vars(worker)))
    assert not may_read(worker, "run", {"result"}, set(vars(worker)))
    assert may_read(worker, "answer", {"result"}, set(vars(worker)))


LAB = [Step("instance", frozenset(["tracks"]), "Lab"), EACH]
ITERATING = """
class Lab:
    def __iter__(self): return self
    def __next__(self): return self.tracks.pop()
for track in xs: print(track.rms)
"""


def test_an_object_that_is_its_own_iterator_is_followed_to_its_end() -> None:
    found = uses(LAB, ITERATING)
    assert found.operations == {"rms"}
    assert not found.anything
