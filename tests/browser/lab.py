"""JupyterLab or Notebook as a user starts it, and a notebook in a browser."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Locator, Page, expect, sync_playwright
from wire import Wire

CHROMIUM = "/usr/bin/chromium"
# A state that comes at once on an idle machine takes longer beside other work.
PATIENCE_MILLISECONDS = 30_000
SIZE = {"width": 1360, "height": 900}
START_SECONDS = 60
CELL_MILLISECONDS = 60_000
TOKEN = "for-the-tests"

KERNELS = {"xleak": "Python 3 (xleak)", "python3": "Python 3 (ipykernel)"}


class Server:
    """`jupyter lab` or `jupyter notebook` in a folder and with settings of its own."""

    def __init__(self, application: str, folder: Path) -> None:
        self.folder = folder / "work"
        self.folder.mkdir(parents=True)
        self._data = folder / "data"
        # The path of a socket has at most 107 characters.
        self._runtime = tempfile.TemporaryDirectory(prefix="xleak-lab-")
        # A question about news would lie over what is tested.
        settings = folder / "settings" / "@jupyterlab" / "apputils-extension"
        settings.mkdir(parents=True)
        (settings / "notification.jupyterlab-settings").write_text(
            '{"fetchNews": "false", "checkForUpdates": false}'
        )
        environment = {
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "JUPYTER_CONFIG_DIR": str(folder / "config"),
            "JUPYTER_DATA_DIR": str(self._data),
            "JUPYTER_RUNTIME_DIR": self._runtime.name,
            "JUPYTERLAB_SETTINGS_DIR": str(folder / "settings"),
            "JUPYTERLAB_WORKSPACES_DIR": str(folder / "workspaces"),
            "IPYTHONDIR": str(folder / "ipython"),
            "XDG_STATE_HOME": str(folder / "state"),
        }
        options = ["--no-browser", "--allow-root", "--port=0", f"--IdentityProvider.token={TOKEN}"]
        # A port that was chosen for a kernel may be the browser's by the time that the kernel binds it; the
        # server starts the kernel again with others, and goes on to ask for it at the old ones.
        options.append("--KernelManager.transport=ipc")
        self.log = folder / "server.log"
        with self.log.open("w") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "jupyter", application, *options],
                cwd=self.folder,
                env=environment,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        self.url = self._wait_for_url(Path(self._runtime.name))
        wait_until(self._answers)

    def _wait_for_url(self, runtime: Path) -> str:
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline and self._process.poll() is None:
            for file in runtime.glob("jpserver-*.json"):
                if text := file.read_text():
                    return str(json.loads(text)["url"])
            time.sleep(0.1)
        raise RuntimeError(f"The server did not start:\n{self.log.read_text()}")

    def _answers(self) -> bool:
        """Whether it listens yet: it writes its address down before it does."""
        try:
            self.ask("GET", "api/status")
        except urllib.error.HTTPError:
            raise
        except urllib.error.URLError:
            return False
        return True

    def write(self, name: str, sources: Sequence[str], kernel: str = "xleak") -> str:
        """Writes a notebook; its name."""
        cells: list[dict[str, Any]] = [
            {
                "cell_type": "code",
                "id": f"cell-{number}",
                "metadata": {},
                "source": source,
                "outputs": [],
                "execution_count": None,
            }
            for number, source in enumerate(sources, 1)
        ]
        notebook: dict[str, Any] = {
            "nbformat": 4,
            "nbformat_minor": 5,
            "metadata": {
                "kernelspec": {"name": kernel, "display_name": KERNELS.get(kernel, kernel)}
            },
            "cells": cells,
        }
        (self.folder / name).write_text(json.dumps(notebook))
        return name

    def add_kernel(self, name: str, command: Sequence[str]) -> None:
        """Offers one more kernel."""
        folder = self._data / "kernels" / name
        folder.mkdir(parents=True)
        spec = {"argv": command, "display_name": name, "language": "python"}
        (folder / "kernel.json").write_text(json.dumps(spec))

    def end_kernels(self) -> None:
        for kernel in self.ask("GET", "api/kernels"):
            self.ask("DELETE", f"api/kernels/{kernel['id']}")

    def ask(self, method: str, path: str) -> Any:
        """The answer of the server's own interface."""
        headers = {"Authorization": f"token {TOKEN}"}
        request = urllib.request.Request(self.url + path, method=method, headers=headers)
        with urllib.request.urlopen(request, timeout=START_SECONDS) as answer:
            return json.loads(answer.read() or "null")

    def is_busy(self) -> bool:
        """Whether a kernel runs a cell, by what the server itself hears of it."""
        return any(it["execution_state"] == "busy" for it in self.ask("GET", "api/kernels"))

    def has_idle_kernel(self) -> bool:
        """Whether there is a kernel that a page has connected to and that has answered."""
        try:
            kernels = self.ask("GET", "api/kernels")
        except urllib.error.HTTPError:
            # One of an earlier test is just ending.
            return False
        return any(it["execution_state"] == "idle" and it["connections"] for it in kernels)

    def restarts(self) -> int:
        """How often a kernel that had crashed was started again."""
        return self.log.read_text().count("KernelRestarter: restarting kernel")

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait(30)


