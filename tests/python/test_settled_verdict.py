"""What a verdict says of memory that nothing of the user's leads to, and of additions that nobody reads."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator

import pytest
from shells import MIB, Session
from xleak import _native

IMPORTS = "import atexit, gc, signal, sqlite3, sys, threading, types\nimport numpy as np"
CAPTURED = (
    "def start({0}):\n    big = np.ones(400_000)\n    def act(*rest): return len(big)\n    {1}\n"
)

OUT_OF_REACH = {
    "the hook threading.excepthook": "threading.excepthook = act",
    "the list gc.callbacks": "gc.callbacks.append(act)",
    "IPython's events": "get_ipython().events.register('pre_execute', act)",
    "get_ipython().display_formatter.formatters['text/html'].type_printers": (
        "get_ipython().display_formatter.formatters['text/html'].for_type(type(act), act)"
    ),
    "con.create_function: start.<locals>.act": "con.create_function('f', 1, act)",
}
QUIET = {
    "a handler of what a name has": "h = np.ones(400_000)\nsignal.signal(signal.SIGUSR2, lambda *_: len(h))",
    "a handler taken back": (
        "def start():\n    big = np.ones(400_000)\n"
        "    old = signal.signal(signal.SIGUSR2, lambda *_: len(big))\n"
        "    signal.signal(signal.SIGUSR2, old)\nstart()"
    ),
    "one module": "m = types.ModuleType('m_0'); m.t = np.ones(400_000); sys.modules['m_0'] = m; del m",
}

UNREAD = {
    "meter.rows['z']": """
class Meter:
    def __init__(self): self.rows = {}
    def log(self, **values):
        for name, value in values.items(): self.rows.setdefault(name, []).append(value)
meter = Meter()
---
for _ in range(6): meter.log(z=np.ones(50_000))
""",
    "seen.__closure__[0].cell_contents": """
def recorder():
    rows = []
    def seen(x):
        rows.append(x * 2)
        return len(rows)
    return seen
seen = recorder()
---
for k in range(6): seen(np.ones(50_000))
""",
    "ds.known": """
class Items:
    def __init__(self): self.epoch, self.known = 0, {}
    def __getitem__(self, i):
        key = (self.epoch, i)
        if key not in self.known: self.known[key] = np.full(20_000, float(i))
        return self.known[key]
ds = Items()
---
for epoch in range(4):
    ds.epoch = epoch
    total = sum(ds[i].sum() for i in range(6))
""",
    "grid.__closure__[1].cell_contents": """
def memo(fn):
    known = {}
    def inner(*args):
        if args not in known: known[args] = fn(*args)
        return known[args]
    return inner
@memo
def grid(site, minute): return np.full(20_000, minute)
---
for minute in range(0, 100, 5): top = grid("A", minute).max()
""",
}
UNREAD["areas"] = """
class Mesh:
    def __init__(self, n): self.points = np.full(20_000, float(n))
areas = {}
def area(mesh):
    if mesh not in areas: areas[mesh] = mesh.points * 2
    return areas[mesh].sum()
---
found = [area(Mesh(n)) for n in range(8)]
"""
UNREAD["parts"] = """
parts = []
def level(x):
    parts.append(x + 1)
    return x.mean()
---
for _ in range(400): level(np.ones(1000))
"""
MEMO_OF_CONTENTS = """
known = {}
def smooth(x):
    key = (x.tobytes(), 3)
    if key not in known: known[key] = x * 2
    return known[key]
---
rng = np.random.default_rng(1)
for bpm in rng.normal(70, 5, 8): print(smooth(rng.normal(bpm, 1, 20_000)).std())
"""
UNREAD["known"] = MEMO_OF_CONTENTS
METER = UNREAD["meter.rows['z']"].replace("self.rows = {}", "self.rows = []")
READ = {
    "a memo that hits in the next round": UNREAD["ds.known"].replace("ds.epoch = epoch", "pass"),
    "a memo that another cell asks again": UNREAD["ds.known"] + "---\nprint(ds[3].sum())",
    "a memo of objects that a list has too": UNREAD["areas"].replace(
        "[area(Mesh(n)) for n in range(8)]", "[(it, area(it)) for it in map(Mesh, range(8))]"
    ),
    "a memo of contents that come back": MEMO_OF_CONTENTS.replace(
        "for bpm", "for again in range(2):\n  rng = np.random.default_rng(1)\n  for bpm"
    ),
    "small parts that another function reads": UNREAD["parts"]
    + "---\ndef total(): return sum(map(np.sum, parts))\nprint(total())",
    "a window of the last": METER.replace(
        "self.rows.setdefault(name, []).append(value)",
        "self.rows.append(value); self.rows = self.rows[-4:]",
    ),
    "a memo of the inner loop": """
