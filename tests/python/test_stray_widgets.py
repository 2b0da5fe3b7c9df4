"""Open widgets in a shell whose kernel does not tell what it shows, and widgets of hostile classes."""

from __future__ import annotations

import sys
import types
from typing import Any

import pytest
from shells import Session
from xleak import _native
from xleak.shell.widgets import model_in, open_widgets, registry_expression

pytest.importorskip("ipywidgets", reason="no ipywidgets, and so no open widgets, here")

VIEW = "application/vnd.jupyter.widget-view+json"
PICTURE = "widgets.Image(value=bytes(600_000))"
# Traits print and compare values themselves: armed once all is made.
HOSTILE = """
import ipywidgets as widgets
def hostile(touched, armed):
    def raising(self, *args):
        if armed: touched.append(args)
        return NotImplemented
    class Picture(widgets.Image):
        __eq__ = __len__ = __bool__ = __iter__ = __repr__ = raising
        __hash__ = object.__hash__
        def __getattribute__(self, name):
            if armed: touched.append(name)
            return super().__getattribute__(name)
    return Picture
touched, armed = [], []
Picture = hostile(touched, armed)
"""


@pytest.fixture(autouse=True)
def all_closed() -> Any:
    yield
    for widget in list(open_widgets().values()):
        widget.close()


def labels() -> list[str]:
    return [finding.key for finding in _native.findings() if finding.code == "XL414"]


def test_widgets_of_earlier_runs_are_told_without_the_kernel(session: Session) -> None:
    session.run("import ipywidgets as widgets")
    for _ in range(2):
        session.run(f"view = {PICTURE}")
    assert labels() == []
    for _ in range(2):
        session.run(f"view = {PICTURE}")
    assert len(labels()) == 1
    fix = next(it.fixes[0].code for it in _native.findings() if it.key == labels()[0])
    assert session.run(fix)
    assert labels() == []
    assert session.shell.user_ns["view"].comm is not None


def test_one_run_is_not_told_where_nobody_knows_what_it_showed(session: Session) -> None:
    session.run("import ipywidgets as widgets")
    session.run(f"for _ in range(8): view = {PICTURE}")
    assert labels() == []


def test_widgets_of_a_hostile_class_are_told_untouched(session: Session) -> None:
    session.run(HOSTILE)
    for _ in range(4):
        session.run("view = Picture(value=bytes(600_000))")
    session.run("armed.append(1)")
    session.watcher.refresh()
    assert len(labels()) == 1
    assert session.shell.user_ns["touched"] == []
    session.run("armed.clear()")


def of_module(registry: dict[str, object]) -> types.ModuleType:
    module = types.ModuleType("widget")
    vars(module).update(Widget=type("Widget", (), {"widgets": property()}), _instances=registry)
    return module


def of_class(registry: dict[str, object], name: str) -> types.ModuleType:
    module = types.ModuleType("widget")
    vars(module).update(Widget=type("Widget", (), {name: registry}))
    return module


@pytest.mark.parametrize("place", ["_instances", "Widget._active_widgets", "Widget.widgets"])
def test_the_registry_is_found_where_each_version_has_it(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry: dict[str, object] = {"id": object()}
    name = place.removeprefix("Widget.")
    module = of_module(registry) if name == place else of_class(registry, name)
    monkeypatch.setitem(sys.modules, "ipywidgets.widgets.widget", module)
    assert open_widgets() is registry
    assert eval(registry_expression()) is registry
    monkeypatch.delitem(sys.modules, "ipywidgets.widgets.widget")
    assert open_widgets() == {}


@pytest.mark.parametrize(
    ("output", "model"),
    [
        ({"data": {VIEW: {"model_id": "5e"}}}, "5e"),
        ({"data": {"text/plain": "5e"}}, ""),
        ({"data": {VIEW: ["5e"]}}, ""),
        ({"data": {VIEW: {"model_id": 5}}}, ""),
        ({}, ""),
        (None, ""),
    ],
)
def test_an_output_names_the_widget_that_it_shows(output: object, model: str) -> None:
    assert model_in(output) == model
