"""One server and one browser for all tests; a page of its own for each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest
from lab import Notebook, OpenNotebook, Server
from playwright.sync_api import Browser, Page, expect, sync_playwright

CHROMIUM = "/usr/bin/chromium"
# A state that comes at once on an idle machine takes longer beside other work.
PATIENCE_MILLISECONDS = 30_000
SIZE = {"width": 1360, "height": 900}


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    server = Server("lab", tmp_path_factory.mktemp("lab"))
    yield server
    server.stop()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    expect.set_options(timeout=PATIENCE_MILLISECONDS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def page(browser: Browser, request: pytest.FixtureRequest) -> Iterator[Page]:
    """In a window as most have; a test may ask for another one."""
    context = browser.new_context(**getattr(request, "param", {"viewport": SIZE}))
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MILLISECONDS)
    failures: list[str] = []
    page.on("pageerror", lambda error: failures.append(str(error)))
    yield page
    context.close()
    assert [it for it in failures if "xleak" in it] == []


@pytest.fixture
def notebook(page: Page, lab: Server, request: pytest.FixtureRequest) -> Iterator[OpenNotebook]:
    """Opens a notebook of these cells with the panel beside it."""

    def opener(cells: Sequence[str], *, kernel: str = "xleak", name: str | None = None) -> Notebook:
        file = f"{name or request.node.name}.ipynb"
        opened = Notebook(page, lab, lab.write(file, cells, kernel))
        opened.open_panel()
        return opened

    yield opener
    lab.end_kernels()
