"""What a kernel leaves that is killed, and what the next one says of it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from harness import PYTHON, TIMEOUT, IpykernelManager, Session, XleakManager, start
from panel_client import PanelClient
from xleak import _native

MIB = 1 << 20
GROUPS = Path("/sys/fs/cgroup/memory")
StartKernel = Callable[..., Session]
Seen = Callable[[_native.FlightRecord], bool]

GROW = f"""
rows = []
for row in range(192):
    rows.append(bytearray({MIB}))
"""


def records(state: Path) -> list[Path]:
    return sorted((state / "xleak").glob("*.record"))


def postmortem(state: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "xleak", "postmortem", *arguments],
        env={**os.environ, "XDG_STATE_HOME": str(state)},
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )


def told(state: Path) -> Any:
    """The newest record as JSON."""
    done = postmortem(state, "--format", "json")
    assert done.returncode == 0, done.stderr
    [record] = json.loads(done.stdout)["records"]
    return record


def wait_for(mark: Path) -> None:
    """Until a cell writes into this pipe."""
    assert mark.read_text() == "here"


def wait_until(kernel: Session, state: Path, seen: Seen) -> None:
    """Until the record of a kernel that runs has what is asked for."""
    [path] = (state / "xleak").glob(f"*-{kernel.process.pid}.record")
    deadline = time.monotonic() + TIMEOUT
    while not seen(_native.read_flight_record(path)):
        assert time.monotonic() < deadline, "the record never has it"
        time.sleep(0.005)


def kill_in_the_middle(
    kernel: Session, code: str, mark: Path, wait: Callable[[], None] = lambda: None
) -> None:
    """Runs a cell in which HERE stands where SIGKILL comes, once wait() returned."""
    if not mark.exists():
        os.mkfifo(mark)
    kernel.send(code.replace("HERE", f"open({str(mark)!r}, 'w').write('here');"))
    wait_for(mark)
    wait()
    kernel.process.kill()
    kernel.process.wait(TIMEOUT)


def shut_down(kernel: Session) -> None:
    kernel.request("shutdown_request", {"restart": False}, channel="control")
    kernel.process.wait(TIMEOUT)


def restart(kernel: Session) -> None:
    """As Jupyter does when a kernel has died: with the same connection file."""
    kernel.manager.restart_kernel(now=True)
    kernel.client.wait_for_ready(timeout=TIMEOUT)


def shown(kernel: Session, code: str) -> list[str]:
    return [it["data"]["text/plain"] for it in kernel.run(code).of("display_data")]


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state"


@pytest.fixture
def kernel(start_kernel: StartKernel, state: Path) -> Session:
    return start_kernel(XDG_STATE_HOME=str(state))


# --- what is left ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "wait",
    [
        "HERE\nwhile True: pass",
        "import time\nHERE time.sleep(1000)",
        "import ctypes\nHERE ctypes.PyDLL(None).usleep(1000 * 1000000)",
    ],
    ids=["python", "sleep", "native code with the lock"],
)
def test_postmortem_names_the_cell_and_its_last_size_after_a_kill_in_its_middle(
    kernel: Session, state: Path, tmp_path: Path, wait: str
) -> None:
    kernel.run("x = 1")
    before = int(kernel.ask("__import__('psutil').Process().memory_info().rss"))

    def has_grown(record: _native.FlightRecord) -> bool:
        # Of the pages of files the system may take back some meanwhile.
        samples = record.cell.samples if record.cell is not None else []
        return bool(samples) and samples[-1][1] >= before + 100 * MIB

    kill_in_the_middle(
        kernel, GROW + wait, tmp_path / "mark", lambda: wait_until(kernel, state, has_grown)
    )
    record = told(state)
    assert record["pid"] == kernel.process.pid
    cell = record["cell"]
    assert (cell["index"], cell["execution_count"], cell["running"]) == (2, 2, True)
    assert cell["source"].startswith("\nrows = []\nfor row in range(192)")
    assert record["last_bytes"] >= before + 60 * MIB
    assert record["grown_bytes"] >= 50 * MIB
    sizes = cell["sizes"]
    assert sizes[0][0] == 0 and sizes == sorted(sizes)
    assert record["cause"] == "unknown"
    text = postmortem(state)
    assert text.returncode == 0
    assert "It ended in cell 2, " in text.stdout
    assert "  | rows = []" in text.stdout


def test_a_cell_that_ends_its_process_at_once_is_named(kernel: Session, state: Path) -> None:
    kernel.send("import os; os.kill(os.getpid(), 9)")
    kernel.process.wait(TIMEOUT)
    cell = told(state)["cell"]
    assert (cell["index"], cell["running"]) == (1, True)
    assert cell["source"] == "import os; os.kill(os.getpid(), 9)"


def test_a_kernel_that_is_killed_between_cells_is_not_said_to_die_in_one(
    kernel: Session, state: Path
) -> None:
    kernel.run("x = 1")
    kernel.process.kill()
    kernel.process.wait(TIMEOUT)
    assert told(state)["cell"]["running"] is False
    assert "between cells, after cell 1" in postmortem(state).stdout
    restart(kernel)
    assert shown(kernel, "x = 2") == []


def test_a_clean_shutdown_leaves_nothing(kernel: Session, state: Path) -> None:
    kernel.run("x = 1")
    [path] = records(state)
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    shut_down(kernel)
    assert records(state) == []
    done = postmortem(state)
    assert done.returncode == 1
    assert done.stdout.startswith("No kernel died: none left a record in ")


def test_a_fork_in_the_cell_changes_nothing(kernel: Session, state: Path, tmp_path: Path) -> None:
    fork = (
        "import os\n"
        "if (pid := os.fork()) == 0:\n"
        "    get_ipython().run_cell('child = 1')\n"
        "    raise SystemExit\n"
        "os.waitpid(pid, 0)\n"
    )
    kernel.run(fork)
    assert len(records(state)) == 1
    kill_in_the_middle(kernel, fork + "HERE\nwhile True: pass", tmp_path / "mark")
    cell = told(state)["cell"]
    assert (cell["index"], cell["running"]) == (2, True)
    assert cell["source"].startswith("import os\nif (pid")


def test_two_kernels_have_a_record_each(
    start_kernel: StartKernel, state: Path, tmp_path: Path
) -> None:
    lives, dies = (start_kernel(XDG_STATE_HOME=str(state)) for _ in range(2))
    lives.run("alive = 1")
    dies.run("alive = 1")
    assert len(records(state)) == 2
    kill_in_the_middle(dies, "dead = 1\nHERE\nwhile True: pass", tmp_path / "mark")
    assert told(state)["cell"]["source"].startswith("dead = 1")
    all_of_them = json.loads(postmortem(state, "--all", "--format", "json").stdout)["records"]
    assert [it["pid"] for it in all_of_them] == [dies.process.pid]
    assert lives.value("alive") == "1"


def test_what_a_cell_is_called_by_its_front_end_is_kept(
    kernel: Session, state: Path, tmp_path: Path
) -> None:
    kernel.client.session.metadata = {"cellId": "8f1c"}
    kill_in_the_middle(kernel, "HERE\nwhile True: pass", tmp_path / "mark")
    assert told(state)["cell"]["cell_id"] == "8f1c"


def test_of_a_source_no_more_than_200_bytes_are_kept(
    kernel: Session, state: Path, tmp_path: Path
) -> None:
    code = f"# {'é' * 300}\nsecret = 'of the user'\nHERE\nwhile True: pass"
    kill_in_the_middle(kernel, code, tmp_path / "mark")
    assert told(state)["cell"]["source"] == f"# {'é' * 99}"
    [path] = records(state)
    assert b"of the user" not in path.read_bytes()


def test_only_the_last_20_that_died_are_kept_and_none_of_a_living_kernel(
    start_kernel: StartKernel, state: Path, tmp_path: Path
) -> None:
    lives = start_kernel(XDG_STATE_HOME=str(state))
    lives.run("alive = 1")
    [of_living] = records(state)
    dies = start_kernel(XDG_STATE_HOME=str(state))
    kill_in_the_middle(dies, "HERE\nwhile True: pass", tmp_path / "mark")
    [died] = set(records(state)) - {of_living}
    for number in range(30):
        copy = died.with_name(f"9{number:019}-1.record")
        copy.write_bytes(died.read_bytes())
    start_kernel(XDG_STATE_HOME=str(state)).run("alive = 1")
    left = records(state)
    assert of_living in left
    assert died not in left
    assert len([path for path in left if path.name.endswith("-1.record")]) == 20
    assert lives.value("1 + 1") == "2"


def test_load_ext_keeps_a_record_in_ipykernel_and_tells_of_it(state: Path, tmp_path: Path) -> None:
    kernel = start({"XDG_STATE_HOME": str(state)}, kind=IpykernelManager)
    kernel.run("%load_ext xleak")
    kill_in_the_middle(kernel, GROW + "HERE\nwhile True: pass", tmp_path / "mark")
    assert told(state)["cell"]["source"].startswith("\nrows = []")
    restart(kernel)
    assert shown(kernel, "%load_ext xleak") == []
    [line] = shown(kernel, "x = 1")
    assert line.startswith("xleak: the kernel before this one died. It ended in cell 2, ")
    shut_down(kernel)
    assert len(records(state)) == 1, "the one that died"
    kernel.client.stop_channels()
    kernel.manager.cleanup_resources()


# --- what is not there -------------------------------------------------------------------------


@pytest.mark.parametrize("variable", ["XLEAK_DISABLE", "XLEAK_POLICY"])
def test_a_kernel_that_is_not_watched_writes_nothing(
    start_kernel: StartKernel, state: Path, variable: str
) -> None:
    value = {"XLEAK_DISABLE": "1", "XLEAK_POLICY": "off"}[variable]
    kernel = start_kernel(XDG_STATE_HOME=str(state), **{variable: value})
    assert kernel.value("1 + 1") == "2"
    assert records(state) == []


def test_the_policy_off_deletes_the_record_and_another_makes_one(
    kernel: Session, state: Path, tmp_path: Path
) -> None:
    kernel.run("%xleak policy off")
    assert records(state) == []
    kernel.run("%xleak policy report")
    assert len(records(state)) == 1
    kill_in_the_middle(kernel, "HERE\nwhile True: pass", tmp_path / "mark")
    assert told(state)["cell"]["running"]


def test_a_kernel_works_where_its_folder_cannot_be_made(
    start_kernel: StartKernel, tmp_path: Path
) -> None:
    in_the_way = tmp_path / "file"
    in_the_way.write_text("")
    kernel = start_kernel(XDG_STATE_HOME=str(in_the_way))
    ran = kernel.run("1 + 1")
    assert ran.value == "2"
    assert ran.text("stderr") == ""


@pytest.fixture
def full_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system without room for a record."""
    place = tmp_path / "full"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=32k", "tmpfs", str(place)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("a small file system can be mounted by root alone")
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


