"""A long session: 500 cells and 1000 findings, told by a script in place of the kernel."""

from __future__ import annotations

import json

from lab import Notebook, OpenNotebook
from playwright.sync_api import CDPSession, Locator, expect

CELLS, FINDINGS = 500, 1000
MIB = 1 << 20
FRAMES = 60
MOST_SCRIPTING_SECONDS = 0.016


def cell(index: int) -> dict[str, object]:
    host = {
        "resident_before_bytes": 100 * MIB,
        "resident_after_bytes": (100 + index % 7 - 2) * MIB,
        "resident_peak_bytes": (106 + index % 5) * MIB,
        "heap_kept_bytes": None,
        "tensor_kept_bytes": None,
        "tensor_peak_bytes": None,
    }
    return {
        "index": index,
        "cell_id": f"told-{index}",
        "execution_count": index,
        "status": "ok",
        "seconds": 0.1,
        "host": host,
        "devices": [],
    }


def finding(number: int) -> dict[str, object]:
    return {
        "id": f"00000000-{number}",
        "code": "XL401",
        "slug": "big_value_in_output_cache",
        "severity": "warning",
        "basis": "measured",
        "cell": 1 + number % CELLS,
        "cause_cell": None,
        "line": None,
        "bytes": number * MIB,
        "name": None,
        "holders": [f"Out[{number}]"],
        "path": ["Out", f"[{number}]", "Tensor"],
        "message": f"Out[{number}] alone keeps it alive. Free it with `%xdel Out[{number}]`.",
        "fixes": [{"kind": "run", "title": "Release it", "code": f"%xdel Out[{number}]"}],
    }


TOLD = {
    "kind": "session",
    "request": 1,
    "cells": [cell(index) for index in range(1, CELLS + 1)],
    "earlier_cells": 0,
    "findings": [finding(number) for number in range(1, FINDINGS + 1)],
    "policy": "report",
}
KERNEL = f"""
import json
from comm import get_comm_manager
told = json.loads({json.dumps(TOLD)!r})
def opened(comm, message):
    comm.on_msg(lambda message: comm.send({{**told, "request": message["content"]["data"]["id"]}}))
    comm.send({{"kind": "hello", "protocol": 1, "xleak": "0", "capabilities": ["subscribe", "run_fix"]}})
get_comm_manager().register_target("xleak", opened)
print("told")
"""


def scripting_seconds(devtools: CDPSession) -> float:
    metrics = devtools.send("Performance.getMetrics")["metrics"]
    return float(next(it["value"] for it in metrics if it["name"] == "ScriptDuration"))


def scroll(opened: Notebook, scrolled: Locator) -> float:
    """Scrolls a list for a second; the scripting of an average frame in seconds."""
    devtools = opened.page.context.new_cdp_session(opened.page)
    devtools.send("Performance.enable")
    before = scripting_seconds(devtools)
    scrolled.evaluate(
        """async (list, frames) => {
            for (let frame = 0; frame < frames; frame++) {
                list.scrollTop += 60;
                await new Promise(requestAnimationFrame);
            }
        }""",
        FRAMES,
    )
    return (scripting_seconds(devtools) - before) / FRAMES


def test_a_long_session_is_drawn_in_part_and_scrolls_smoothly(notebook: OpenNotebook) -> None:
    opened = notebook([KERNEL], kernel="python3")
    opened.run(1)
    opened.page.reload()
    opened.open_panel()
    bars = opened.panel.locator(".jp-xleak-Cell")
    cards = opened.panel.locator(".jp-xleak-Finding")
    expect(bars.first).to_be_visible()
    expect(cards.first).to_contain_text(f"{FINDINGS} MiB")
    assert bars.count() < 60
    assert cards.count() < 20
    cells, findings = opened.panel.locator(".jp-xleak-Scroll").all()
    assert scroll(opened, cells) <= MOST_SCRIPTING_SECONDS
    assert scroll(opened, findings) <= MOST_SCRIPTING_SECONDS
    cells.focus()
    opened.page.keyboard.press("End")
    expect(bars.last).to_have_attribute("aria-posinset", str(CELLS))