def wait_until(is_so: Callable[[], bool]) -> None:
    """For what no page shows."""
    deadline = time.monotonic() + START_SECONDS
    while not is_so():
        assert time.monotonic() < deadline, "It does not become so."
        time.sleep(0.1)


@contextmanager
def served(application: str, folder: Path) -> Iterator[Server]:
    server = Server(application, folder)
    try:
        yield server
    finally:
        server.stop()


@contextmanager
def chromium() -> Iterator[Browser]:
    expect.set_options(timeout=PATIENCE_MILLISECONDS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        try:
            yield browser
        finally:
            browser.close()


class Notebook:
    """One notebook in a page, and the panel beside it."""

    def __init__(
        self, page: Page, server: Server | Wire, name: str, *, tree: str = "lab/tree"
    ) -> None:
        self.page = page
        page.goto(f"{server.url}{tree}/{name}?token={TOKEN}&reset")
        self.panel = page.locator("#xleak-panel")

    def cell(self, number: int) -> Locator:
        return self.page.locator(".jp-NotebookPanel:visible .jp-CodeCell").nth(number - 1)

    def run(self, number: int) -> None:
        """Runs a cell and waits until it has ended."""
        prompt = self.cell(number).locator(".jp-InputPrompt")
        before = re.escape(prompt.inner_text().strip())
        self.start(number)
        ended = re.compile(rf"^(?!{before}$)\[\d+\]:$")
        expect(prompt).to_have_text(ended, timeout=CELL_MILLISECONDS)

    def start(self, number: int) -> None:
        self.cell(number).locator(".cm-content").click()
        self.page.keyboard.press("Control+Enter")

    def reconnect(self) -> None:
        """As from the menu: at once, and not when Lab tries next."""
        self.page.get_by_role("menuitem", name="Kernel").click()
        entry = re.compile("^Reconnect to Kernel$")
        self.page.locator(".lm-Menu-itemLabel", has_text=entry).click()

    def output(self, number: int) -> str:
        """What the last run of a cell printed or showed."""
        shown: str = self.cell(number).locator(".jp-OutputArea-output").first.inner_text()
        return shown.strip()

    # --- the panel ---------------------------------------------------------------------------

    def open_panel(self) -> None:
        """Shows it, and waits until the kernel has answered."""
        self.show_panel()
        self.wait_for_phase("ready|foreign")

    def show_panel(self) -> None:
        """Opens it by a badge: that of the toolbar, or where it has no room that of the status bar."""
        expect(self.page.locator(".jp-NotebookPanel:visible")).to_be_visible()
        if not self.panel.is_visible():
            # By the keyboard: what Lab adds to the toolbar meanwhile moves the badge away from under a click.
            self.page.locator(".jp-xleak-Badge:visible").first.press("Enter")
        expect(self.panel).to_be_visible()

    def wait_for_phase(self, phase: str) -> None:
        """Until the panel stands so with the kernel."""
        summary = self.panel.locator("[data-phase]")
        expect(summary).to_have_attribute("data-phase", re.compile(f"^({phase})$"))

    def use_theme(self, name: str) -> None:
        """As from the menu: `JupyterLab Dark`."""
        self.page.locator(".lm-MenuBar-itemLabel", has_text="Settings").click()
        self.page.locator(".lm-Menu-itemLabel", has_text=re.compile("^Theme$")).hover()
        self.page.locator(".lm-Menu-itemLabel", has_text=re.compile(f"^{name}$")).click()
        dark = str("Dark" not in name).lower()
        expect(self.page.locator(f"body[data-jp-theme-light={dark}]")).to_be_attached()

    def section(self, kind: str) -> Locator:
        """One of cells, findings, past, names, census, devices; opened."""
        section = self.panel.locator(f".jp-xleak-Section[data-kind={kind}]")
        if section.get_attribute("data-open") == "false":
            section.get_by_role("button").first.click()
        return section

    def bar(self, number: int) -> Locator:
        """The row of a cell, as the session that runs now tells it."""
        return self._row("cells", number)

    def past_bar(self, number: int) -> Locator:
        """The same in a session that ended by a crash."""
        return self._row("past", number)

    def _row(self, kind: str, number: int) -> Locator:
        section = self.panel.locator(f".jp-xleak-Section[data-kind={kind}]")
        return section.locator(f".jp-xleak-Cell[data-cell-id=cell-{number}]")

    def finding(self, code: str) -> Locator:
        return self.panel.locator(f".jp-xleak-Finding[data-code={code}]")

    def size(self, number: int) -> Locator:
        return self.bar(number).locator(".jp-xleak-size")

    def notice(self) -> Locator:
        return self.panel.locator(".jp-xleak-Notice strong")


OpenNotebook = Callable[..., Notebook]
"""Opens a notebook of these cells, with the panel beside it."""