def test_a_full_disk_costs_the_record_alone(start_kernel: StartKernel, full_disk: Path) -> None:
    kernel = start_kernel(XDG_STATE_HOME=str(full_disk))
    ran = kernel.run("rows = [bytearray(1 << 20) for _ in range(64)]\nlen(rows)")
    assert ran.value == "64"
    assert ran.text("stderr") == ""
    assert records(full_disk) == []


# --- what the next kernel says -----------------------------------------------------------------


def test_the_next_kernel_of_the_same_connection_says_it_once_under_its_first_cell(
    kernel: Session, tmp_path: Path
) -> None:
    kill_in_the_middle(kernel, GROW + "HERE\nwhile True: pass", tmp_path / "mark")
    restart(kernel)
    [line] = shown(kernel, "x = 1")
    assert line.startswith("xleak: the kernel before this one died. It ended in cell 1, ")
    assert "\n" not in line
    assert shown(kernel, "x = 2") == []
    kernel.process.kill()
    kernel.process.wait(TIMEOUT)
    restart(kernel)
    assert shown(kernel, "x = 1") == []


def test_a_kernel_of_another_connection_says_nothing(
    kernel: Session, start_kernel: StartKernel, state: Path, tmp_path: Path
) -> None:
    kill_in_the_middle(kernel, "HERE\nwhile True: pass", tmp_path / "mark")
    other = start_kernel(XDG_STATE_HOME=str(state))
    assert shown(other, "x = 1") == []


