"""`%load_ext xleak` in ipykernel, with every IPython that XLEAK_IPYTHON_PYTHONS lists."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import xleak
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import KernelManager
from panel_client import PanelClient
from shells import MIB, Session, new_session
from traitlets.config import Config, Configurable
from xleak.shell.settings import settings_of

# The look comes after a cell's reply; who asks for the verdict has it at once.
LOOK = "__import__('xleak.verdict').verdict.session_verdict();"
PYTHONS = [python for python in os.environ.get("XLEAK_IPYTHON_PYTHONS", "").split(":") if python]


class Kernel:
    """A running ipykernel."""

    def __init__(self, client: BlockingKernelClient) -> None:
        self.client = client

    def run(self, source: str, **options: Any) -> str:
        """All that one request shows, updates included."""
        shown: list[str] = []

        def collect(message: dict[str, Any]) -> None:
            content = message["content"]
            if message["msg_type"] == "stream":
                shown.append(content["text"])
            elif message["msg_type"] == "error":
                shown.append("\n".join(content["traceback"]))
            elif "data" in content:
                shown.append(f"{message['msg_type']}: {content['data'].get('text/plain', '')}\n")

        self.client.execute_interactive(source, timeout=60, output_hook=collect, **options)
        return "".join(shown)


@pytest.fixture(
    scope="module", params=PYTHONS or ["python"], ids=lambda path: Path(path).parts[-3:][0]
)
def kernel(request: pytest.FixtureRequest) -> Iterator[Kernel]:
    import sys

    python = request.param if PYTHONS else sys.executable
    manager = KernelManager()
    manager._kernel_spec = KernelSpec(
        argv=[python, "-m", "ipykernel_launcher", "-f", "{connection_file}"], language="python"
    )
    package = Path(xleak.__file__).parents[1]
    manager.start_kernel(
        env={**os.environ, "PYTHONPATH": str(package), "XLEAK_NOTICE_BYTES": str(MIB)}
    )
    client = manager.blocking_client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=60)
        running = Kernel(client)
        assert running.run("%load_ext xleak") == ""
        running.run("import numpy as np\nfrom xleak import _native")
        yield running
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def test_a_leak_is_reported_once_the_look_has_ended(kernel: Kernel) -> None:
    kernel.run("%xleak policy report")
    kernel.run("import numpy as np\nq = np.zeros((1024, 1024))")
    kernel.run("q.T")
    assert kernel.run("print('nothing yet')") == "nothing yet\n"
    assert kernel.run("del q") == ""
    told = kernel.run(LOOK)
    assert told.startswith("display_data: xleak XL401 cell ")
    assert "%xdel Out[" in told
    assert "8 MiB" in told
    assert kernel.run("print('nothing more')") == "nothing more\n"


def test_the_finding_s_repair_gives_the_bytes_back_and_updates_the_line(kernel: Kernel) -> None:
    entry = kernel.run("from xleak import _native; print(_native.findings()[0].key)").strip()
    printed = kernel.run(f"%xdel {entry}")
    assert "came back: 8 MiB to malloc" in printed
    assert "update_display_data: xleak: what was reported here has been released." in printed


def test_cells_are_accounted_and_requests_of_tools_are_not(kernel: Kernel) -> None:
    kernel.run("from xleak import _native; before = len(_native.records())")
    kernel.run("1 + 1", silent=True)
    kernel.run("1 + 1", store_history=False)
    kernel.run("raise ValueError")
    kernel.run("after = _native.records()")
    printed = kernel.run("print(len(after) - before, [r.status for r in after[-3:-1]])")
    assert printed == "2 ['ok', 'error']\n"


def test_a_name_that_a_tool_made_keeps_nothing_from_leaking(kernel: Kernel) -> None:
    kernel.run("x = np.zeros(1 << 20)\nx[:2]")
    kernel.run("_tool = x", silent=True)
    kernel.run("del x")
    kernel.run(LOOK)
    entry = kernel.run("print(_native.findings()[0].key)").strip()
    kernel.run(f"%xdel {entry}")
    assert kernel.run("print('_tool' in globals(), _native.findings())") == "False []\n"


def test_to_load_it_twice_does_no_harm(kernel: Kernel) -> None:
    kernel.run("before = len(_native.records())")
    kernel.run("import xleak; xleak.load_ipython_extension(get_ipython())")
    assert kernel.run("print(len(_native.records()) - before)") == "2\n"


def test_the_policy_switches_everything_off_and_on(kernel: Kernel) -> None:
    kernel.run("%xleak policy off")
    kernel.run("y = np.zeros(1 << 20)\ny[:2]")
    assert kernel.run("del y") == ""
    kernel.run("%xleak policy report")
    kernel.run("%reset -f out")


def test_a_child_of_fork_ends_and_disturbs_nothing(kernel: Kernel) -> None:
    # From 3.12 on CPython warns of a fork beside the kernel's threads.
    printed = kernel.run(
        "import os, warnings\nwarnings.simplefilter('ignore', DeprecationWarning)\n"
        "if (child := os.fork()) == 0: os._exit(7)\nprint(os.waitpid(child, 0)[1] >> 8)"
    )
    assert printed == "7\n"


def test_a_panel_is_told_of_cells_and_has_a_fix_run(kernel: Kernel) -> None:
    panel = PanelClient(kernel.client)
    assert "late_findings" in panel.hello["capabilities"]
    panel.ask("subscribe")
    kernel.run("x = np.zeros(1 << 20)\nx[:2]")
    kernel.run("del x")
    told = panel.wait_for("findings")["added"][0]
    done = panel.ask("run_fix", finding=told["id"], fix=0)
    assert done["freed"]["malloc"] == pytest.approx(told["bytes"], rel=0.05)
    assert panel.ask("findings")["added"] == []
    panel.close()


def test_a_panel_on_a_subshell_is_served_once_no_cell_runs(kernel: Kernel) -> None:
    info = kernel.client.kernel_info(reply=True, timeout=60)["content"]
    if "kernel subshells" not in info.get("supported_features", []):
        pytest.skip("this ipykernel has no subshells")
    control = kernel.client.control_channel
    control.send(kernel.client.session.msg("create_subshell_request"))
    subshell = kernel.client.get_control_msg(timeout=60)["content"]["subshell_id"]
    panel = PanelClient(kernel.client, subshell)
    kernel.client.execute("import asyncio\nprint('on')\nawait asyncio.sleep(0.5)\nended = 1")
    # The subshell may be faster than the cell is to begin.
    while kernel.client.get_iopub_msg(timeout=60)["msg_type"] != "stream":
        pass
    session = panel.ask("subscribe")
    assert session["cells"][-1]["seconds"] >= 0.5
    assert [it["kind"] for it in panel.told()] == ["process"]
    kernel.run("None")
    assert panel.wait_for("cell")["cell"]["status"] == "ok"
    panel.close()


def test_unloading_closes_the_comms_of_panels(kernel: Kernel) -> None:
    panel = PanelClient(kernel.client)
    kernel.run("%unload_ext xleak")
    panel.told()
    closed = [it["content"]["comm_id"] for it in panel.iopub if it["msg_type"] == "comm_close"]
    assert panel.comm_id in closed
    assert kernel.run("%load_ext xleak") == ""
    panel.close()


def test_unloading_brings_ipython_s_own_magic_back(kernel: Kernel) -> None:
    kernel.run("%unload_ext xleak")
    own = kernel.run("print(get_ipython().find_line_magic('xdel').__module__)")
    assert own == "IPython.core.magics.namespace\n"
    assert "not found" in kernel.run("%release_cache")
    assert kernel.run("%config").count("Xleak") == 0
    assert kernel.run("%load_ext xleak") == ""


# --- in a shell without a kernel ---------------------------------------------------------------


@pytest.mark.parametrize("value", ["1", "yes"])
def test_the_environment_s_off_switch_wins(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("XLEAK_DISABLE", value)
    with new_session() as session:
        session.run("x = memoryview(bytearray(4 << 20))\nx")
        session.run("del x")
        assert session.leaks() == {}
        assert session.watcher.settings.policy == "off"


@pytest.mark.parametrize("variable", ["XLEAK_POLICY", "XLEAK_NOTICE_BYTES"])
def test_a_setting_that_is_none_is_said_and_not_taken(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], variable: str
) -> None:
    monkeypatch.setenv(variable, "sometimes")
    with new_session() as session:
        assert session.watcher.settings.policy == "report"
        assert session.watcher.settings.notice_bytes >= 16 * MIB
    assert capsys.readouterr().err.startswith(f"xleak: {variable} is 'sometimes'; it may be ")


def test_a_slip_in_the_configuration_is_said_and_the_defaults_are_taken(
    capsys: pytest.CaptureFixture[str],
) -> None:
    settings = settings_of(Configurable(config=Config(Xleak={"policy": "sometimes"})))
    assert settings.policy == "report"
    assert "'policy'" in capsys.readouterr().err


def test_settings_can_be_set_in_the_session(session: Session) -> None:
    session.run("%config Xleak.notice_bytes = 12345")
    assert session.watcher.settings.notice_bytes == 12345
    session.run("%config Xleak.policy = 'off'")
    session.run("x = memoryview(bytearray(4 << 20))\nx")
    session.run("del x")
    assert session.leaks() == {}


def test_importing_xleak_imports_nothing_heavy() -> None:
    import subprocess
    import sys

    heavy = "{'numpy', 'torch', 'IPython', 'jupyter_client', 'nbclient', 'rich'}"
    script = f"import sys, xleak; print(sorted({heavy} & set(sys.modules)))"
    package = str(Path(xleak.__file__).parents[1])
    environment = {**os.environ, "PYTHONPATH": package}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env=environment
    )
    assert done.stdout == "[]\n"
