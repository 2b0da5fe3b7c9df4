"""`%memreport --lines`: which line of the notebook made what is alive, and what was alive at the peaks."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from harness import Session, start, stop

pytestmark = pytest.mark.each_ipython

MIB = 1 << 20
MAKE = """import numpy as np
def load(count):
    return np.ones(count << 17)
"""


@pytest.fixture
def ledger_kernel() -> Iterator[Session]:
    session = start()
    yield session
    stop(session)


def by_line(kernel: Session) -> dict[str, tuple[int, int]]:
    """(kept, peak) in bytes, by the text of the line."""
    account = "__import__('xleak.shell.lines').shell.lines.account_of_lines(get_ipython()).lines"
    lines = kernel.ask(f"[(it.source, it.kept_bytes, it.peak_bytes) for it in {account}]")
    return {source: (kept, peak) for source, kept, peak in lines}


def test_a_block_belongs_to_the_line_that_made_it_even_in_a_function_of_another_cell(
    ledger_kernel: Session,
) -> None:
    ledger_kernel.run(MAKE)
    ledger_kernel.run("\nframe = load(8)\ncopy = frame * 2")
    lines = by_line(ledger_kernel)
    assert lines["return np.ones(count << 17)"] == (8 * MIB, 8 * MIB)
    assert lines["copy = frame * 2"] == (8 * MIB, 8 * MIB)
    printed = ledger_kernel.run("%memreport --lines").text()
    number = int(ledger_kernel.value("len(In) - 1"))
    assert f"cell {number - 3}, line 3  return np.ones(count << 17)" in printed
    assert f"cell {number - 2}, line 3  copy = frame * 2" in printed


def test_what_is_released_is_kept_no_more_and_stands_in_the_peak_of_its_cell(
    ledger_kernel: Session,
) -> None:
    ledger_kernel.run(MAKE)
    ledger_kernel.run("small = load(2)\nlarge = small.repeat(6)\ndel large")
    lines = by_line(ledger_kernel)
    assert lines["large = small.repeat(6)"] == (0, 12 * MIB)
    assert lines["return np.ones(count << 17)"] == (2 * MIB, 2 * MIB)
    ledger_kernel.run("del small")
    assert by_line(ledger_kernel)["return np.ones(count << 17)"][0] == 0


def test_a_tensor_has_a_line_though_torch_asks_for_it_without_the_lock(
    ledger_kernel: Session,
) -> None:
    ledger_kernel.run("import torch\nx = torch.ones(1024, 1024)")
    ledger_kernel.run("y = x.exp()")
    assert by_line(ledger_kernel)["y = x.exp()"][0] == 4 * MIB


def test_the_record_of_a_cell_has_what_was_born_in_it_and_the_peak_above_its_start(
    ledger_kernel: Session,
) -> None:
    ledger_kernel.run(MAKE + "before = load(16)")
    ledger_kernel.run("kept, gone = load(4), load(8)\ndel gone")
    ledger_kernel.run("del kept")
    numbers = (
        "[(it.allocated_alive_bytes, it.allocated_peak_bytes) for it in xleak._native.records()]"
    )
    records = ledger_kernel.ask(numbers.replace("xleak", "__import__('xleak')"))
    (alive, peak), after = records[-2:]
    assert (alive, after) == (4 * MIB, (0, 0))
    # A block of the shell's own may go meanwhile.
    assert peak == pytest.approx(12 * MIB, rel=0.02)


def test_where_the_ledger_is_off_a_sentence_says_how_to_have_it(
    start_kernel: Callable[..., Session],
) -> None:
    fresh_kernel = start_kernel(XLEAK_LEDGER="0")
    fresh_kernel.run(MAKE + "x = load(8)")
    printed = fresh_kernel.run("%memreport --lines").text()
    assert "the ledger is off" in printed and "`%config Xleak.ledger = True`" in printed
    fresh_kernel.run("%config Xleak.ledger = True")
    fresh_kernel.run("y = load(4)")
    assert by_line(fresh_kernel) == {"return np.ones(count << 17)": (4 * MIB, 4 * MIB)}