known = {}
def part(size):
    if size not in known: known[size] = np.ones(size * 20_000)
    return known[size]
---
for round in range(4):
    for size in (1, 2, 3, 4): total = part(size).sum()
""",
    "rows of one call": """
class Model:
    def __init__(self): self.rows = []
    def fit(self, n):
        for k in range(n): self.rows.append(np.ones(50_000))
model = Model()
---
model.fit(6)
""",
    "a function that reads what it captured": UNREAD["seen.__closure__[0].cell_contents"].replace(
        "len(rows)", "sum(rows)"
    ),
}


@pytest.fixture(autouse=True)
def hooks_as_before() -> Iterator[None]:
    excepthook, handler = threading.excepthook, signal.getsignal(signal.SIGUSR2)
    yield
    threading.excepthook = excepthook
    signal.signal(signal.SIGUSR2, handler)


def judged(session: Session, *cells: str) -> list[_native.Finding]:
    for cell in [IMPORTS, *cells, "done = 1"]:
        assert session.run(cell)
    session.watcher.settle()
    return [
        it for it in session.watcher.findings() if it.code in ("XL408", "XL421", "XL423", "XL425")
    ]


@pytest.mark.parametrize("label", OUT_OF_REACH)
def test_what_a_registered_function_captured_is_out_of_reach(session: Session, label: str) -> None:
    defining = CAPTURED.format("con", OUT_OF_REACH[label])
    [found] = judged(session, "con = sqlite3.connect(':memory:')", defining, "start(con)")
    assert found.key.startswith(label)
    assert (found.bytes or 0) // MIB == 3
    session.run(found.fixes[0].code if found.fixes else "con.close()")
    session.watcher.settle()
    assert [it for it in session.watcher.findings() if it.code == "XL421"] == []


@pytest.mark.parametrize("name", QUIET)
def test_what_a_name_has_or_is_one_of_its_kind_is_not(session: Session, name: str) -> None:
    assert judged(session, QUIET[name]) == []


TIMERS = """
def later(rows):
    timer = threading.Timer(900, print, (rows,))
    timer.daemon = True
    timer.start()
    return timer
"""


@pytest.mark.parametrize(("start", "found"), [("later", 1), ("timers.append(later", 0)])
def test_timers_that_wait_and_that_nobody_can_cancel_are_out_of_reach(
    session: Session, start: str, found: int
) -> None:
    ends = ")" * start.count("(")
    loop = f"timers = []\nfor k in range(3): {start}(np.full(400_000, k)){ends}"
    its = judged(session, TIMERS, loop)
    assert [(it.key.partition("-")[0], (it.bytes or 0) // MIB) for it in its] == [
        ("the timer Thread", 9)
    ] * found
    session.run(its[0].fixes[0].code if its else "for it in timers: it.cancel(); it.join()")
    session.watcher.settle()
    assert [it for it in session.watcher.findings() if it.code == "XL421"] == []
    assert not any(type(it) is threading.Timer for it in threading.enumerate())


WORKER = """
import queue
def work(jobs):
    while True:
        size = jobs.get()
        if size is None: break
        rows = np.ones(size)
        total = rows.sum()
        {0}
        jobs.task_done()
