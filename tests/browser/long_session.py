"""A long session, told by a script in place of the kernel, and what it costs to scroll through it.

Run as a program it prints the milliseconds of scripting of each frame, by list, as JSON.
"""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from lab import SIZE, Notebook, chromium, served
from playwright.sync_api import Locator, expect

CELLS, FINDINGS = 500, 1000
MIB = 1 << 20
FRAMES = 60
STEP_PIXELS = 60

# The outermost of these on the thread of the page are its scripting, as the browser's own tools sum it up.
SCRIPTING = {
    "EvaluateScript",
    "EventDispatch",
    "FireAnimationFrame",
    "FunctionCall",
    "MajorGC",
    "MinorGC",
    "RunMicrotasks",
    "TimerFire",
}


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


def tell(opened: Notebook) -> dict[str, Locator]:
    """Runs the script and shows what it told; the two lists."""
    opened.run(1)
    opened.page.reload()
    opened.open_panel()
    expect(opened.panel.locator(".jp-xleak-Finding").first).to_contain_text(f"{FINDINGS} MiB")
    cells, findings = opened.panel.locator(".jp-xleak-Scroll").all()
    return {"cells": cells, "findings": findings}


def scripting_of_frames(opened: Notebook, scrolled: Locator) -> list[float]:
    """Milliseconds of scripting in each frame while a list is scrolled for a second, by the browser's trace."""
    browser = opened.page.context.browser
    assert browser
    browser.start_tracing(page=opened.page, categories=["devtools.timeline", "v8"])
    scrolled.evaluate(
        """async (list, [frames, step]) => {
            for (let frame = 0; frame < frames; frame++) {
                list.scrollTop += step;
                await new Promise(requestAnimationFrame);
            }
        }""",
        [FRAMES, STEP_PIXELS],
    )
    events: list[dict[str, Any]] = json.loads(browser.stop_tracing())["traceEvents"]
    return by_frame(events)


def by_frame(events: list[dict[str, Any]]) -> list[float]:
    """Scripting between one drawing of the page and the next. It is time of the thread, not of the clock:
    what else the machine does is no work of the page."""
    drawn = [it for it in events if it["name"] == "Layerize"]
    thread = (drawn[0]["pid"], drawn[0]["tid"])
    ran = [it for it in events if it["name"] in SCRIPTING and (it["pid"], it["tid"]) == thread]
    # The last one may still have been under way.
    ran = [it for it in ran if "dur" in it]
    frames = [0.0] * (len(drawn) + 1)
    end = 0
    for event in sorted(ran, key=lambda it: (it["ts"], -it["dur"])):
        if event["ts"] >= end:
            end = event["ts"] + event["dur"]
            frames[sum(it["ts"] <= event["ts"] for it in drawn)] += event["tdur"] / 1000
    return frames


def main() -> None:
    with (
        TemporaryDirectory() as folder,
        served("lab", Path(folder)) as server,
        chromium() as browser,
    ):
        page = browser.new_context(viewport=SIZE).new_page()
        opened = Notebook(page, server, server.write("long.ipynb", [KERNEL], "python3"))
        opened.open_panel()
        lists = tell(opened)
        print(json.dumps({name: scripting_of_frames(opened, it) for name, it in lists.items()}))


if __name__ == "__main__":
    main()
