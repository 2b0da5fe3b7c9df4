"""What is told of a cell that failed because memory ran out, and what is let go of afterwards."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import traceback
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from shell_session import session as in_a_process
from shells import MIB, Session
from xleak.cell_names import name_of_run
from xleak.postmortem import HeldByName, Postmortem
from xleak.render import html, postmortem
from xleak.shell.out_of_memory.advice import Situation, advice
from xleak.shell.out_of_memory.errors import HOST, Refusal, refusal_of
from xleak.shell.out_of_memory.evidence import Evidence
from xleak.shell.readings import DeviceReading
from xleak.verdict import Cell, Source, assemble, from_json, to_json

torch = pytest.importorskip("torch")
GIB = 1 << 30
NOW = (
    "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 1 has a total capacity of 16.00 GiB of which "
    "512.00 MiB is free. Including non-PyTorch memory, this process has 15.50 GiB memory in use. Of the "
    "allocated memory 8.00 GiB is allocated by PyTorch, and 5.00 GiB is reserved by PyTorch but "
    "unallocated. If reserved but unallocated memory is large try setting …"
)
BEFORE_2_0 = (
    "CUDA out of memory. Tried to allocate 2.00 GiB (GPU 1; 16.00 GiB total capacity; 8.00 GiB already "
    "allocated; 512.00 MiB free; 13.00 GiB reserved in total by PyTorch) If reserved memory is >> …"
)
METAL = (
    "MPS backend out of memory (MPS allocated: 8.00 GB, other allocations: 384.00 KB, max allowed: 16.00 "
    "GB). Tried to allocate 2.00 GB on private pool. Use PYTORCH_MPS_HIGH_WATERMARK_RATIO=0.0 …"
)
METAL_WITHOUT_LIMIT = (
    "MPS backend out of memory (MPS allocated: 8.00 GiB, other allocations: 384.00 KiB). Tried to "
    "allocate 2.00 GiB on shared pool."
)
INTEL_NOW = (
    "XPU out of memory. Tried to allocate 2.00 GiB. GPU 1 has a total capacity of 16.00 GiB of which "
    "512.00 MiB is free. Of the allocated memory 8.00 GiB is allocated by PyTorch, and 5.00 GiB is "
    "reserved by PyTorch but unallocated. Please use …"
)
INTEL = "XPU out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 16.00 GiB."
ON_CPU = (
    "[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried to allocate 4000 bytes."
)
WORKER = "Caught MemoryError in DataLoader worker process 0.\nOriginal Traceback (most recent …"
IN_WORKER = (
    "Caught _ArrayMemoryError in DataLoader worker process 1.\nOriginal Traceback …\nnumpy._core."
    "_exceptions._ArrayMemoryError: Unable to allocate 8.00 GiB for an array with shape (1073741824,)"
)
CUDA = Refusal("cuda:1", 2 * GIB, GIB // 2, 8 * GIB, 13 * GIB, 16 * GIB)


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (torch.OutOfMemoryError(NOW), CUDA),
        (RuntimeError(BEFORE_2_0), CUDA),
        (
            RuntimeError(METAL),
            Refusal("mps:0", 2 * GIB, 8 * GIB - (384 << 10), None, 8 * GIB, 16 * GIB),
        ),
        (RuntimeError(METAL_WITHOUT_LIMIT), Refusal("mps:0", 2 * GIB, None, None, 8 * GIB)),
        (RuntimeError("Invalid buffer size: 40.00 GiB"), Refusal("mps:0", 40 * GIB)),
        (torch.OutOfMemoryError(INTEL_NOW), replace(CUDA, allocator="xpu:1")),
        (RuntimeError(INTEL), Refusal("xpu:0", 2 * GIB, None, None, None, 16 * GIB)),
        (RuntimeError("CUDA error: out of memory\nCUDA kernel errors might …"), Refusal("cuda")),
        (RuntimeError(ON_CPU), Refusal(HOST, 4000)),
        (RuntimeError(IN_WORKER), Refusal(HOST, 8 * GIB, in_worker=True)),
        (RuntimeError(f"{WORKER}{ON_CPU}"), Refusal(HOST, 4000, in_worker=True)),
        (MemoryError(WORKER), Refusal(HOST, in_worker=True)),
    ],
)
def test_an_error_tells_what_an_allocator_could_not_give(error: Exception, told: Refusal) -> None:
    assert refusal_of(error, {}) == told


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError("the queue is out of memory slots"),
        ValueError(NOW),
        OSError(2, "No such file"),
        RuntimeError(7),
        KeyError("CUDA out of memory"),
    ],
)
def test_another_error_is_none_of_memory(error: Exception) -> None:
    assert refusal_of(error, {}) is None


def test_the_text_is_read_past_what_the_users_class_answers() -> None:
    class Loud(RuntimeError):
        def __str__(self) -> str:
            raise AssertionError("asked")

        def __getattribute__(self, name: str) -> Any:
            raise AssertionError("asked")

    assert refusal_of(Loud(NOW), {}) is None
    with pytest.raises(Loud) as raised:
        raise Loud("wrapped") from RuntimeError(ON_CPU)
    assert refusal_of(raised.value, {}) == Refusal(HOST, 4000)


def test_numpys_error_tells_its_shape_times_its_type() -> None:
    numpy = pytest.importorskip("numpy")
    with pytest.raises(MemoryError) as raised:
        numpy.zeros((10**7, 10**6), dtype="int32")
    assert refusal_of(raised.value, {}) == Refusal(HOST, 4 * 10**13)


@pytest.fixture(autouse=True)
def time_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("xleak.shell.out_of_memory.autopsy._SEARCH_MS", 1e6)
    monkeypatch.setattr("xleak.shell.out_of_memory.evidence._GRAPHS_MS", 1e6)


def failed(session: Session, source: str) -> Postmortem:
    """The post-mortem of a cell that fails."""
    assert not session.run(source)
    told = session.watcher.postmortems
    return told[max(told)]


def test_an_error_that_the_user_raised_by_hand_accuses_nobody(session: Session) -> None:
    assert not session.run("raise MemoryError('my own limit')")
    assert not session.run("raise OSError(12, 'mine')")
    assert session.watcher.postmortems == {}


HELD = """
import numpy as np, torch
table = np.ones(4 << 20)
def step():
    scratch = np.ones(8 << 20)
    return torch.zeros(1 << 50)
