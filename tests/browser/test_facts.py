"""What the cells kept, in the file of the notebook, where the user wants it there."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lab import Notebook, Server, served
from playwright.sync_api import Page, expect

MIB = 1 << 20
SHOWN = [f"value = bytearray({64 * MIB})", "memoryview(value)", "del value"]
SETTING = "Save what each cell kept in the notebook"


def saved(opened: Notebook, file: Path) -> list[dict[str, Any]]:
    """The metadata of the cells once the notebook is in its file."""
    before = file.stat().st_mtime_ns
    opened.page.keyboard.press("Control+s")
    tab = opened.page.locator(".lm-TabBar-tab.lm-mod-current", has_text=file.name)
    expect(tab).not_to_have_class(re.compile("jp-mod-dirty"))
    assert file.stat().st_mtime_ns > before
    return [cell["metadata"] for cell in json.loads(file.read_text())["cells"]]


def switch_facts_on(opened: Notebook) -> None:
    """In the Settings Editor, as a user does."""
    page = opened.page
    page.keyboard.press("Control+,")
    editor = page.locator(".jp-SettingsPanel")
    page.locator(".jp-PluginList-entry", has_text="xleak: memory by cell").click()
    box = editor.get_by_role("checkbox", name=SETTING)
    expect(box).not_to_be_checked()
    with page.expect_response(lambda it: "settings/xleak" in it.url and it.request.method == "PUT"):
        box.check()
    page.locator(".lm-DockPanel-tabBar .lm-TabBar-tab", has_text="facts.ipynb").click()


def shape_of(facts: Any) -> Any:
    """Facts without the sizes, which differ from run to run."""
    return {key: type(it) if isinstance(it, int) else it for key, it in facts.items()}


@pytest.fixture
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One of its own: the server keeps the setting."""
    with served("lab", tmp_path_factory.mktemp("facts")) as server:
        yield server


@pytest.mark.each_lab
def test_what_cells_kept_is_saved_when_wanted_in_the_form_of_xleak_run(
    page: Page, server: Server
) -> None:
    opened = Notebook(page, server, server.write("facts.ipynb", SHOWN))
    opened.open_panel()
    file = server.folder / "facts.ipynb"
    for number in (1, 2, 3):
        opened.run(number)
    expect(opened.finding("XL401")).to_be_visible()
    assert ["xleak" in it for it in saved(opened, file)] == [False] * 3

    switch_facts_on(opened)
    for number in (1, 2, 3):
        opened.run(number)
    expect(opened.finding("XL401")).to_have_count(2)
    facts = [it["xleak"] for it in saved(opened, file)]

    executed = server.folder / "executed.ipynb"
    command = [sys.executable, "-m", "xleak", "run", str(file), "--save-executed", str(executed)]
    subprocess.run([*command, "--fail-on", "never"], check=True, capture_output=True)
    written = [it["metadata"]["xleak"] for it in json.loads(executed.read_text())["cells"]]
    assert [shape_of(it) for it in facts] == [shape_of(it) for it in written]
    assert facts[0]["kept_bytes"] >= 60 * MIB
    assert facts[1]["findings"] == ["XL401"]