def test_a_kernel_that_a_front_end_restarts_in_a_cell_is_not_said_to_have_died(
    kernel: Session, state: Path, tmp_path: Path
) -> None:
    mark = tmp_path / "mark"
    os.mkfifo(mark)
    code = f"import ctypes\nopen({str(mark)!r}, 'w').write('here')\nctypes.PyDLL(None).usleep(1000 * 1000000)"
    kernel.send(code)
    wait_for(mark)
    kernel.request("shutdown_request", {"restart": True}, channel="control")
    kernel.process.send_signal(signal.SIGKILL)
    kernel.process.wait(TIMEOUT)
    record = told(state)
    assert record["cause"] == "signal"
    assert "asked the kernel to shut down" in record["why"]
    restart(kernel)
    assert shown(kernel, "x = 1") == []


def test_a_panel_is_told_once_after_it_subscribed(kernel: Session, tmp_path: Path) -> None:
    kill_in_the_middle(kernel, GROW + "HERE\nwhile True: pass", tmp_path / "mark")
    restart(kernel)
    panel = PanelClient(kernel.client)
    assert panel.ask("subscribe")["kind"] == "session"
    message = panel.wait_for("last_session")
    assert (message["cell"], message["cause"]) == (1, "unknown")
    assert message["code"].startswith("\nrows = []")
    assert message["sizes"][0][0] == 0
    assert message["seconds"] == message["sizes"][-1][0]
    panel.ask("unsubscribe")
    panel.ask("subscribe")
    assert [it["kind"] for it in panel.told()] == ["process"]
    panel.close()


