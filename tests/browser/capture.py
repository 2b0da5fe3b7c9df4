"""Makes the pictures of docs/screenshots: the panel in both themes, and a short film of a leak that is
found and released."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from lab import SIZE, Notebook, Server, chromium, served
from looks import SCREENSHOTS, THEMES, TRAINING, dress, picture_of, show_training
from PIL import Image
from playwright.sync_api import Browser, expect

FILM_WIDTH = 900
FILM_BYTES = 1 << 20
FRAME_MILLISECONDS = 700
LAST_MILLISECONDS = 3000


def opened_in(browser: Browser, server: Server, theme: str) -> Notebook:
    page = browser.new_context(viewport=SIZE).new_page()
    opened = Notebook(page, server, server.write("training.ipynb", TRAINING))
    opened.open_panel()
    dress(opened, theme)
    return opened


def film(opened: Notebook) -> list[Image.Image]:
    """The session cell by cell, then the release of what it found."""
    frames = [picture_of(opened)]
    for number in range(1, len(TRAINING) + 1):
        opened.run(number)
        expect(opened.bar(number)).to_be_visible()
        frames.append(picture_of(opened))
    finding = opened.finding("XL401")
    expect(finding).to_be_visible()
    frames.append(picture_of(opened))
    release = finding.get_by_role("button", name="Release it")
    release.hover()
    frames.append(picture_of(opened))
    release.click()
    expect(opened.notice()).to_contain_text("came back")
    frames.append(picture_of(opened))
    return frames


def save_film(frames: list[Image.Image], path: Path) -> None:
    size = (FILM_WIDTH, FILM_WIDTH * SIZE["height"] // SIZE["width"])
    first, *others = [frame.resize(size, Image.Resampling.LANCZOS) for frame in frames]
    durations = [FRAME_MILLISECONDS] * len(others) + [LAST_MILLISECONDS]
    first.save(path, save_all=True, append_images=others, duration=durations, loop=0, quality=80)
    assert path.stat().st_size <= FILM_BYTES


def main() -> None:
    with (
        TemporaryDirectory() as folder,
        served("lab", Path(folder)) as server,
        chromium() as browser,
    ):
        for theme in THEMES:
            opened = opened_in(browser, server, theme)
            show_training(opened)
            picture_of(opened).save(SCREENSHOTS / f"panel_{theme}.png", optimize=True)
            server.end_kernels()
        save_film(film(opened_in(browser, server, "light")), SCREENSHOTS / "panel.webp")


if __name__ == "__main__":
    main()
