"""How the panel looks in both themes, and what a screen reader gets."""

from __future__ import annotations

import pytest
from barriers import serious
from lab import OpenNotebook
from looks import (
    MOST_PIXELS,
    ROOT,
    SCREENSHOTS,
    THEMES,
    TRAINING,
    differing_share,
    dress,
    picture_of,
    show_training,
)
from PIL import Image

ARTEFACTS = ROOT / "build" / "screenshots"


@pytest.mark.parametrize("theme", THEMES)
def test_the_panel_has_no_serious_barrier_and_looks_as_in_the_documents(
    notebook: OpenNotebook, theme: str
) -> None:
    opened = notebook(TRAINING, name="training")
    dress(opened, theme)
    show_training(opened)
    now = picture_of(opened)
    ARTEFACTS.mkdir(parents=True, exist_ok=True)
    now.save(ARTEFACTS / f"panel_{theme}.png")
    documented = Image.open(SCREENSHOTS / f"panel_{theme}.png").convert("RGB")
    assert differing_share(opened, documented, now) <= MOST_PIXELS
    opened.page.add_style_tag(content=".jp-xleak-Buttons { visibility: hidden }")
    assert differing_share(opened, documented, picture_of(opened)) > MOST_PIXELS
    opened.page.add_style_tag(content=".jp-xleak-Buttons { visibility: visible !important }")
    opened.section("census").get_by_role("button", name="List the tensors").click()
    opened.panel.locator(".jp-xleak-TensorRow").nth(1).wait_for()
    assert serious(opened) == []
