"""A dry run says what the run gives back, whoever holds it."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import xleak
from shells import MIB, Session
from values import VALUES

# (cells, target of %xdel with the number of the entry that the last one shows, bytes that come back)
HELD = {
    "an entry with its graph": (
        [
            "import torch; net = torch.nn.Linear(500, 2)",
            "rows = torch.rand(2000, 500); out = net(rows)",
            "out",
            "del rows, out",
        ],
        "Out[{entry}]",
        4_000_000,
    ),
    "a loss with the graph of a deleted prediction": (
        [
            "import torch; net = torch.nn.Linear(500, 2)",
            "loss = net(torch.rand(2000, 500)).square().mean()",
            "loss",
            "del loss",
        ],
        "Out[{entry}]",
        4_000_000,
    ),
    "two entries that retain one graph": (
        [
            "import torch; net = torch.nn.Linear(500, 2)",
            "out = net(torch.rand(2000, 500))",
            "out",
            "loss = out.mean()\nloss",
            "del out, loss",
        ],
        "Out[{before}] Out[{entry}]",
        4_000_000,
    ),
    "one of two entries that retain one graph": (
        [
            "import torch; net = torch.nn.Linear(500, 2)",
            "out = net(torch.rand(2000, 500))",
            "out",
            "loss = out.mean()\nloss",
            "del out, loss",
        ],
        "Out[{entry}]",
        0,
    ),
    "a name whose graph a loss has too": (
        [
            "import torch; net = torch.nn.Linear(500, 2)",
            "rows = torch.rand(2000, 500); loss = net(rows).mean()",
        ],
        "rows",
        0,
    ),
    "a view of a deleted base": (
        ["import numpy as np; x = np.zeros(MIB)", "x[:3]", "del x"],
        "Out[{entry}]",
        8 * MIB,
    ),
    "a container in a cycle": (
        ["import numpy as np; x = [np.zeros(MIB)]; x.append(x)"],
        "x",
        8 * MIB,
    ),
    "an object in a cycle beside garbage that waits": (
        [
            "import numpy as np\nclass Node: pass\n"
            "old = Node(); old.it = old; old.data = np.zeros(MIB // 2)",
            "del old",
            "x = Node(); x.it = x; x.data = np.zeros(MIB)",
        ],
        "x",
        8 * MIB,
    ),
    "a name that the last traceback has": (
        [
            "import numpy as np; x = np.zeros(MIB)",
            "def fail(held):\n    local = np.zeros(MIB // 2)\n    1 / 0",
            "fail(x)",
        ],
        "x",
        12 * MIB,
    ),
    "a name whose error the user keeps": (
        [
            "import numpy as np; x = np.zeros(MIB)",
            "def fail(held): 1 / 0",
            "try: fail(x)\nexcept Exception as e: kept = e",
        ],
        "x",
        0,
    ),
    "a name with parts that another has": (
        [
            "import numpy as np; x = {'a': np.zeros(MIB), 'b': np.zeros(MIB // 2)}",
            "other = [x['b']]",
        ],
        "x",
        8 * MIB,
    ),
    "an array under a tensor that was shown": (
        ["import numpy as np, torch; x = np.zeros(MIB)", "torch.from_numpy(x)"],
        "x",
        8 * MIB,
    ),
    "an array under a tensor with a name": (
        ["import numpy as np, torch; x = np.zeros(MIB); t = torch.from_numpy(x)"],
        "x",
        0,
    ),
    "a generator": (
        [
            "import numpy as np\ndef rows():\n    held = np.zeros(MIB)\n    yield from held",
            "x = rows(); first = next(x)",
        ],
        "x",
        8 * MIB,
    ),
    "a function that captured it": (
        [
            "import numpy as np\ndef keep(data): return lambda: data",
            "x = keep(np.zeros(MIB))",
        ],
        "x",
        8 * MIB,
    ),
    "many small objects": (
        ["x = [{'key': [i], 'text': f'row number {i}'} for i in range(20_000)]"],
        "x",
        7_600_000,
    ),
}


def same(preview: dict[str, int], freed: dict[str, int]) -> bool:
    """Within 64 KiB or a hundredth of what came back."""
    foretold, came = sum(preview.values()), sum(freed.values())
    return abs(foretold - came) <= max(64 << 10, came // 100)


@contextmanager
def without_collector() -> Iterator[None]:
    """An automatic collection between a preview and the run would change what the run frees."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def compare(session: Session, *targets: str) -> int:
    """What came back, after a check that the preview said the same."""
    preview = xleak.forget(*targets, dry_run=True)
    result = xleak.forget(*targets)
    # Torch does not say of whose memory a tensor is that shares it with an array.
    foretold = preview.freed | {"unknown": preview.unknown_bytes}
    assert same(foretold, result.freed), (preview, result)
    assert preview.dropped == result.dropped
    return sum(result.freed.values())


@pytest.mark.parametrize("kind", HELD)
def test_a_preview_of_xdel_is_what_the_allocators_get_back(session: Session, kind: str) -> None:
    cells, target, size = HELD[kind]
    session.run("MIB = 1 << 20")
    with without_collector():
        for cell in cells:
            session.run(cell)
        numbers = [0, 0, *sorted(session.shell.user_ns["Out"])]
        target = target.format(entry=numbers[-1], before=numbers[-2])
        came = compare(session, *target.split())
    assert abs(came - size) <= max(64 << 10, size // 4)


@pytest.mark.parametrize("value", [v for v in VALUES if v != "polars frame"])
def test_a_preview_is_right_for_every_value_that_people_show(session: Session, value: str) -> None:
    setup, make, show, size = VALUES[value]
    session.run(f"MIB = 1 << 20\n{setup}")
    session.run(make)
    session.run(show)
    assert compare(session, "x") >= size * 0.75


def test_a_preview_of_release_cache_is_right_step_by_step(session: Session) -> None:
    session.run(
        "import numpy as np\nclass Node: pass\ndef fail():\n    x = np.zeros(1 << 20); 1 / 0"
    )
    with without_collector():
        session.run("node = Node(); node.it = node; node.data = np.zeros(2 << 20)")
        session.run("del node")
        session.run("memoryview(bytearray(4 << 20))")
        for _ in range(3):
            session.run("'filler'")
        session.run("fail()")
        preview = xleak.release_cache(dry_run=True)
        done = xleak.release_cache()
    expected = {
        "Garbage cycles": 16 * MIB,
        "Tracebacks": 8 * MIB,
        "Output entries that nobody uses": 4 * MIB,
    }
    for before, after in zip(preview[:4], done[:4], strict=True):
        assert before.title == after.title
        assert same(before.freed, after.freed), (before, after)
        assert sum(after.freed.values()) >= expected.get(after.title, 0)
