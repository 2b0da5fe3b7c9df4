"""A session worth a picture, and how two pictures of the panel are compared."""

from __future__ import annotations

import io
from pathlib import Path

from lab import Notebook
from PIL import Image, ImageChops, ImageDraw, ImageFilter
from playwright.sync_api import expect

ROOT = Path(__file__).resolve().parents[2]
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

# The tolerance. Of two pictures, blurred as glyphs of one font are rendered differently, this share of
# the pixels may differ by more than this in one of their colours of 256 shades.
BLUR_PIXELS = 1.5
SHADES = 48
MOST_PIXELS = 0.01

# What is measured, and so is another number and another length on each machine.
MEASURED = ".jp-xleak-Bar, .jp-xleak-size, .jp-xleak-Sparkline, .jp-xleak-Numbers, dd"

# Those of Debian's chromium; another font breaks lines elsewhere.
FONTS = """:root {
    --jp-ui-font-family: 'DejaVu Sans' !important;
    --jp-code-font-family: 'DejaVu Sans Mono' !important;
}"""

Box = tuple[float, float, float, float]


def dress(opened: Notebook, theme: str) -> None:
    """The same on every machine, in the light or the dark theme."""
    opened.page.add_style_tag(content=FONTS)
    opened.use_theme(THEMES[theme])


def show_training(opened: Notebook) -> None:
    """Runs the session, and shows what it kept."""
    for number in range(1, len(TRAINING) + 1):
        opened.run(number)
    expect(opened.finding("XL401")).to_be_visible()
    opened.section("names").get_by_role("button", name="Measure the names").click()
    expect(opened.panel.locator(".jp-xleak-name").first).to_be_visible()
    # Its graph has kept the first images since the last cell.
    expect(opened.finding("XL401")).to_contain_text("80 MiB")
    opened.bar(5).hover()


def picture_of(opened: Notebook) -> Image.Image:
    """The window as it is now."""
    return Image.open(io.BytesIO(opened.page.screenshot())).convert("RGB")


def differing_share(opened: Notebook, before: Image.Image, now: Image.Image) -> float:
    """The share of the panel's pixels that differ between two pictures of the window."""
    boxes: list[Box] = opened.panel.evaluate(
        """(panel, measured) => [panel, ...panel.querySelectorAll(measured)].map(it => {
            const { left, top, right, bottom } = it.getBoundingClientRect();
            return [left, top, right, bottom];
        })""",
        MEASURED,
    )
    panel, *measured = boxes
    left, right = (comparable(it, panel, measured) for it in (before, now))
    strongest = Image.new("L", left.size)
    for channel in ImageChops.difference(left, right).split():
        strongest = ImageChops.lighter(strongest, channel)
    counts = strongest.histogram()
    share: float = sum(counts[SHADES + 1 :]) / sum(counts)
    return share


def comparable(picture: Image.Image, panel: Box, measured: list[Box]) -> Image.Image:
    """The panel alone, without what is measured."""
    covered = picture.copy()
    draw = ImageDraw.Draw(covered)
    for box in measured:
        draw.rectangle(box, fill="gray")
    cut = covered.crop(tuple(round(edge) for edge in panel))
    return cut.filter(ImageFilter.GaussianBlur(BLUR_PIXELS))
