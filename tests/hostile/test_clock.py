"""A system clock that jumps back, at each reading, by an hour: nothing that xleak decides depends on it."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from harness import TIMEOUT, Session
from panel_client import PanelClient

# What C, C++ and Python read the system clock by. Clocks that only go forward stay as they are.
JUMPING = """
#define _GNU_SOURCE
#include <stddef.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long readings;

static void jump(struct timespec* now) { now->tv_sec -= 3600 * __sync_add_and_fetch(&readings, 1); }

int clock_gettime(clockid_t clock, struct timespec* now) {
  const int failed = (int)syscall(SYS_clock_gettime, clock, now);
  if (failed == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) jump(now);
  return failed;
}

time_t time(time_t* given) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (given != NULL) *given = now.tv_sec;
  return now.tv_sec;
}

int gettimeofday(struct timeval* restrict given, void* restrict zone) {
  struct timespec now;
  (void)zone;
  clock_gettime(CLOCK_REALTIME, &now);
  given->tv_sec = now.tv_sec;
  given->tv_usec = now.tv_nsec / 1000;
  return 0;
}
"""
SECONDS = "[it.seconds for it in __import__('xleak')._native.records()][-1]"


@pytest.fixture(scope="session")
def jumping_clock(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("clock")
    source, library = folder / "clock.c", folder / "clock.so"
    source.write_text(JUMPING)
    compiler = shutil.which("cc")
    assert compiler is not None, "xleak's own build needs a C compiler too"
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", library, source], check=True)
    return library


@pytest.fixture
def kernel(start_kernel: Callable[..., Session], jumping_clock: Path) -> Session:
    session = start_kernel(LD_PRELOAD=str(jumping_clock))
    assert session.value("import time; time.time() - time.time() > 3000") == "True"
    return session


def test_cells_their_times_and_what_is_found_are_as_ever(kernel: Session) -> None:
    began = time.monotonic()
    kernel.run("time.sleep(0.2)")
    assert 0.2 <= kernel.ask(SECONDS) <= time.monotonic() - began
    shown = kernel.run("value = bytearray(1 << 23)\nmemoryview(value)")
    kernel.run("del value")
    entry = f"Out[{shown.content['execution_count']}]"
    assert entry in kernel.findings()
    for line in ("%leakcheck", "%memreport", "%release_cache", "%xleak journal", f"%xdel {entry}"):
        assert kernel.run(line).content["status"] == "ok"


def test_output_comes_while_the_cell_runs(kernel: Session) -> None:
    msg_id = kernel.send("import sys\nsys.stdout.write('half a line')\ntime.sleep(600)")
    while kernel.client.get_iopub_msg(timeout=TIMEOUT)["msg_type"] != "stream":
        pass
    kernel.manager.interrupt_kernel()
    assert kernel.wait(msg_id).content["ename"] == "KeyboardInterrupt"


def test_a_panel_is_told_of_a_running_cell_and_answered(kernel: Session) -> None:
    panel = PanelClient(kernel.client)
    assert panel.ask("subscribe")["kind"] == "session"
    msg_id = kernel.send("time.sleep(600)")
    lives = [panel.wait_for("live") for _ in range(3)]
    assert [it["seconds"] for it in lives] == sorted(it["seconds"] for it in lives)
    kernel.manager.interrupt_kernel()
    assert kernel.wait(msg_id).content["ename"] == "KeyboardInterrupt"
    assert panel.ask("names")["kind"] == "names"
    panel.close()


def test_the_agent_releases_by_itself(kernel: Session) -> None:
    kernel.run("%xleak policy auto")
    panel = PanelClient(kernel.client)
    panel.ask("subscribe")
    kernel.run("value = bytearray(1 << 23)\nmemoryview(value)")
    for cell in ("del value\n1", "2", "3"):
        kernel.run(cell)
    assert panel.wait_for("released")["findings"]
    panel.close()


def test_the_kernel_ends_in_time_with_what_it_started(kernel: Session) -> None:
    kernel.run("import subprocess\nprogram = subprocess.Popen(['sleep', '600'])")
    kernel.request("shutdown_request", {"restart": False}, channel="control")
    assert kernel.process.wait(TIMEOUT) == 0
