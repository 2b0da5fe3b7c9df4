"""The mark `xleak` and the fixture `xleak_watch` of pytest. Loads the rest of xleak, and starts
something, only for a test that uses one of them."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from xleak.watching.scope import Watch

_MOST = "1MiB"


def pytest_configure(config: pytest.Config) -> None:
    """Makes the mark known."""
    does = "fail the test where it keeps more memory than that; a size in bytes or a text"
    config.addinivalue_line("markers", f'xleak(max_kept="{_MOST}"): {does}')


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """Around the test alone: what its fixtures keep is not its own."""
    mark = item.get_closest_marker("xleak")
    if mark is None:
        return (yield)
    watcher = _watcher(item, mark)
    result = yield
    # What is garbage is not kept.
    _collect()
    watcher.close()
    if watcher.leaks:
        pytest.fail("\n".join(leak.message() for leak in watcher.leaks), pytrace=False)
    return result


@pytest.fixture
def xleak_watch(request: pytest.FixtureRequest) -> Callable[..., Watch]:
    """`with xleak_watch(max_kept="1MiB") as w:` in a test: xleak.watch that raises xleak.LeakError."""
    import xleak

    def watch(label: str | None = None, *, max_kept: int | str = _MOST, every: int = 100) -> Watch:
        name = label or request.node.name
        return xleak.watch(name, every=every, on_leak="raise", max_kept=max_kept)

    return watch


def _watcher(item: pytest.Item, mark: pytest.Mark) -> Any:
    from xleak import Watcher

    if mark.args or set(mark.kwargs) - {"max_kept"}:
        pytest.fail(f"the mark xleak takes max_kept alone, got {_shown(mark)}", pytrace=False)
    try:
        _collect()
        watcher = Watcher(item.nodeid, on_leak="quiet", max_kept=mark.kwargs.get("max_kept", _MOST))
    except ValueError as error:
        pytest.fail(f"the mark xleak: {error}", pytrace=False)
    watcher.namespaces = [vars(module)] if (module := getattr(item, "module", None)) else []
    return watcher


def _shown(mark: pytest.Mark) -> str:
    return ", ".join([*map(repr, mark.args), *(f"{k}={v!r}" for k, v in mark.kwargs.items())])


def _collect() -> None:
    import gc

    gc.collect()