"""


def test_the_names_and_the_failed_frames_are_told_with_what_they_hold(session: Session) -> None:
    session.run(HELD)
    told = failed(session, "step()")
    assert (told.allocator, told.asked_bytes) == (HOST, 4 << 50)
    assert HeldByName("table", 32 * MIB) in [
        HeldByName(it.name, it.retained_bytes // MIB * MIB) for it in told.names
    ]
    [scratch] = told.locals
    assert scratch.name == "local scratch"
    assert 64 * MIB <= scratch.retained_bytes < 65 * MIB
    assert told.failing_cell_bytes is not None
    assert 64 * MIB <= told.failing_cell_bytes < 66 * MIB
    assert told.fix == "%release_cache"


@pytest.mark.parametrize("look", ["", "%tb", "%xleak policy\n# nothing more"])
def test_the_frames_stay_for_who_looks_and_go_when_the_next_cell_begins(
    session: Session, look: str
) -> None:
    session.run(HELD + "\nimport weakref\nclass Part: pass")
    session.run(
        "def fail():\n    global seen\n    part = Part()\n    seen = weakref.ref(part)\n    step()"
    )
    failed(session, "fail()")
    if look:
        assert session.run(look)
    session.ask("tool = 1")
    assert session.shell.user_ns["seen"]() is not None
    assert session.run("assert seen() is None")


KEPT = {
    "a name": "try:\n    step()\nexcept RuntimeError as error:\n    mine = error\n    raise",
    "a list": "mine = []\ntry:\n    step()\nexcept RuntimeError as error:\n    mine += [error]\n    raise",
    "a name, as the cause": (
        "try:\n    step()\nexcept RuntimeError as error:\n    mine = error\n"
        "    raise RuntimeError('stopped') from error"
    ),
}


@pytest.mark.parametrize("holder", KEPT)
def test_an_error_that_the_user_holds_keeps_its_traceback(session: Session, holder: str) -> None:
    session.run(HELD)
    failed(session, KEPT[holder])
    session.run("x = 1")
    mine = session.shell.user_ns["mine"]
    error = mine[0] if type(mine) is list else mine
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    assert frames[-1].f_code.co_name == "step"


def test_a_cell_that_fails_otherwise_gets_none_and_keeps_its_frames(session: Session) -> None:
    session.run("def divide():\n    scratch = [0]\n    return 1 / 0")
    assert not session.run("divide()")
    assert session.run("import sys; assert sys.last_traceback is not None")
    assert session.watcher.postmortems == {}


def test_where_the_search_finds_no_room_the_rest_is_told(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_room(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr("xleak.shell.out_of_memory.autopsy.take_snapshot", no_room)
    session.run(HELD + "\nimport weakref\nclass Part: pass")
    told = failed(
        session,
        "def fail():\n    global seen\n    part = Part()\n    seen = weakref.ref(part)\n    step()\nfail()",
    )
    assert told.asked_bytes == 4 << 50
    assert (told.failing_cell_bytes, told.releasable_bytes, told.names) == (None, None, [])
    assert "unknown" in postmortem.plain(told, name_of_run)
    assert session.run("assert seen() is None")


def test_where_nothing_can_be_told_one_sentence_says_so_below_the_users_traceback(
    session: Session, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def no_room(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr("xleak.shell.out_of_memory.autopsy.state", no_room)
    session.run(HELD)
    assert not session.run("step()")
    told = capsys.readouterr()
    assert "you tried to allocate" in told.out
    assert told.err.count("memory is too short") == 1
    assert session.run("import sys; assert not hasattr(sys, 'last_traceback')")


def scripted(monkeypatch: pytest.MonkeyPatch, allocated: int, reserved: int) -> None:
    reading = DeviceReading("cuda:0", allocated, reserved, None, None, None, None, 16 * GIB)
    monkeypatch.setattr(
        "xleak.shell.out_of_memory.autopsy.device_readings", lambda: [reading], raising=True
    )


def test_what_the_error_leaves_out_the_only_device_tells(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripted(monkeypatch, 4 * GIB, 9 * GIB)
    session.run("import torch")
    told = failed(
        session, "raise torch.OutOfMemoryError('CUDA out of memory. Tried to allocate 6.00 GiB.')"
    )
    assert told.sentence.endswith("asked cuda:0 for 6 GiB.")
    assert (told.asked_bytes, told.free_bytes) == (6 * GIB, None)
    assert (told.allocated_bytes, told.reserved_bytes) == (4 * GIB, 9 * GIB)
    assert told.fragmented_bytes == told.releasable_bytes == 5 * GIB
    assert any("may help, and may not" in it for it in told.advice)


@pytest.mark.parametrize(
    ("text", "device", "said", "memory"),
    [
        (METAL, "mps:0", "; 8 GiB was free.", "6 GiB allocated, 8 GiB reserved"),
        (METAL_WITHOUT_LIMIT, "mps:0", " for 2 GiB.", "6 GiB allocated, 8 GiB reserved"),
        (INTEL_NOW, "xpu:1", "; 512 MiB was free.", "8 GiB allocated, 13 GiB reserved"),
        (INTEL, "xpu:0", " for 2 GiB.", "6 GiB allocated, 7 GiB reserved"),
    ],
)
def test_each_kind_of_device_tells_what_it_can_and_its_reading_the_rest(
    session: Session,
    monkeypatch: pytest.MonkeyPatch,
    text: str,
    device: str,
    said: str,
    memory: str,
) -> None:
    reading = DeviceReading(device, 6 * GIB, 7 * GIB, None, None, None, None, 16 * GIB)
    monkeypatch.setattr("xleak.shell.out_of_memory.autopsy.device_readings", lambda: [reading])
    session.run("import torch")
    told = failed(session, f"raise torch.OutOfMemoryError({text!r})")
    assert told.sentence.endswith(f"asked {device} for 2 GiB{said.removeprefix(' for 2 GiB')}")
    assert f"memory:       {memory}, " in postmortem.plain(told, name_of_run)


def test_expandable_segments_are_named_only_where_the_allocator_is_fragmented() -> None:
    on = Situation("cuda:0", GIB, 16 * GIB, 8 * GIB, 11 * GIB)
    assert advice(on, Evidence(), None) == []
    [told] = advice(Situation("cuda:0", GIB, 16 * GIB, 8 * GIB, 13 * GIB), Evidence(), None)
    assert "expandable_segments" in told


ON = Situation("cuda:0", GIB, 16 * GIB, 10 * GIB, 10 * GIB)


@pytest.mark.parametrize(
    ("seen", "words"),
    [
        (Evidence(None), []),
        (Evidence(2 * GIB), []),
        (Evidence(4 * GIB), ["smaller batch"]),
        (Evidence(7 * GIB), ["smaller batch", "torch.utils.checkpoint"]),
        (Evidence(7 * GIB, names=frozenset({"checkpoint"})), ["smaller batch"]),
        (Evidence(4 * GIB, frozenset({"float"})), ["smaller batch", "torch.autocast"]),
        (Evidence(4 * GIB, frozenset({"float", "c10::Half"})), ["smaller batch"]),
        (
            Evidence(4 * GIB, frozenset({"float"}), False, frozenset({"autocast"})),
            ["smaller batch"],
        ),
        (Evidence(4 * GIB, in_eval_mode=True), ["torch.no_grad"]),
        (Evidence(4 * GIB, in_eval_mode=True, names=frozenset({"backward"})), ["smaller batch"]),
    ],
)
def test_advice_is_given_only_where_something_measured_speaks_for_it(
    seen: Evidence, words: list[str]
) -> None:
    told = advice(ON, seen, None)
    assert len(told) == len(words)
    assert all(word in sentence for word, sentence in zip(words, told, strict=True))


def test_where_more_was_asked_than_there_is_nothing_else_is_advised() -> None:
    on = Situation("cuda:0", 40 * GIB, 16 * GIB, 10 * GIB, 16 * GIB)
    [told] = advice(on, Evidence(9 * GIB), HeldByName("data", 5 * GIB))
    assert "more than all" in told


EVALUATING = """
import torch
model = torch.nn.Sequential(*[torch.nn.Linear(256, 256) for _ in range(12)]).eval()
class Pipeline(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.model = model
    def forward(self, batch):
        scores = self.model(batch)
        raise torch.OutOfMemoryError("[x] DefaultCPUAllocator: can't allocate: you tried to allocate 9 bytes")
pipeline = Pipeline().eval()
"""


def test_a_graph_that_an_evaluation_keeps_is_seen(session: Session) -> None:
    pytest.importorskip("xleak._torch", reason="xleak has no module for this torch")
    session.run(EVALUATING)
    told = failed(session, "pipeline(torch.rand(20000, 256))")
    assert any("torch.no_grad()" in it for it in told.advice)


AWAY = Postmortem(
    "Cell 1 <b>ran</b> out.",
    "host",
    asked_bytes=None,
    free_bytes=None,
    allocated_bytes=None,
    reserved_bytes=None,
    fragmented_bytes=None,
    names=[HeldByName("<i>", 9 * MIB)],
)


def test_the_users_text_is_no_markup() -> None:
    page = postmortem.fragment(AWAY, name_of_run)
    assert "<b>" not in page
    assert "<i>" not in page
    assert "&lt;i&gt;" in page


def test_it_is_part_of_the_verdict_and_of_its_page() -> None:
    source = Source("n.ipynb", "python", {"xleak": "1"})
    verdict = assemble(source, [Cell(1, status="error", postmortem=AWAY), Cell(2)], [])
    schema = Path(__file__).parents[2] / "share" / "comm" / "verdict.v1.schema.json"
    shape = json.loads(json.dumps(to_json(verdict)))
    jsonschema.Draft202012Validator(json.loads(schema.read_text())).validate(shape)
    assert "postmortem" not in shape["cells"][1]
    assert from_json(shape) == verdict
    assert "Out of memory" in html.page(verdict, {})


def test_a_limited_process_gets_room_for_a_smaller_batch() -> None:
    pytest.importorskip("numpy")
    out = in_a_process("""
    run("import resource, numpy as np")
    run('''def train(rows):
        batch = np.ones((rows, 1 << 17))
        hidden = batch * 2
        return (hidden + batch).sum()
    ''')
    run('''used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + (1200 << 20), resource.RLIM_INFINITY))''')
    assert not run("train(500)").success
    assert run("total = train(200)").success, "the failed frames are still there"
    """)
    assert "asked the host for 500 MiB" in out
    assert "`local batch` 500 MiB" in out


def test_panels_are_told_of_it(session: Session) -> None:
    sent: list[Any] = []
    session.watcher.after_failure.append(lambda index, told: sent.append((index, told)))
    session.run(HELD)
    told = failed(session, "step()")
    assert sent == [(max(session.watcher.postmortems), told)]


def shown(capsys: pytest.CaptureFixture[str], session: Session, line: str) -> str:
    capsys.readouterr()
    assert session.run(line)
    return capsys.readouterr().out


def test_the_page_tells_state_causes_and_the_last_time(
    session: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    session.run(HELD)
    assert "last time" not in shown(capsys, session, "%xleak oom")
    failed(session, "step()")
    told = shown(capsys, session, "%xleak oom")
    assert "names: `table` 32 MiB" in told
    assert "last time" in told
    assert re.search(r"yes +XL402 the last traceback keeps its frames: .*%release_cache", told)
    assert re.search(r"no +XL401", told)


def test_the_page_as_json_has_every_number(
    session: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    session.run(HELD)
    failed(session, "step()")
    page = json.loads(shown(capsys, session, "%xleak oom --json"))
    [host] = page["allocators"]
    assert host["releasable_bytes"] >= 64 * MIB
    assert host["fix"] == "%release_cache"
    assert page["last"]["asked_bytes"] == 4 << 50


def test_a_fragmented_device_is_told_with_its_sizes(
    session: Session, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    scripted(monkeypatch, 4 * GIB, 9 * GIB)
    monkeypatch.setattr(
        "xleak.magics.oom_page.device_readings",
        lambda: [DeviceReading("cuda:0", 4 * GIB, 9 * GIB, None, None, None)],
    )
    told = shown(capsys, session, "%xleak oom")
    assert re.search(r"yes +cuda:0: .*9 GiB to 4 GiB; .* may help, and may not", told)


def test_the_page_takes_nothing_else(session: Session, capsys: pytest.CaptureFixture[str]) -> None:
    assert not session.run("%xleak oom --yaml")
    assert "takes --json or nothing" in capsys.readouterr().err


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device on this machine")
def test_a_card_has_room_again_when_the_next_cell_begins(session: Session) -> None:
    session.run("import torch\nfree, total = torch.cuda.mem_get_info()")
    session.run(
        "def step(part):\n    half = torch.empty(int(free * 0.6 * part), dtype=torch.uint8, device='cuda')\n"
        "    return half.clone()"
    )
    told = failed(session, "step(1)")
    assert told.allocator == "cuda:0"
    assert told.failing_cell_bytes is not None
    assert told.failing_cell_bytes >= int(session.shell.user_ns["free"] * 0.6)
    assert session.run("kept = step(0.7)")


@pytest.mark.parametrize(("which", "size"), [("RLIMIT_AS", "VmSize"), ("RLIMIT_DATA", "VmData")])
def test_what_is_left_is_that_below_the_nearest_limit_at_which_allocations_fail(
    which: str, size: str
) -> None:
    code = (
        "import resource\n"
        "from xleak.shell.out_of_memory.host_memory import room\n"
        "sizes = dict(it.split(':') for it in open('/proc/self/status') if it.startswith('Vm'))\n"
        f"size = int(sizes[{size!r}].split()[0]) << 10\n"
        f"resource.setrlimit(resource.{which}, (size + (64 << 20), resource.RLIM_INFINITY))\n"
        "left = room()\n"
        "assert left.limit == 'below the process\\'s address-space limit', left\n"
        "assert left.total == size + (64 << 20), left\n"
        "assert 0 < left.free <= 64 << 20, left\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
