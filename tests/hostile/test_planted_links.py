"""Links, pipes and folders that another user put in a shared folder, under the names that xleak would use."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from harness import TIMEOUT, Session, start, stop
from shells import Session as Shell
from xleak.magics import profiled_cell
from xleak.shell import torch_module

NOBODY = 65534
MINE = "only mine"
GIVES_AWAY = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")

Plant = Callable[[Path, Path], None]


def symlink(place: Path, victim: Path) -> None:
    place.symlink_to(victim)


def hard_link(place: Path, victim: Path) -> None:
    place.hardlink_to(victim)


def pipe(place: Path, victim: Path) -> None:
    os.mkfifo(place)


def folder(place: Path, victim: Path) -> None:
    place.mkdir()


PLANTS = (symlink, hard_link, pipe, folder)
planted_as = pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.__name__)


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    place = tmp_path / "shared"
    place.mkdir()
    place.chmod(0o1777)
    return place


@pytest.fixture
def victim(tmp_path: Path) -> Iterator[Path]:
    """A file that nothing here may write to."""
    file = tmp_path / "victim"
    file.write_text(MINE)
    yield file
    assert file.read_text() == MINE


def give_away(place: Path) -> None:
    os.chown(place, NOBODY, NOBODY, follow_symlinks=False)


def xleak(*words: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "xleak", *map(str, words)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )


def notebook_in(place: Path) -> Path:
    path = place / "nb.ipynb"
    path.write_text('{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": []}')
    return path


@GIVES_AWAY
def test_a_report_is_not_written_through_the_link_of_another_user(
    shared: Path, victim: Path, tmp_path: Path
) -> None:
    target = shared / "report.json"
    target.symlink_to(victim)
    give_away(target)
    done = xleak("run", notebook_in(tmp_path), "--format", "json", "--output", target)
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        f"xleak run: --output {target} is another user's link in a folder that all may write. Choose another file."
    ]


@pytest.mark.parametrize("plant", [pipe, folder], ids=lambda plant: plant.__name__)
def test_a_report_that_would_go_to_no_file_is_refused_in_a_sentence(
    plant: Plant, shared: Path, victim: Path, tmp_path: Path
) -> None:
    target = shared / "report.json"
    plant(target, victim)
    done = xleak("run", notebook_in(tmp_path), "--format", "json", "--output", target)
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)


def test_a_report_takes_the_place_of_a_hard_link(
    shared: Path, victim: Path, tmp_path: Path
) -> None:
    target = shared / "report.json"
    target.hardlink_to(victim)
    xleak("run", notebook_in(tmp_path), "--format", "json", "--output", target)
    assert target.read_text().startswith("{")


@GIVES_AWAY
def test_who_put_a_file_there_does_not_say_who_may_read_the_report(
    shared: Path, tmp_path: Path
) -> None:
    target = shared / "report.json"
    target.touch()
    target.chmod(0o666)
    give_away(target)
    xleak("run", notebook_in(tmp_path), "--format", "json", "--output", target)
    found = target.stat()
    assert (stat.S_IMODE(found.st_mode) & 0o022, found.st_uid) == (0, 0)


@planted_as
@pytest.mark.parametrize("name", ["report.html", "heap.json"])
def test_a_page_and_a_snapshot_of_a_session_follow_nothing(
    plant: Plant, name: str, shared: Path, victim: Path, session: Shell, capsys: Any
) -> None:
    target = shared / name
    plant(target, victim)
    line = "%leakcheck --html" if name.endswith("html") else "%memreport --snapshot"
    session.run(f"{line} {target}")
    written = target.is_file() and not target.is_symlink() and target.read_text() != MINE
    assert written or (plant is folder and "cannot write" in "".join(capsys.readouterr()))


@planted_as
def test_a_trace_follows_nothing_and_waits_for_nobody(
    plant: Plant, shared: Path, victim: Path
) -> None:
    target = shared / "trace.json"
    plant(target, victim)
    ran = SimpleNamespace(export_chrome_trace=lambda path: Path(path).write_text("{}"))
    said = profiled_cell._exported(ran, target)
    if plant is folder:
        assert "was not written" in said
    else:
        assert not target.is_symlink() and target.read_text() == "{}"
    assert [it.name for it in shared.iterdir()] == [target.name]


@GIVES_AWAY
def test_records_in_a_folder_of_another_user_say_nothing(shared: Path) -> None:
    place = shared / "xleak"
    place.mkdir()
    give_away(place)
    os.mkfifo(place / "00000000000000000001-1.record")
    done = xleak("postmortem", XDG_STATE_HOME=str(shared))
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout == f"{place} is no folder of this user's, so no record in it is read.\n"


@planted_as
def test_a_kernel_starts_whatever_stands_where_its_records_would(
    plant: Plant, shared: Path, victim: Path
) -> None:
    plant(shared / "xleak", victim)
    session = start({"XDG_STATE_HOME": str(shared)})
    try:
        assert session.value("1 + 1") == "2"
    finally:
        stop(session)


INITIALIZE = {
    "type": "request",
    "seq": 1,
    "command": "initialize",
    "arguments": {"clientID": "test", "adapterID": "debugpy", "pathFormat": "path"},
}


@pytest.fixture
def kernel_in_shared(shared: Path) -> Iterator[Session]:
    session = start({"TMPDIR": str(shared)})
    yield session
    stop(session)


@planted_as
def test_the_debugger_writes_no_source_where_others_can_reach_it(
    plant: Plant, kernel_in_shared: Session, shared: Path, victim: Path, tmp_path: Path
) -> None:
    place = shared / f"xpython_{kernel_in_shared.process.pid}"
    if place.exists():
        place.rmdir()
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    plant(place, theirs if plant is symlink else victim)
    if plant is folder:
        place.chmod(0o777)
    reply = kernel_in_shared.request("debug_request", INITIALIZE, channel="control")["content"]
    assert reply["success"] is False
    assert reply["message"].startswith(f"the debugger needs the folder {place} for itself")
    assert kernel_in_shared.value("1 + 1") == "2"


@GIVES_AWAY
@pytest.mark.parametrize("depth", range(5))
def test_a_module_for_torch_that_others_could_have_built_is_not_loaded(
    depth: int, shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(shared))
    torch: Any = SimpleNamespace(
        __version__="9.9.9", _C=SimpleNamespace(_GLIBCXX_USE_CXX11_ABI=True)
    )
    built = torch_module.built_path(torch_module.key_of(torch))
    built.parent.mkdir(parents=True)
    built.touch()
    assert torch_module.find(torch) == built
    give_away([built, *built.parents][depth])
    assert torch_module.find(torch) is None
    assert f"another user could have put {built}" in torch_module._attempt(torch)
