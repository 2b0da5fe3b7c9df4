"""What IPython's flush of the output cache leaves behind."""

from __future__ import annotations

import pytest
from harness import Session

pytestmark = pytest.mark.each_ipython

SIZE = 4 << 20
SHOW = f"import numpy as np\nx = np.ones({SIZE} // 8)\nx"
# The flush leaves it there in every IPython; from 9 on what is shown later does not replace it.
KEPT = "type(get_ipython().user_ns_hidden.get('_')).__name__ == 'ndarray'"
MALLOC = "from xleak.shell.counters import read_counters\nread_counters()['malloc']"


# More cells than the entries whose numbers are remembered between two looks.
@pytest.mark.parametrize("shown_since", [0, 100])
def test_the_last_shown_value_is_found_where_no_look_came_before_the_flush(
    fresh_kernel: Session, shown_since: int
) -> None:
    cells = ["None", SHOW, "del x", "%reset -f out", *["1"] * shown_since]
    # Queued one right after another: the kernel does not rest.
    for sent in [fresh_kernel.send(cell) for cell in cells]:
        fresh_kernel.wait(sent)
    kept = fresh_kernel.ask(KEPT)
    assert kept or shown_since
    found = fresh_kernel.findings()
    assert [it["code"] for it in found.values()] == (["XL401"] if kept else [])
    if not kept:
        return
    before = int(fresh_kernel.value(MALLOC))
    fresh_kernel.run(f"%xdel {next(iter(found))}")
    # The questions themselves take a little.
    assert before - int(fresh_kernel.value(MALLOC)) >= 0.95 * SIZE
    assert fresh_kernel.findings() == {}