# --- out of memory -----------------------------------------------------------------------------


@pytest.fixture
def group() -> Iterator[Path]:
    """A control group of version 1 that limits its processes to 400 MiB."""
    place = GROUPS / f"xleak-test-{os.getpid()}"
    try:
        place.mkdir()
        (place / "memory.limit_in_bytes").write_text(str(400 * MIB))
    except OSError as refused:
        pytest.skip(f"no memory control group of version 1 can be made here: {refused}")
    yield place
    place.rmdir()


class LimitedManager(XleakManager):
    """Starts its kernels in a control group."""

    group: Path

    @property
    def kernel_spec(self) -> Any:
        spec = super().kernel_spec
        enter = f'echo $$ > {self.group}/cgroup.procs; exec "$@"'
        spec.argv = ["sh", "-c", enter, "sh", *spec.argv]
        return spec


@pytest.fixture
def limited(group: Path, state: Path) -> Iterator[Session]:
    manager = LimitedManager()
    manager.python = PYTHON
    manager.group = group
    manager.start_kernel(env={**os.environ, "XDG_STATE_HOME": str(state)})
    client = manager.client()
    client.start_channels()
    client.wait_for_ready(timeout=TIMEOUT)
    yield Session(manager, client)
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def test_a_kernel_that_the_out_of_memory_killer_ends_is_said_to_have_run_out_of_memory(
    limited: Session, state: Path
) -> None:
    limited.send("rows = []\nwhile True: rows.append(bytearray(1 << 20))")
    assert limited.process.wait(TIMEOUT) == -signal.SIGKILL
    record = told(state)
    assert record["cause"] == "out_of_memory", record["why"]
    assert (record["limit"], record["limit_bytes"]) == ("cgroup", 400 * MIB)
    # What it shares with other processes, such as libraries, may count in their group.
    assert 300 * MIB < record["last_bytes"] < 500 * MIB
    assert record["grown_bytes"] > 200 * MIB
    assert "Out of memory: " in postmortem(state).stdout
    restart(limited)
    [line] = shown(limited, "x = 1")
    assert "Out of memory: " in line


def test_a_kernel_that_runs_out_of_memory_between_cells_is_said_to_have(
    limited: Session, state: Path
) -> None:
    limited.send(
        "import threading, time\n"
        "def fill():\n"
        "    rows = []\n"
        "    while True: rows.append(bytearray(2 << 20)); time.sleep(0.03)\n"
        "threading.Thread(target=fill).start()"
    )
    assert limited.process.wait(TIMEOUT) == -signal.SIGKILL
    record = told(state)
    assert record["cause"] == "out_of_memory", record["why"]
    assert not record["cell"]["running"]
    assert "It ended between cells, after cell 1." in postmortem(state).stdout
    restart(limited)
    [line] = shown(limited, "x = 1")
    assert "between cells, after cell 1: it had risen by " in line
    assert "Out of memory: " in line


def test_a_kill_in_the_same_limited_group_is_not_said_to_be_out_of_memory(
    limited: Session, state: Path, tmp_path: Path
) -> None:
    kill_in_the_middle(limited, GROW + "HERE\nwhile True: pass", tmp_path / "mark")
    record = told(state)
    assert record["cause"] == "unknown"
    assert record["why"].endswith("ended nothing in its control group since.")


def test_a_child_that_ran_out_of_memory_before_is_not_the_cause(
    limited: Session, state: Path, tmp_path: Path
) -> None:
    greedy = "rows = []\nwhile True: rows.append(bytearray(1 << 20))"
    limited.run(
        "import subprocess, sys\n"
        f"status = subprocess.run([sys.executable, '-c', {greedy!r}]).returncode"
    )
    assert limited.value("status") == "-9"

    def has_counted(record: _native.FlightRecord) -> bool:
        in_group, _ = record.kills_before
        return in_group == 1 and record.cell is not None and record.cell.running

    # The count is taken again while the next cell runs, once it has run for some milliseconds.
    kill_in_the_middle(
        limited,
        "HERE\nwhile True: pass",
        tmp_path / "mark",
        lambda: wait_until(limited, state, has_counted),
    )
    assert told(state)["cause"] == "unknown"
