"""Out of memory in the real kernel: what stands below the traceback, and that the next attempt has room."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from harness import Session
from panel_client import PanelClient

MIB = 1 << 20
# Two of the three arrays that `train` makes of 500 rows have room, whatever arenas threads reserve meanwhile.
LIMIT = f"""
import resource
import numpy as np
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + {1400 * MIB}, resource.RLIM_INFINITY))
"""
TRAIN = """
def train(rows):
    batch = np.ones((rows, 1 << 17))
    hidden = batch * 2
    return (hidden + batch).sum()
"""


def test_the_post_mortem_stands_below_the_traceback_and_the_next_attempt_has_room(
    fresh_kernel: Session,
) -> None:
    fresh_kernel.run(LIMIT + TRAIN)
    ran = fresh_kernel.run("train(500)")
    assert ran.content["status"] == "error"
    kinds = [message["msg_type"] for message in ran.outputs]
    assert kinds.index("display_data") > kinds.index("error")
    told = ran.of("display_data")[0]["data"]
    assert "Cell 2 asked the host for 500 MiB" in told["text/plain"]
    assert "`local batch` 500 MiB" in told["text/plain"]
    assert "address-space limit" in told["text/plain"]
    assert "<article" in told["text/html"]
    # Nobody has to type anything in between.
    assert fresh_kernel.value("bool(train(200) > 0)") == "True"


def test_the_traceback_and_the_debugger_work_until_the_next_cell(fresh_kernel: Session) -> None:
    fresh_kernel.run(LIMIT + TRAIN)
    fresh_kernel.run("train(500)")
    assert "MemoryError" in str(fresh_kernel.run("%tb").outputs)
    assert "MemoryError" in str(fresh_kernel.run("%tb").outputs)
    fresh_kernel.run("x = 1")
    assert "No traceback available" in str(fresh_kernel.run("%tb").outputs)


def test_a_failed_mmap_is_told_without_what_it_does_not_tell(fresh_kernel: Session) -> None:
    ran = fresh_kernel.run("import mmap\nmmap.mmap(-1, 1 << 46)")
    assert (
        "Cell 1 ran out of memory on the host;" in ran.of("display_data")[0]["data"]["text/plain"]
    )


def test_nothing_is_imported_until_a_cell_fails_so(start_kernel: Callable[..., Session]) -> None:
    kernel = start_kernel()
    kernel.run("x = 1")
    modules = "[m for m in __import__('sys').modules if m.startswith('xleak.shell.out_of_memory.')]"
    assert "xleak.shell.out_of_memory.autopsy" not in kernel.ask(modules)


def test_a_panel_that_comes_later_hears_of_the_failure_and_of_the_limit_that_is_near(
    fresh_kernel: Session,
) -> None:
    fresh_kernel.run(LIMIT)
    fresh_kernel.run(f"kept = b'x' * {1100 * MIB}")
    assert fresh_kernel.run("np.ones(1 << 30)").content["status"] == "error"
    panel = PanelClient(fresh_kernel.client)
    panel.ask("subscribe")
    near = panel.wait_for("guard")
    assert (near["limit"], near["level"] != "normal") == ("address_space", True)
    told = panel.wait_for("postmortem")
    assert (told["cell"], told["asked_bytes"]) == (3, 8 << 30)
    panel.close()


def test_a_list_that_took_all_there_was_is_named_all_the_same(fresh_kernel: Session) -> None:
    fresh_kernel.run(LIMIT)
    ran = fresh_kernel.run(f"rows = []\nwhile True: rows.append(bytearray({8 * MIB}))")
    assert ran.content["ename"] == "MemoryError"
    [told] = [it["data"]["text/plain"] for it in ran.of("display_data")]
    assert "Cell 2 ran out of memory on the host; " in told
    # No more than the next row would have taken.
    assert re.search(r"; (0 B|\d+(\.\d)? KiB|\d(\.\d)? MiB) was free below", told)
    assert re.search(r"`rows` 1\.[1-4] GiB", told)
    assert "xleak failed" not in ran.text("stderr")
    assert fresh_kernel.run("del rows").content["status"] == "ok"
    # Not in one piece: what is left of the heap may lie between the holes.
    fewer = f"rows = [bytearray({8 * MIB}) for _ in range(75)]; len(rows)"
    assert fresh_kernel.value(fewer) == "75"


@pytest.mark.parametrize("fails", ["np.ones(1 << 50)", "torch.ones(1 << 50)", "bytearray(1 << 62)"])
def test_a_loader_s_worker_is_told_apart_from_the_cell(fresh_kernel: Session, fails: str) -> None:
    pytest.importorskip("torch")
    fresh_kernel.run(
        "import numpy as np, torch\nclass Rows(torch.utils.data.Dataset):\n"
        f"    def __len__(self): return 2\n    def __getitem__(self, at): return {fails}"
    )
    ran = fresh_kernel.run("for row in torch.utils.data.DataLoader(Rows(), num_workers=1): pass")
    told = ran.of("display_data")[0]["data"]["text/plain"]
    assert told.startswith("xleak: A DataLoader's worker of cell 2 ")
    # What the kernel itself has allocated is not the worker's.
    assert "memory: " not in told
    assert ("asked the host for" in told) != ("does not tell how much" in told)
