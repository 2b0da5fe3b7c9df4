"""What keeps somebody from using the panel: a screen reader, the keyboard, a small window."""

from __future__ import annotations

from typing import Any

from lab import Notebook
from looks import ROOT

AXE = ROOT / "share" / "sidebar" / "node_modules" / "axe-core" / "axe.min.js"

CUT_OFF = """panel => [panel, ...panel.querySelectorAll('.jp-xleak-Scroll, button, select, dd')]
    .filter(it => it.scrollWidth > it.clientWidth + 1 && !it.matches('.jp-xleak-link'))
    .map(it => it.outerHTML.slice(0, 200))"""

OVERLAPPING = """panel => {
    const parts = [...panel.querySelectorAll(':scope > .jp-xleak-Summary, :scope > section')];
    const boxes = parts.map(part => part.getBoundingClientRect());
    return boxes.filter((box, at) => at > 0 && box.top < boxes[at - 1].bottom - 1).length;
}"""

REACHABLE = "button:not([disabled]), select, input, summary, [tabindex='0']"

# Nothing lies over what has the focus.
FOCUSED = """panel => {
    const it = document.activeElement;
    if (!panel.contains(it)) return null;
    const { left, right, top, bottom } = it.getBoundingClientRect();
    const seen = document.elementFromPoint((left + right) / 2, (Math.max(top, 0) + bottom) / 2);
    return { at: [...panel.querySelectorAll(REACHABLE)].indexOf(it), seen: it.contains(seen) };
}""".replace("REACHABLE", f'"{REACHABLE}"')


def serious(opened: Notebook) -> list[Any]:
    """What axe finds wrong in the panel that keeps somebody from using it."""
    opened.page.add_script_tag(content=AXE.read_text())
    found = opened.page.evaluate("axe.run('#xleak-panel')")
    return [
        (it["id"], [node["html"] for node in it["nodes"]])
        for it in found["violations"]
        if it["impact"] in ("serious", "critical")
    ]


def reached_by_keyboard(opened: Notebook) -> list[dict[str, Any]]:
    """What Tab comes to in the panel, by its place among REACHABLE, and whether it is seen."""
    opened.panel.locator(REACHABLE).first.focus()
    reached = []
    while focused := opened.panel.evaluate(FOCUSED):
        reached.append(focused)
        opened.page.keyboard.press("Tab")
    return reached