jobs = queue.Queue()
for _ in range(2): threading.Thread(target=work, args=(jobs,), daemon=True).start()
for _ in range(2): jobs.put(400_000)
jobs.join()
"""


@pytest.mark.parametrize(("code", "found"), [("", 1), ("del rows", 0), ("saved = rows", 0)])
def test_what_a_waiting_worker_never_reads_again_is_out_of_reach(
    session: Session, code: str, found: int
) -> None:
    worker = WORKER.format(code)
    if "saved" in code:
        worker = worker.replace("while True:", "saved = None\n    while True:").replace(
            "size = jobs.get()", "size = jobs.get()\n        id(saved)"
        )
    its = judged(session, worker)
    assert [it.key.partition(" in ")[0] for it in its] == ["the variable rows of work()"] * found
    session.run("for _ in range(2): jobs.put(None)")


def test_a_function_of_sqlite_that_a_later_query_calls_is_in_use(session: Session) -> None:
    defining = CAPTURED.format("con", "con.create_function('long', 1, act)")
    query = "con.execute('select long(1)').fetchone()"
    start = ["con = sqlite3.connect(':memory:')", defining, f"start(con); {query}"]
    assert [it.key for it in judged(session, *start)] == ["con.create_function: start.<locals>.act"]
    assert judged(session, f"total = {query}") == []


def test_a_task_that_nobody_can_cancel_is_out_of_reach_once_a_verdict_is_asked(
    session: Session,
) -> None:
    wait = (
        "import asyncio\nasync def wait(big): await asyncio.sleep(1000); return big\n"
        "loop = asyncio.new_event_loop(); asyncio.set_event_loop(loop)"
    )
    start = (
        "for _ in range(2):\n    loop.create_task(wait(np.ones(400_000)))\n"
        "loop.run_until_complete(asyncio.sleep(0)); del loop"
    )
    [found] = judged(session, wait, start)
    assert (found.key[:20], (found.bytes or 0) // MIB) == ("asyncio's event loop", 6)
    session.run("asyncio.get_event_loop().close(); asyncio.set_event_loop(None)")


def test_several_that_one_line_made_are_one_finding(session: Session) -> None:
    load = (
        "def load(k):\n    m = types.ModuleType(f'made_{k}')\n    m.table = np.ones(400_000)\n"
        "    sys.modules[m.__name__] = m"
    )
    [found] = judged(session, load, "for k in range(4): load(k)")
    assert (found.code, (found.bytes or 0) // MIB) == ("XL421", 12)
    session.run("for k in range(4): del sys.modules[f'made_{k}']")


@pytest.mark.parametrize("value", ["np.ones(200_000)", "[np.ones(200_000)]"])
def test_arguments_of_callbacks_at_exit_are_given_back_by_the_repair(
    session: Session, value: str
) -> None:
    code = f"def note(n, x): pass\ndef go(n):\n    x = {value}\n    atexit.register(note, n, x)"
    [found] = judged(session, code, "for n in range(3): go(n)")
    assert (found.key, (found.bytes or 0) // MIB) == ("atexit: note", 4)
    session.run(found.fixes[0].code)
    session.watcher.settle()
    assert [it for it in session.watcher.findings() if it.code == "XL408"] == []


@pytest.mark.parametrize("way", UNREAD)
def test_additions_that_nothing_reads_or_hits_are_named(session: Session, way: str) -> None:
    [found] = judged(session, *UNREAD[way].split("---"))
    assert (found.code, found.key) == ("XL423", way)
    session.run(found.fixes[0].code)
    session.watcher.settle()
    assert [it for it in session.watcher.findings() if it.code == "XL423"] == []


LEARNER = """
class Learner:
    def __init__(self):
        self.weights = np.zeros(200_000)
        slots.setdefault('hour', []).append(self.learn)
    def learn(self, x): self.weights[0] += x
"""


def test_callbacks_that_earlier_runs_registered_are_named_though_they_are_called(
    session: Session,
) -> None:
    again = "learner = Learner()\nfor act in slots['hour']: act(1)"
    found = judged(session, f"slots = {{}}{LEARNER}", again, again, again)
    assert [(it.code, it.key, (it.bytes or 0) // MIB) for it in found] == [
        ("XL425", "slots['hour']", 3)
    ]
    session.run(found[0].fixes[0].code)
    assert len(session.shell.user_ns["slots"]["hour"]) == 1


@pytest.mark.parametrize("name", READ)
def test_additions_that_something_may_read_are_not(session: Session, name: str) -> None:
    assert judged(session, *READ[name].split("---")) == []
