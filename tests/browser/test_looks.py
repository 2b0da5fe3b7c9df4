"""How the panel looks in both themes, and what a screen reader gets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from lab import Notebook, OpenNotebook
from playwright.sync_api import expect

ROOT = Path(__file__).resolve().parents[2]
AXE = ROOT / "share" / "sidebar" / "node_modules" / "axe-core" / "axe.min.js"
SCREENSHOTS = ROOT / "docs" / "screenshots"
THEMES = {"light": "JupyterLab Light", "dark": "JupyterLab Dark"}

TRAINING = [
    "import torch\nfrom torch import nn",
    "images = torch.randn(4096, 3, 32, 32)",
    "model = nn.Sequential(nn.Flatten(), nn.Linear(3072, 2048), nn.ReLU(), nn.Linear(2048, 10))",
    "logits = model(images)\nloss = logits.square().mean()\nloss.backward()",
    "activations = model[:3](images)\nactivations",
    "del activations, logits, loss",
    "images = images[:1024].clone()",
]


def serious(opened: Notebook) -> list[Any]:
    """What axe finds wrong in the panel that keeps somebody from using it."""
    opened.page.add_script_tag(content=AXE.read_text())
    found = opened.page.evaluate("axe.run('#xleak-panel')")
    return [
        (it["id"], [node["html"] for node in it["nodes"]])
        for it in found["violations"]
        if it["impact"] in ("serious", "critical")
    ]


@pytest.mark.parametrize("theme", THEMES)
def test_the_panel_has_no_serious_barrier_and_looks_so(notebook: OpenNotebook, theme: str) -> None:
    opened = notebook(TRAINING, name="training")
    opened.use_theme(THEMES[theme])
    for number in range(1, len(TRAINING) + 1):
        opened.run(number)
    expect(opened.finding("XL401")).to_be_visible()
    opened.section("names").get_by_role("button", name="Measure the names").click()
    expect(opened.panel.locator(".jp-xleak-name").first).to_be_visible()
    opened.bar(5).hover()
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    opened.page.screenshot(path=SCREENSHOTS / f"panel_{theme}.png")
    assert serious(opened) == []
