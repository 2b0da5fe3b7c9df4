"""What the kernel's verdict says of the tensors of each cell."""

from __future__ import annotations

import json

from harness import Session

MIB = 1 << 20
CHURN = """
import threading
stop = threading.Event()
def churn():
    while not stop.is_set(): torch.empty(64)
thread = threading.Thread(target=churn)
thread.start()
"""


def last_host(kernel: Session) -> dict[str, int | None]:
    """The numbers of the latest cell."""
    verdict = json.loads(kernel.ask("__import__('xleak.verdict').verdict.verdict_json()"))
    host: dict[str, int | None] = verdict["cells"][-1]["host"]
    return host


def test_the_cell_that_makes_a_tensor_keeps_it(kernel: Session) -> None:
    kernel.run("import torch")
    kernel.run("kept = torch.zeros(4 << 20, dtype=torch.uint8); torch.zeros(8 << 20).sum()")
    host = last_host(kernel)
    peak, allocated = host["tensor_peak_bytes"], host["tensor_allocated_bytes"]
    # And the sum, which Out keeps.
    assert host["tensor_kept_bytes"] == 4 * MIB + 4
    assert peak is not None and allocated is not None
    assert peak >= 36 * MIB
    assert 36 * MIB <= allocated < 37 * MIB
    kernel.run("del kept")
    freed = last_host(kernel)
    assert (freed["tensor_kept_bytes"], freed["tensor_allocated_bytes"]) == (-4 * MIB, 0)


def test_a_cell_that_fails_is_accounted_too(kernel: Session) -> None:
    kernel.run("import torch")
    kernel.run("survivor = torch.zeros(MIB := 1 << 20); 1 / 0")
    assert last_host(kernel)["tensor_kept_bytes"] == 4 * MIB


def test_a_child_forked_by_a_cell_ends_while_a_thread_allocates(kernel: Session) -> None:
    kernel.run("import torch, warnings; warnings.simplefilter('ignore')")
    kernel.run(CHURN)
    ran = kernel.run("""
        import os
        codes = []
        for _ in range(20):
            child = os.fork()
            if child == 0:
                torch.empty(64)
                os._exit(0)
            codes.append(os.waitpid(child, 0)[1])
        print(codes)
    """)
    kernel.run("stop.set(); thread.join()")
    assert ran.text() == f"{[0] * 20}\n"
