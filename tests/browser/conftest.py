"""One server and one browser for all tests; a page of its own for each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest
from lab import PATIENCE_MILLISECONDS, SIZE, Notebook, OpenNotebook, Server, chromium, served
from playwright.sync_api import Browser, Page


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with served("lab", tmp_path_factory.mktemp("lab")) as server:
        yield server


@pytest.fixture
def seven(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Notebook 7, on a server of its own."""
    with served("notebook", tmp_path_factory.mktemp("notebook")) as server:
        yield server


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


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
