"""Sentences name a cell by the number that the notebook shows, however xleak counts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from harness import (
    TIMEOUT,
    IpykernelManager,
    Ran,
    Session,
    XleakManager,
    kill_in_a_cell,
    start,
    stop,
)
from panel_client import PanelClient

pytestmark = pytest.mark.each_ipython

MIB = 1 << 20
# Each puts the kernel's numbers and xleak's apart.
UNWATCHED = ["%xleak policy off", "x = 1", "x = 2", "%xleak policy report"]
KINDS = {"xleak": (XleakManager, UNWATCHED), "ipykernel": (IpykernelManager, ["x = 1", "x = 2"])}


@pytest.fixture(params=KINDS)
def kernel(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Session]:
    """Cells ran in it that xleak did not see, and requests that the notebook does not count."""
    kind, before = KINDS[request.param]
    session = start({"XDG_STATE_HOME": str(tmp_path)}, kind=kind)
    for code in [*before, "%load_ext xleak"]:
        assert session.run(code).content["status"] == "ok"
    for code in ("y = 1", "raise ValueError"):
        session.run(code, store_history=False)
    session.run("y = 2", silent=True)
    session.run("  \n")
    yield session
    stop(session)


def shown(ran: Ran) -> str:
    return "\n".join(it["data"]["text/plain"] for it in ran.of("display_data"))


def name_of(ran: Ran) -> str:
    """What the notebook shows beside the cell."""
    assert ran.content["execution_count"] == ran.of("execute_input")[0]["execution_count"]
    return f"cell {ran.content['execution_count']}"


def test_whatever_names_a_cell_names_it_as_the_notebook_does(kernel: Session) -> None:
    kept = kernel.run(f"import numpy as np\ntable = np.ones({40 * MIB})")
    leaked = kernel.run(f"np.ones({8 * MIB})")
    kernel.run("x = 3")
    failed = kernel.run("bytearray(1 << 62)")
    assert name_of(kept) != "cell 1"
    assert f"xleak: {name_of(failed).capitalize()} " in shown(failed)
    assert f"{name_of(kept)} kept 3" in shown(failed)
    assert f"warning  {name_of(leaked)}" in shown(kernel.run("%leakcheck"))
    report = kernel.run("%memreport")
    assert f"\n{name_of(leaked)} " in shown(report)
    *rows, own = shown(report).split("\n\n")[0].splitlines()[1:]
    assert rows[-1].split()[0] == str(failed.content["execution_count"])
    assert own.endswith(f"[{report.content['execution_count'] - 1}]")
    diagnosis = shown(kernel.run("%leakcheck --diagnose"))
    assert f"{name_of(failed)} ended with an out-of-memory error" in diagnosis
    assert f"{name_of(kept)} kept 3" in shown(kernel.run("%xleak oom"))
    released = kernel.run("%release_cache")
    assert f"  {name_of(released)}  you: " in kernel.run("%xleak journal").text()


def test_a_panel_can_look_up_the_number_of_every_cell_that_it_hears_of(kernel: Session) -> None:
    panel = PanelClient(kernel.client)
    panel.ask("subscribe")
    failed = kernel.run("bytearray(1 << 62)")
    cell, told = panel.wait_for("cell")["cell"], panel.wait_for("postmortem")
    assert told["cell"] == cell["index"]
    assert f"cell {cell['execution_count']}" == name_of(failed)
    assert told["sentence"].startswith(name_of(failed).capitalize())
    panel.close()


def test_the_kernel_after_a_crash_names_the_cell_as_the_notebook_did(
    kernel: Session, tmp_path: Path
) -> None:
    before = kernel.run("x = 5").content["execution_count"]
    kill_in_a_cell(kernel, tmp_path)
    kernel.manager.restart_kernel(now=True)
    kernel.client.wait_for_ready(timeout=TIMEOUT)
    said = shown(kernel.run("%load_ext xleak")) + shown(kernel.run("x = 1"))
    assert f"It ended in cell {before + 1}, " in said
